package edge

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge/internal/latency"
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/spool"
)

// collector exports the Stats of an edge as metrics. The hot path only updates plain counters.
type collector struct{ edge *Edge }

var answers = prometheus.NewDesc("shortline_edge_answers_total", "Requests answered, by outcome.", []string{"outcome"}, nil)

var duration = prometheus.NewDesc("shortline_edge_request_duration_seconds",
	"Time from the header of the request until the kernel has accepted the answer, or the first part of a streamed one, by outcome. One "+
		"request in 16 is measured.",
	[]string{"outcome"}, nil)

var info = prometheus.NewDesc("shortline_edge_info", "Always 1; the labels are EDGE_NAME and REGION.", []string{"edge", "region"}, nil)

var (
	handshakes = prometheus.NewDesc("shortline_edge_tls_handshakes_total",
		"Complete TLS handshakes, by protocol version and by whether the session was resumed.", []string{"version", "resumed"}, nil)
	rejected = prometheus.NewDesc("shortline_edge_tls_rejected_total", "TLS handshakes that were not completed, by reason.",
		[]string{"reason"}, nil)
	proofs = prometheus.NewDesc("shortline_edge_tls_challenges_total",
		"TLS handshakes of certificate authorities that ask for proof of control (tls-alpn-01).", nil, nil)
	misproxied = prometheus.NewDesc("shortline_edge_proxy_protocol_rejected_total",
		"Connections closed because of their PROXY header, by reason.", []string{"reason"}, nil)
	unanswered = prometheus.NewDesc("shortline_edge_tls_unanswered", "Clients that owe a message of their TLS handshake.", nil, nil)
)

// collectTLS exports the counters of the port for TLS.
func collectTLS(s *listen.TLSStats, to chan<- prometheus.Metric) {
	for version, n := range s.Full {
		to <- prometheus.MustNewConstMetric(handshakes, prometheus.CounterValue, float64(n), version, "false")
		to <- prometheus.MustNewConstMetric(handshakes, prometheus.CounterValue, float64(s.Resumed[version]), version, "true")
	}
	for reason, n := range s.Rejected {
		to <- prometheus.MustNewConstMetric(rejected, prometheus.CounterValue, float64(n), reason)
	}
	to <- prometheus.MustNewConstMetric(proofs, prometheus.CounterValue, float64(s.Proofs))
	to <- prometheus.MustNewConstMetric(unanswered, prometheus.GaugeValue, float64(s.Unanswered))
}

// metric exports one number of Stats.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*Stats) float64
}

func gauge(name, help string, value func(*Stats) float64) metric {
	return metric{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value}
}

