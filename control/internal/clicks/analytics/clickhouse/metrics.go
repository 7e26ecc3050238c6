package clickhouse

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Stats has the results of Run since the store was opened.
type Stats struct {
	Rebuilt, Failed uint64    // rebuilt slots; failed attempts
	Waiting         int       // slots that had ended, with a write since their last build, at the last check of Run
	Success         time.Time // time of the last success; zero if there was none
}

// Stats returns the current figures of Run.
func (s *Store) Stats() Stats {
	st := Stats{Rebuilt: s.stats.rebuilt.Load(), Failed: s.stats.failed.Load(), Waiting: int(s.stats.waiting.Load())}
	if ms := s.stats.at.Load(); ms != 0 {
		st.Success = time.UnixMilli(ms)
	}
	return st
}

var (
	rebuiltDesc = prometheus.NewDesc("shortline_rollup_rebuilt_slots_total", "Quarter hours whose rollups were built or rebuilt.", nil, nil)
	waitingDesc = prometheus.NewDesc("shortline_rollup_waiting_slots", "Quarter hours that have ended and whose rollups are out of date. Reports read their clicks instead.", nil, nil)
	replicaDesc = prometheus.NewDesc("shortline_clickhouse_replica_errors_total", "Statements that a replica of a cluster rejected temporarily, by ClickHouse error code: 242 read-only, 286 and 289 quorum. Each is retried.", []string{"code"}, nil)
	errorsDesc  = prometheus.NewDesc("shortline_rollup_errors_total", "Failed rebuilds of rollups.", nil, nil)
	successDesc = prometheus.NewDesc("shortline_rollup_last_success_timestamp_seconds", "Time at which rollups were last rebuilt or found up to date; 0 if never.", nil, nil)
)

// Describe and Collect make the Store a prometheus.Collector for Run. A process that does not call Run does not
// register it.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{rebuiltDesc, waitingDesc, errorsDesc, successDesc, replicaDesc} {
		ch <- d
	}
}

// Collect exports the figures of Stats. It sends no query.
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	st := s.Stats()
	success := 0.0
	if !st.Success.IsZero() {
		success = float64(st.Success.UnixMilli()) / 1000
	}
	ch <- prometheus.MustNewConstMetric(rebuiltDesc, prometheus.CounterValue, float64(st.Rebuilt))
	ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(st.Waiting))
	ch <- prometheus.MustNewConstMetric(errorsDesc, prometheus.CounterValue, float64(st.Failed))
	ch <- prometheus.MustNewConstMetric(successDesc, prometheus.GaugeValue, success)
	for i, c := range replicaCodes {
		ch <- prometheus.MustNewConstMetric(replicaDesc, prometheus.CounterValue, float64(s.stats.replica[i].Load()), strconv.Itoa(c))
	}
}
