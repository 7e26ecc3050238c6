package reconcile

import "github.com/shortline/shortline/shared/metric"

func (a *Auditor) metrics() metric.Set {
	return metric.Set{
		metric.Gauge("shortline_audit_gap_clicks",
			"Missing clicks: neither stored nor reported as lost, although later clicks of the same lane are.", a.missing.Load),
		metric.Gauge("shortline_audit_gone_clicks", "Missing clicks that their edge no longer has.", a.gone.Load),
		metric.Gauge("shortline_audit_drift_clicks", "Difference between reports and stored clicks, in the compared hours.", a.drift.Load),
		metric.Gauge("shortline_audit_lost_clicks", "Clicks that edges have ever reported as lost because their spool was full.",
			a.lost.Load),
		metric.Gauge("shortline_audit_identity_clashes",
			"Edges with a rejected duplicate: a second process that used the same identity within the last hour.", a.twins.Load),
		metric.Total("shortline_audit_errors_total", "Failed audits.", a.errors.Load),
		metric.Time("shortline_audit_last_success_timestamp_seconds", "Time of the last successful audit; 0 if there was none.",
			a.last.Load),
	}
}