func total(name, help string, value func(*Stats) uint64) metric {
	return metric{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, func(s *Stats) float64 { return float64(value(s)) }}
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// instant returns a time in Unix seconds, 0 for never.
func instant(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1e3
}

func milli(ms int64) float64 { return float64(ms) / 1e3 }

var metrics = []metric{
	gauge("shortline_edge_ready", "Whether the links are loaded.", func(s *Stats) float64 { return yes(s.Ready) }),
	gauge("shortline_edge_connections", "Open connections of visitors.", func(s *Stats) float64 { return float64(s.Connections) }),
	total("shortline_edge_connections_shed_total", "Connections without a request, and idle ones, closed at the connection limit.",
		func(s *Stats) uint64 { return s.Shed }),
	gauge("shortline_edge_links", "Links in the table.", func(s *Stats) float64 { return float64(s.Links) }),
	gauge("shortline_edge_links_bytes", "Memory of the links and their index.", func(s *Stats) float64 { return float64(s.LinkBytes) }),
	gauge("shortline_edge_links_set_aside", "Links whose rules cannot be used.", func(s *Stats) float64 { return float64(s.SetAside) }),
	gauge("shortline_edge_revision", "Revision of the served links.", func(s *Stats) float64 { return float64(s.Applied.Revision) }),
	total("shortline_edge_rule_redirects_total", "Redirects chosen by a routing rule.", func(s *Stats) uint64 { return s.Redirect.Rules }),
	total("shortline_edge_variant_redirects_total", "Redirects chosen by an A/B test.", func(s *Stats) uint64 {
		return s.Redirect.Variants
	}),
	total("shortline_edge_passwords_checked_total", "Passwords compared with their hash.", func(s *Stats) uint64 {
		return s.Redirect.Hashes
	}),
	gauge("shortline_edge_guessers", "Clients in the lockout table for link passwords.", func(s *Stats) float64 {
		return float64(s.Redirect.LockoutClients)
	}),
	total("shortline_edge_locks_learned_total", "Lockout states received from other edges.", func(s *Stats) uint64 {
		return s.Lockout.Received
	}),
	total("shortline_edge_locks_errors_total", "Failed calls to share lockouts with other edges; they are retried.", func(s *Stats) uint64 {
		return s.Lockout.Failed
	}),
	total("shortline_edge_limit_granted_total", "Clicks counted against the limit of their link.", func(s *Stats) uint64 {
		return s.Quota.Granted
	}),
	total("shortline_edge_limit_unknown_total", "Clicks of limited links refused with 503 because this edge could not decide.",
		func(s *Stats) uint64 { return s.Quota.Unknown }),
	total("shortline_edge_limit_exchanges_total", "Exchanges of counts of limited links with the control plane.", func(s *Stats) uint64 {
		return s.Quota.Exchanges
	}),
	total("shortline_edge_limit_errors_total", "Failed exchanges of counts of limited links; they are retried.", func(s *Stats) uint64 {
		return s.Quota.Failed
	}),
	gauge("shortline_edge_limit_exchange_age_seconds",
		"Time since the last successful exchange of counts of limited links, 0 for an edge that counts alone.", func(s *Stats) float64 {
			return s.Quota.Age.Seconds()
		}),
	total("shortline_edge_errors_total",
		"Requests answered with a 5xx status, including forwarded requests. 508, a link that leads to itself, is not counted.",
		func(s *Stats) uint64 { return s.Redirect.Errors }),
	total("shortline_edge_click_ids_missing_total",
		"Visits of links with conversion tracking without a click id, because no key was known or the click was not recorded.",
		func(s *Stats) uint64 { return s.Redirect.Untracked }),
	total("shortline_edge_conversions_accepted_total", "Conversions accepted from browsers.", func(s *Stats) uint64 {
		return s.Redirect.Sold
	}),
	total("shortline_edge_conversions_rejected_total", "Conversions from browsers with another verdict, duplicates included.",
		func(s *Stats) uint64 { return s.Redirect.Unsold }),
	total("shortline_edge_panics_total", "Requests whose handler panicked.", func(s *Stats) uint64 { return s.Redirect.Panics }),
	total("shortline_edge_upstream_errors_total", "Forwarded requests that the control plane did not answer.", func(s *Stats) uint64 {
		return s.Proxy.Failed
	}),
	total("shortline_edge_upstream_refused_total", "Requests not forwarded because too many were waiting.", func(s *Stats) uint64 {
		return s.Proxy.Refused
	}),
	gauge("shortline_edge_upstream_in_flight", "Forwarded requests in progress.", func(s *Stats) float64 {
		return float64(s.Proxy.InFlight)
	}),

	total("shortline_agent_deltas_applied_total", "Deltas applied.", func(s *Stats) uint64 { return s.Agent.Applied }),
	total("shortline_agent_documents_loaded_total", "Full documents loaded, including the one from disk.", func(s *Stats) uint64 {
		return s.Agent.Loaded
	}),
	total("shortline_agent_refused_total", "Documents and deltas rejected.", func(s *Stats) uint64 { return s.Agent.Refused }),
	total("shortline_agent_unsigned_total", "Rejected documents and deltas without a signature by one of SNAPSHOT_PUBLIC_KEYS.",
		func(s *Stats) uint64 { return s.Agent.Unsigned }),
	gauge("shortline_agent_clock_ahead_seconds",
		"Offset of this clock to the control plane's, accurate to about half a second; above 0 if this clock is ahead.",
		func(s *Stats) float64 {
			return s.ClockAhead.Seconds()
		}),
	total("shortline_agent_errors_total", "Failed calls to the control plane.", func(s *Stats) uint64 { return s.Agent.SourceErrors }),
	total("shortline_agent_disk_errors_total", "Failed writes of local state.", func(s *Stats) uint64 { return s.Agent.DiskErrors }),
	gauge("shortline_agent_last_success_timestamp_seconds",
		"Time when the served links were last those of the control plane: a document or delta was applied, or there was nothing newer.",
		func(s *Stats) float64 { return milli(s.Agent.LastSuccess) }),

	gauge("shortline_spool_bytes", "Disk space of the spool.", func(s *Stats) float64 { return float64(s.Spool.Bytes) }),
	gauge("shortline_spool_cap_bytes", "Limit of the spool's disk space.", func(s *Stats) float64 { return float64(s.Spool.CapBytes) }),
	gauge("shortline_spool_damaged_segments", "Files of the spool with damage.", func(s *Stats) float64 {
		return float64(s.Spool.Damaged)
	}),
	gauge("shortline_spool_clicks_pending", "Clicks not acknowledged yet.", func(s *Stats) float64 { return float64(s.Spool.Pending) }),
	gauge("shortline_spool_oldest_pending_seconds", "Age of the oldest click that is not acknowledged, 0 if there is none.",
		func(s *Stats) float64 { return s.Ship.Oldest.Seconds() }),
	gauge("shortline_spool_warning", "Whether pending clicks use four fifths of the limit.", func(s *Stats) float64 {
		return yes(s.Spool.State != spool.Healthy)
	}),
	gauge("shortline_spool_shedding", "Whether clicks are being dropped.", func(s *Stats) float64 {
		return yes(s.Spool.State == spool.Shedding)
	}),
	total("shortline_spool_clicks_appended_total", "Clicks written to the spool.", func(s *Stats) uint64 { return s.Spool.Appended }),
	total("shortline_spool_clicks_dropped_total", "Clicks dropped because the spool was full.", func(s *Stats) uint64 {
		return s.Spool.Dropped
	}),
	total("shortline_spool_clicks_lost_total", "Clicks lost by the disk.", func(s *Stats) uint64 { return s.Spool.Lost }),
	total("shortline_spool_errors_total", "Failed syncs, writes and acknowledgements.", func(s *Stats) uint64 {
		return s.Spool.SyncErrors + s.Spool.Faults + s.Spool.CursorErrors
	}),
	gauge("shortline_spool_last_success_timestamp_seconds", "Time of the last sync of all clicks.", func(s *Stats) float64 {
		return instant(s.Spool.LastSync)
	}),

	gauge("shortline_conversion_spool_bytes", "Disk space of the spool of conversions.", func(s *Stats) float64 {
		return float64(s.Conversions.Spool.Bytes)
	}),
	gauge("shortline_conversion_spool_cap_bytes", "Limit of the disk space of the spool of conversions; 0 without one.",
		func(s *Stats) float64 { return float64(s.Conversions.Spool.CapBytes) }),
	gauge("shortline_conversion_spool_pending", "Conversions not acknowledged yet.", func(s *Stats) float64 {
		return float64(s.Conversions.Spool.Pending)
	}),
	gauge("shortline_conversion_spool_oldest_pending_seconds", "Age of the oldest conversion that is not acknowledged, 0 if there is none.",
		func(s *Stats) float64 { return s.Conversions.Ship.Oldest.Seconds() }),
	total("shortline_conversion_spool_appended_total", "Conversions written to the spool.", func(s *Stats) uint64 {
		return s.Conversions.Spool.Appended
	}),
	total("shortline_conversion_spool_refused_total", "Conversions not accepted because the spool was full.", func(s *Stats) uint64 {
		return s.Conversions.Spool.Dropped
	}),
	total("shortline_conversion_spool_errors_total", "Failed syncs, writes and acknowledgements of the spool of conversions.",
		func(s *Stats) uint64 {
			return s.Conversions.Spool.SyncErrors + s.Conversions.Spool.Faults + s.Conversions.Spool.CursorErrors
		}),
	total("shortline_conversion_ship_errors_total", "Failed deliveries of conversions; they are retried.", func(s *Stats) uint64 {
		return s.Conversions.Ship.Failures
	}),
	total("shortline_ship_clicks_total", "Clicks acknowledged.", func(s *Stats) uint64 { return s.Ship.Events }),
	total("shortline_ship_bytes_total", "Bytes of clicks acknowledged.", func(s *Stats) uint64 { return s.Ship.Bytes }),
	total("shortline_ship_errors_total", "Failed deliveries; they are retried.", func(s *Stats) uint64 { return s.Ship.Failures }),
	gauge("shortline_ship_held", "Whether clicks are not shipped because another live edge has this edge's id.", func(s *Stats) float64 {
		return yes(s.Ship.Held)
	}),
	gauge("shortline_ship_lanes_failing", "Lanes whose current batch is being retried.", func(s *Stats) float64 {
		return float64(s.Ship.Failing)
	}),
	gauge("shortline_ship_last_success_timestamp_seconds", "Time of the last acknowledged batch.", func(s *Stats) float64 {
		return instant(s.Ship.LastSuccess)
	}),
}

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	to <- answers
	to <- duration
	to <- info
	to <- handshakes
	to <- rejected
	to <- proofs
	to <- unanswered
	to <- misproxied
	for _, m := range metrics {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s := c.edge.Stats()
	to <- prometheus.MustNewConstMetric(info, prometheus.GaugeValue, 1, c.edge.cfg.Name, c.edge.cfg.Region)
	r := &s.Redirect
	for outcome, n := range map[string]uint64{
		"redirect": r.Redirects - min(r.Redirects, r.Verified), "preview": r.Previews, "password_form": r.Forms, "info": r.Infos,
		"verified": r.Verified, "wrong_password": r.Wrong,
		"locked": r.Locked, "busy": r.Busy, "not_found": r.Missing, "gone": r.Gone, "ended": r.Ended, "loop": r.Loops, "refused": r.Refused,
		"proxied": r.Proxied, "panic": r.Panics,
		"report_form": r.ReportForms, "report": r.Reports, "report_failed": r.ReportsFailed,
		"conversions": r.Sales, "conversions_full": r.SalesFull, "limited": r.Limited, "upgraded": r.Upgrades, "unavailable": r.Unavailable,
	} {
		to <- prometheus.MustNewConstMetric(answers, prometheus.CounterValue, float64(n), outcome)
	}
	for _, l := range c.edge.redirect.Latencies() {
		buckets := make(map[float64]uint64, len(l.Buckets))
		for i, n := range l.Buckets {
			buckets[latency.Bounds[i].Seconds()] = n
		}
		to <- prometheus.MustNewConstHistogram(duration, l.Count, l.Sum.Seconds(), buckets, l.Outcome.String())
	}
	if s.TLS != nil {
		collectTLS(s.TLS, to)
	}
	if p := s.Proxied; p != nil {
		for reason, n := range map[string]uint64{"missing": p.Missing, "malformed": p.Malformed, "untrusted": p.Untrusted} {
			to <- prometheus.MustNewConstMetric(misproxied, prometheus.CounterValue, float64(n), reason)
		}
	}
	for _, m := range metrics {
		to <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&s))
	}
}
