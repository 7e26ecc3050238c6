package kafkasource

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type counts struct {
	messages, bytes, clicks, failures, dead, expired, rewinds, generations atomic.Uint64

	delivered, committed atomic.Int64 // Unix milliseconds
}

// Stats has the current figures of a member. Counters start with the process.
type Stats struct {
	Messages    uint64 // delivered or put aside
	Bytes       uint64 // of messages read, after decompression
	Clicks      uint64 // delivered, repeats included
	Failures    uint64 // failed requests and deliveries, each of which was retried
	Dead        uint64 // messages put aside
	Expired     uint64 // messages that the topic deleted before they were read
	Rewinds     uint64 // partitions read again because their log had become shorter
	Generations uint64 // assignments of partitions

	Partitions int           // assigned now
	Lag        int64         // messages of these partitions that are not delivered yet
	Age        time.Duration // age of the oldest of these messages, since it was written to the topic
	InFlight   int           // messages being delivered

	LastDelivered, LastCommitted time.Time // zero: never
}

// Stats returns the current figures. It may be called at any time.
func (s *Source) Stats() Stats {
	c := &s.stats
	at := func(ms int64) time.Time {
		if ms == 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms)
	}
	st := Stats{
		Messages: c.messages.Load(), Bytes: c.bytes.Load(), Clicks: c.clicks.Load(), Failures: c.failures.Load(), Dead: c.dead.Load(),
		Expired: c.expired.Load(), Rewinds: c.rewinds.Load(), Generations: c.generations.Load(),
		LastDelivered: at(c.delivered.Load()), LastCommitted: at(c.committed.Load()),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Partitions = len(s.at)
	for _, p := range s.at {
		st.Lag += p.end - p.next
		st.Age = max(st.Age, p.age())
		st.InFlight += p.busy
	}
	return st
}

func (p place) age() time.Duration {
	if p.oldest.IsZero() {
		return 0
	}
	return max(0, time.Since(p.oldest))
}

// metric exports one figure of Stats.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*Stats) float64
}

// partitionMetrics are exported for each assigned partition.
type partitionMetrics struct{ lag, age *prometheus.Desc }

func instant(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1e3
}

// newMetrics describes the metrics of a member, labelled with its group, so that members of several groups can share a
// process.
func newMetrics(group string) ([]metric, partitionMetrics) {
	labels := prometheus.Labels{"group": group}
	total := func(name, help string, value func(*Stats) uint64) metric {
		return metric{prometheus.NewDesc(name, help, nil, labels), prometheus.CounterValue, func(s *Stats) float64 { return float64(value(s)) }}
	}
	gauge := func(name, help string, value func(*Stats) float64) metric {
		return metric{prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, value}
	}
	return []metric{
			total("shortline_kafkasource_messages_total", "Messages delivered or put aside.", func(s *Stats) uint64 { return s.Messages }),
			total("shortline_kafkasource_message_bytes_total", "Bytes of messages read, after decompression.", func(s *Stats) uint64 { return s.Bytes }),
			total("shortline_kafkasource_clicks_total", "Clicks delivered, repeats included.", func(s *Stats) uint64 { return s.Clicks }),
			total("shortline_kafkasource_errors_total", "Failed requests and deliveries. Each is retried.", func(s *Stats) uint64 { return s.Failures }),
			total("shortline_kafkasource_dead_messages_total", "Messages put aside because they contain no readable clicks.", func(s *Stats) uint64 { return s.Dead }),
			total("shortline_kafkasource_expired_messages_total", "Messages that the topic deleted before they were read.", func(s *Stats) uint64 { return s.Expired }),
			total("shortline_kafkasource_rewinds_total", "Partitions read again from the start because their log was truncated.", func(s *Stats) uint64 { return s.Rewinds }),
			total("shortline_kafkasource_generations_total", "Assignments of partitions to this member.", func(s *Stats) uint64 { return s.Generations }),
			gauge("shortline_kafkasource_partitions", "Partitions assigned to this member.", func(s *Stats) float64 { return float64(s.Partitions) }),
			gauge("shortline_kafkasource_in_flight_messages", "Messages being delivered.", func(s *Stats) float64 { return float64(s.InFlight) }),
			gauge("shortline_kafkasource_last_success_timestamp_seconds", "Time of the last successful delivery of clicks; 0 if there was none.", func(s *Stats) float64 { return instant(s.LastDelivered) }),
			gauge("shortline_kafkasource_commit_last_success_timestamp_seconds", "Time of the last successful offset commit; 0 if there was none.", func(s *Stats) float64 { return instant(s.LastCommitted) }),
		}, partitionMetrics{
			lag: prometheus.NewDesc("shortline_kafkasource_lag_messages", "Consumer lag: messages of a partition of this member that are not delivered yet.", []string{"partition"}, labels),
			age: prometheus.NewDesc("shortline_kafkasource_lag_seconds", "Age of the oldest message that is not delivered yet, since it was written to the topic.", []string{"partition"}, labels),
		}
}

// Describe and Collect make the Source a prometheus.Collector.
func (s *Source) Describe(ch chan<- *prometheus.Desc) {
	for i := range s.metrics {
		ch <- s.metrics[i].desc
	}
	ch <- s.perPart.lag
	ch <- s.perPart.age
}

// Collect exports the figures of Stats.
func (s *Source) Collect(ch chan<- prometheus.Metric) {
	st := s.Stats()
	for i := range s.metrics {
		ch <- prometheus.MustNewConstMetric(s.metrics[i].desc, s.metrics[i].kind, s.metrics[i].value(&st))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.at {
		partition := strconv.Itoa(id)
		ch <- prometheus.MustNewConstMetric(s.perPart.lag, prometheus.GaugeValue, float64(p.end-p.next), partition)
		ch <- prometheus.MustNewConstMetric(s.perPart.age, prometheus.GaugeValue, p.age().Seconds(), partition)
	}
}
