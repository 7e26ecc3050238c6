package ingest

import "github.com/prometheus/client_golang/prometheus"

var (
	clicksDesc  = prometheus.NewDesc("shortline_ingest_clicks_total", "Clicks that were stored, that came again and were passed over, and that edges report as lost for want of room.", []string{"result"}, nil)
	refusedDesc = prometheus.NewDesc("shortline_ingest_refused_batches_total", "Batches that were no clicks.", nil, nil)
	errorsDesc  = prometheus.NewDesc("shortline_ingest_errors_total", "Inserts that failed and are repeated.", nil, nil)
	storedDesc  = prometheus.NewDesc("shortline_ingest_last_success_timestamp_seconds", "When clicks were last stored, 0 for never.", nil, nil)
	unsetDesc   = prometheus.NewDesc("shortline_counters_errors_total", "Attempts to set counters that failed.", nil, nil)
	setDesc     = prometheus.NewDesc("shortline_counters_last_success_timestamp_seconds", "When counters were last set or found right, 0 for never.", nil, nil)
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
