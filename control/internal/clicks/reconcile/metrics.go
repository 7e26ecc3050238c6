package reconcile

import "github.com/prometheus/client_golang/prometheus"

var (
	gapsDesc    = prometheus.NewDesc("shortline_audit_gaps", "Ranges of missing clicks.", nil, nil)
	missingDesc = prometheus.NewDesc("shortline_audit_gap_clicks", "Missing clicks: neither stored nor reported as lost, although later clicks of the same lane are.", nil, nil)
	goneDesc    = prometheus.NewDesc("shortline_audit_gone_clicks", "Missing clicks that their edge no longer has.", nil, nil)
	driftDesc   = prometheus.NewDesc("shortline_audit_drift_clicks", "Difference between reports and stored clicks, in the compared hours.", nil, nil)
	lostDesc    = prometheus.NewDesc("shortline_audit_lost_clicks", "Clicks that edges have ever reported as lost because their spool was full.", nil, nil)
	twinsDesc   = prometheus.NewDesc("shortline_audit_identity_clashes", "Edges with a rejected duplicate: a second process that used the same identity within the last hour.", nil, nil)
	errorsDesc  = prometheus.NewDesc("shortline_audit_errors_total", "Failed audits.", nil, nil)
	lastDesc    = prometheus.NewDesc("shortline_audit_last_success_timestamp_seconds", "Time of the last successful audit; 0 if there was none.", nil, nil)
)

// Describe and Collect make the Auditor a prometheus.Collector.
func (a *Auditor) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gapsDesc, missingDesc, goneDesc, driftDesc, lostDesc, twinsDesc, errorsDesc, lastDesc} {
		ch <- d
	}
}

// Collect exports the results of the last audit.
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
