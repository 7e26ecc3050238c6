package edge

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/spool"
)

// collector turns an edge's account into metrics when it is asked. On the hot path there are plain counters only.
type collector struct{ edge *Edge }

var answers = prometheus.NewDesc("shortline_edge_answers_total", "Requests answered, by what they were answered with.", []string{"outcome"}, nil)

var latency = prometheus.NewDesc("shortline_edge_request_duration_seconds",
	"How long answers took, from the head of the request until the kernel had taken the answer or the first part of one that is streamed, by outcome. One request in 16 is measured.",
	[]string{"outcome"}, nil)

var info = prometheus.NewDesc("shortline_edge_info", "Always 1; the labels are EDGE_NAME and REGION.", []string{"edge", "region"}, nil)

// metric is one number of an account, under a name.
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

// instant is a time as metrics have it: Unix seconds, 0 for never.
func instant(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1e3
}

func milli(ms int64) float64 { return float64(ms) / 1e3 }

var metrics = []metric{
	gauge("shortline_edge_ready", "Whether there are links to answer from.", func(s *Stats) float64 { return yes(s.Ready) }),
	gauge("shortline_edge_connections", "Connections of visitors that are open.", func(s *Stats) float64 { return float64(s.Connections) }),
	total("shortline_edge_connections_shed_total", "Connections without a request, and idle ones, that were closed because too many were open.", func(s *Stats) uint64 { return s.Shed }),
	gauge("shortline_edge_links", "Links in the table.", func(s *Stats) float64 { return float64(s.Links) }),
	gauge("shortline_edge_links_bytes", "Memory of the links and their index.", func(s *Stats) float64 { return float64(s.LinkBytes) }),
	gauge("shortline_edge_links_set_aside", "Links whose rules could not be used.", func(s *Stats) float64 { return float64(s.SetAside) }),
	gauge("shortline_edge_revision", "Revision of the links that are served.", func(s *Stats) float64 { return float64(s.Applied.Revision) }),
	total("shortline_edge_rule_redirects_total", "Redirects chosen by a routing rule.", func(s *Stats) uint64 { return s.Redirect.Rules }),
	total("shortline_edge_variant_redirects_total", "Redirects chosen by an A/B test.", func(s *Stats) uint64 { return s.Redirect.Variants }),
	total("shortline_edge_passwords_checked_total", "Passwords compared with their hash.", func(s *Stats) uint64 { return s.Redirect.Hashes }),
	gauge("shortline_edge_guessers", "Clients in the lockout table for link passwords.", func(s *Stats) float64 { return float64(s.Redirect.LockoutClients) }),
	total("shortline_edge_locks_told_total", "Clients whose password attempts were reported to the control plane.", func(s *Stats) uint64 { return s.Lockout.Reported }),
	total("shortline_edge_locks_learned_total", "Lockout states received from other edges.", func(s *Stats) uint64 { return s.Lockout.Received }),
	total("shortline_edge_locks_errors_total", "Failed calls to share lockouts with other edges; they are retried.", func(s *Stats) uint64 { return s.Lockout.Failed }),
	total("shortline_edge_limited_total", "Requests refused because their client made too many.", func(s *Stats) uint64 { return s.Redirect.Limited }),
	total("shortline_edge_errors_total", "Requests answered with a 5xx status, those of the control plane included. 508, a link that leads to itself, is not counted.", func(s *Stats) uint64 { return s.Redirect.Errors }),
	total("shortline_edge_panics_total", "Requests that hit a bug.", func(s *Stats) uint64 { return s.Redirect.Panics }),
	total("shortline_edge_upstream_errors_total", "Requests that the control plane did not answer.", func(s *Stats) uint64 { return s.Proxy.Failed }),
	total("shortline_edge_upstream_refused_total", "Requests not passed on because too many were waiting.", func(s *Stats) uint64 { return s.Proxy.Refused }),
	gauge("shortline_edge_upstream_in_flight", "Requests that are with the control plane.", func(s *Stats) float64 { return float64(s.Proxy.InFlight) }),

	total("shortline_agent_deltas_applied_total", "Changes taken from the control plane.", func(s *Stats) uint64 { return s.Agent.Applied }),
	total("shortline_agent_documents_loaded_total", "Full documents taken, the one from disk among them.", func(s *Stats) uint64 { return s.Agent.Loaded }),
	total("shortline_agent_refused_total", "Documents and changes that were not believed.", func(s *Stats) uint64 { return s.Agent.Refused }),
	total("shortline_agent_unsigned_total", "Of these, for want of a signature by one of SNAPSHOT_PUBLIC_KEYS.", func(s *Stats) uint64 { return s.Agent.Unsigned }),
	gauge("shortline_agent_clock_ahead_seconds", "How far this clock is ahead of the control plane's, to about half a second.", func(s *Stats) float64 { return s.ClockAhead.Seconds() }),
	total("shortline_agent_errors_total", "Calls to the control plane that failed.", func(s *Stats) uint64 { return s.Agent.SourceErrors }),
	total("shortline_agent_disk_errors_total", "Attempts to write local state that failed.", func(s *Stats) uint64 { return s.Agent.DiskErrors }),
	gauge("shortline_agent_last_success_timestamp_seconds", "When the control plane last answered.", func(s *Stats) float64 { return milli(s.Agent.LastContact) }),
	gauge("shortline_agent_last_write_timestamp_seconds", "When local state last reached the disk.", func(s *Stats) float64 { return milli(s.Agent.LastWritten) }),

	gauge("shortline_spool_bytes", "Disk that the spool takes.", func(s *Stats) float64 { return float64(s.Spool.Bytes) }),
	gauge("shortline_spool_cap_bytes", "Most that the spool may take.", func(s *Stats) float64 { return float64(s.Spool.CapBytes) }),
	gauge("shortline_spool_segments", "Files of the spool.", func(s *Stats) float64 { return float64(s.Spool.Segments) }),
	gauge("shortline_spool_damaged_segments", "Files of the spool with damage.", func(s *Stats) float64 { return float64(s.Spool.Damaged) }),
	gauge("shortline_spool_clicks_pending", "Clicks not acknowledged yet.", func(s *Stats) float64 { return float64(s.Spool.Pending) }),
	gauge("shortline_spool_oldest_pending_seconds", "How long the oldest click that is not acknowledged has been waiting, 0 if none is.", func(s *Stats) float64 { return s.Ship.Oldest.Seconds() }),
	gauge("shortline_spool_warning", "Whether pending clicks take four fifths of the cap.", func(s *Stats) float64 { return yes(s.Spool.State != spool.Healthy) }),
	gauge("shortline_spool_shedding", "Whether clicks are being dropped.", func(s *Stats) float64 { return yes(s.Spool.State == spool.Shedding) }),
	total("shortline_spool_clicks_appended_total", "Clicks kept.", func(s *Stats) uint64 { return s.Spool.Appended }),
	total("shortline_spool_clicks_dropped_total", "Clicks dropped for want of room.", func(s *Stats) uint64 { return s.Spool.Dropped }),
	total("shortline_spool_clicks_lost_total", "Clicks that the disk lost.", func(s *Stats) uint64 { return s.Spool.Lost }),
	total("shortline_spool_late_appends_total", "Clicks that waited for a file to be prepared.", func(s *Stats) uint64 { return s.Spool.Late }),
	total("shortline_spool_errors_total", "Syncs, writes and acknowledgements that failed.", func(s *Stats) uint64 { return s.Spool.SyncErrors + s.Spool.Faults + s.Spool.CursorErrors }),
	gauge("shortline_spool_last_success_timestamp_seconds", "When all clicks of that moment were durable.", func(s *Stats) float64 { return instant(s.Spool.LastSync) }),

	total("shortline_ship_batches_total", "Batches acknowledged.", func(s *Stats) uint64 { return s.Ship.Batches }),
	total("shortline_ship_clicks_total", "Clicks acknowledged.", func(s *Stats) uint64 { return s.Ship.Events }),
	total("shortline_ship_bytes_total", "Bytes of clicks acknowledged.", func(s *Stats) uint64 { return s.Ship.Bytes }),
	total("shortline_ship_errors_total", "Deliveries that failed and are tried again.", func(s *Stats) uint64 { return s.Ship.Failures }),
	gauge("shortline_ship_held", "Whether clicks are kept and not shipped because another live edge has this one's identity.", func(s *Stats) float64 { return yes(s.Ship.Held) }),
	gauge("shortline_ship_lanes_failing", "Lanes whose batch has failed and is not through yet.", func(s *Stats) float64 { return float64(s.Ship.Failing) }),
	gauge("shortline_ship_last_success_timestamp_seconds", "When a batch was last acknowledged.", func(s *Stats) float64 { return instant(s.Ship.LastSuccess) }),
}

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	to <- answers
	to <- latency
	to <- info
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
		"redirect": r.Redirects - min(r.Redirects, r.Verified), "preview": r.Previews, "password_form": r.Forms, "info": r.Infos, "verified": r.Verified, "wrong_password": r.Wrong,
		"locked": r.Locked, "busy": r.Busy, "not_found": r.Missing, "gone": r.Gone, "loop": r.Loops, "refused": r.Refused, "proxied": r.Proxied, "panic": r.Panics,
		"limited": r.Limited, "unavailable": r.Unavailable,
	} {
		to <- prometheus.MustNewConstMetric(answers, prometheus.CounterValue, float64(n), outcome)
	}
	for _, l := range c.edge.redirect.Latencies() {
		buckets := make(map[float64]uint64, len(l.Buckets))
		for i, n := range l.Buckets {
			buckets[redirect.LatencyBounds[i].Seconds()] = n
		}
		to <- prometheus.MustNewConstHistogram(latency, l.Count, l.Sum.Seconds(), buckets, l.Outcome)
	}
	for _, m := range metrics {
		to <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&s))
	}
}
