package reconcile

import "github.com/prometheus/client_golang/prometheus"

var (
	gapsDesc    = prometheus.NewDesc("shortline_audit_gaps", "Ranges of clicks that are missing.", nil, nil)
	missingDesc = prometheus.NewDesc("shortline_audit_gap_clicks", "Clicks that are missing: neither stored nor reported as lost, though later ones of their lane are.", nil, nil)
	goneDesc    = prometheus.NewDesc("shortline_audit_gone_clicks", "Of the missing clicks, those that their edge does not have any more.", nil, nil)
	driftDesc   = prometheus.NewDesc("shortline_audit_drift_clicks", "Clicks by which reports differ from the stored clicks, in the hours that were compared.", nil, nil)
	lostDesc    = prometheus.NewDesc("shortline_audit_lost_clicks", "Clicks that edges report as lost for want of room, of all time.", nil, nil)
	twinsDesc   = prometheus.NewDesc("shortline_audit_identity_clashes", "Edges of whose identity a second process was refused within the last hour.", nil, nil)
	errorsDesc  = prometheus.NewDesc("shortline_audit_errors_total", "Audits that failed.", nil, nil)
	lastDesc    = prometheus.NewDesc("shortline_audit_last_success_timestamp_seconds", "When the last audit was done, 0 for never.", nil, nil)
)

// Describe and Collect make the Auditor a prometheus.Collector.
func (a *Auditor) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gapsDesc, missingDesc, goneDesc, driftDesc, lostDesc, twinsDesc, errorsDesc, lastDesc} {
		ch <- d
	}
}

// Collect reads what the last audit found.
func (a *Auditor) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(gapsDesc, float64(a.gaps.Load()))
	gauge(missingDesc, float64(a.missing.Load()))
	gauge(goneDesc, float64(a.gone.Load()))
	gauge(driftDesc, float64(a.drift.Load()))
	gauge(lostDesc, float64(a.lost.Load()))
	gauge(twinsDesc, float64(a.twins.Load()))
	gauge(lastDesc, float64(a.last.Load())/1000)
	ch <- prometheus.MustNewConstMetric(errorsDesc, prometheus.CounterValue, float64(a.errors.Load()))
}
