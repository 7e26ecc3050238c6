package ingest

import "github.com/shortline/shortline/shared/metric"

func (in *Ingester) metrics() metric.Set {
	const clicks, clicksHelp = "shortline_ingest_clicks_total",
		"Clicks by result: stored, repeated (a duplicate that was skipped), or lost (an edge reports that its spool was full)."
	c := &in.stats
	return metric.Set{
		metric.Total(clicks, clicksHelp, c.stored.Load, "result", "stored"),
		metric.Total(clicks, clicksHelp, c.repeated.Load, "result", "repeated"),
		metric.Total(clicks, clicksHelp, c.lost.Load, "result", "lost"),
		metric.Total("shortline_ingest_refused_batches_total", "Batches rejected because they are not valid clicks.", c.refused.Load),
		metric.Total("shortline_ingest_errors_total", "Failed inserts. Each is repeated.", c.failed.Load),
		metric.Time("shortline_ingest_last_success_timestamp_seconds", "Time of the last successful insert of clicks; 0 if there was none.",
			c.last.Load),
		metric.Total("shortline_counters_errors_total", "Failed updates of the click counters of links, variants and rules.",
			c.countFailed.Load),
		metric.Time("shortline_counters_last_success_timestamp_seconds",
			"Time at which counters were last updated or confirmed; 0 if never.",
			c.counted.Load),
	}
}
