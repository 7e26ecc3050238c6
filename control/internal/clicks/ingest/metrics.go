package ingest

import "github.com/prometheus/client_golang/prometheus"

var (
	clicksDesc  = prometheus.NewDesc("shortline_ingest_clicks_total", "Clicks by result: stored, repeated (a duplicate that was skipped), or lost (an edge reports that its spool was full).", []string{"result"}, nil)
	refusedDesc = prometheus.NewDesc("shortline_ingest_refused_batches_total", "Batches rejected because they are not valid clicks.", nil, nil)
	errorsDesc  = prometheus.NewDesc("shortline_ingest_errors_total", "Failed inserts. Each is repeated.", nil, nil)
	storedDesc  = prometheus.NewDesc("shortline_ingest_last_success_timestamp_seconds", "Time of the last successful insert of clicks; 0 if there was none.", nil, nil)
	unsetDesc   = prometheus.NewDesc("shortline_counters_errors_total", "Failed updates of the click counters of links, variants and rules.", nil, nil)
	setDesc     = prometheus.NewDesc("shortline_counters_last_success_timestamp_seconds", "Time at which counters were last updated or confirmed; 0 if never.", nil, nil)
)

// Describe and Collect make the Ingester a prometheus.Collector.
func (in *Ingester) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{clicksDesc, refusedDesc, errorsDesc, storedDesc, unsetDesc, setDesc} {
		ch <- d
	}
}

// Collect reads the counters of Stats.
func (in *Ingester) Collect(ch chan<- prometheus.Metric) {
	c := &in.stats
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	count(clicksDesc, c.stored.Load(), "stored")
	count(clicksDesc, c.repeated.Load(), "repeated")
	count(clicksDesc, c.lost.Load(), "lost")
	count(refusedDesc, c.refused.Load())
	count(errorsDesc, c.failed.Load())
	count(unsetDesc, c.countFailed.Load())
	ch <- prometheus.MustNewConstMetric(storedDesc, prometheus.GaugeValue, float64(c.last.Load())/1000)
	ch <- prometheus.MustNewConstMetric(setDesc, prometheus.GaugeValue, float64(c.counted.Load())/1000)
}
