package clickhouse

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Stats is what Run has done since the store was opened.
type Stats struct {
	Rebuilt, Failed uint64    // slots; attempts
	Waiting         int       // slots that had ended and were written to since their last build, when Run last looked
	Success         time.Time // the last; zero if there was none
}

// Stats reports on Run.
func (s *Store) Stats() Stats {
	st := Stats{Rebuilt: s.stats.rebuilt.Load(), Failed: s.stats.failed.Load(), Waiting: int(s.stats.waiting.Load())}
	if ms := s.stats.at.Load(); ms != 0 {
		st.Success = time.UnixMilli(ms)
	}
	return st
}

var (
	rebuiltDesc = prometheus.NewDesc("shortline_rollup_rebuilt_slots_total", "Quarter hours of clicks of which the rollups were built, again or for the first time.", nil, nil)
	waitingDesc = prometheus.NewDesc("shortline_rollup_waiting_slots", "Quarter hours that have ended and were written to since their rollups were built; reports read their clicks instead.", nil, nil)
	replicaDesc = prometheus.NewDesc("shortline_clickhouse_replica_errors_total", "Statements that a replica of a cluster could not do at the moment, by ClickHouse's code: 242 read-only, 286 and 289 quorum. They are made again.", []string{"code"}, nil)
	errorsDesc  = prometheus.NewDesc("shortline_rollup_errors_total", "Attempts to rebuild rollups that failed.", nil, nil)
	successDesc = prometheus.NewDesc("shortline_rollup_last_success_timestamp_seconds", "When rollups were last rebuilt or found up to date, 0 for never.", nil, nil)
)

// Describe and Collect make the Store a prometheus.Collector of what Run does. Who doesn't run it registers nothing.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{rebuiltDesc, waitingDesc, errorsDesc, successDesc, replicaDesc} {
		ch <- d
	}
}

// Collect asks the server nothing.
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
