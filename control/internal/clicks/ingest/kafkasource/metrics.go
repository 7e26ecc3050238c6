package kafkasource

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/shared/metric"
)

type counts struct {
	messages, clicks, failures, dead, expired, rewinds, generations atomic.Uint64

	delivered, committed atomic.Int64 // Unix milliseconds
}

// Stats has the current figures of a member. Counters start with the process.
type Stats struct {
	Messages    uint64 // delivered or put aside
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
	// Until is the time up to which all messages of these partitions are delivered, as far as this member knows: the time
	// of its last fetch if nothing is left. Zero: unknown, or no partitions are assigned.
	Until time.Time

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
		Messages: c.messages.Load(), Clicks: c.clicks.Load(), Failures: c.failures.Load(), Dead: c.dead.Load(),
		Expired: c.expired.Load(), Rewinds: c.rewinds.Load(), Generations: c.generations.Load(),
		LastDelivered: at(c.delivered.Load()), LastCommitted: at(c.committed.Load()),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Partitions = len(s.at)
	for i, p := range slices.Collect(maps.Values(s.at)) {
		if until := p.until(); i == 0 || until.Before(st.Until) {
			st.Until = until
		}
		st.Lag += p.end - p.next
		st.Age = max(st.Age, p.age())
		st.InFlight += p.busy
	}
	return st
}

// until is the time up to which all messages of the partition are delivered; zero if it is unknown.
func (p place) until() time.Time {
	if p.next >= p.end {
		return p.seen
	}
	return p.oldest
}

func (p place) age() time.Duration {
	if p.oldest.IsZero() {
		return 0
	}
	return max(0, time.Since(p.oldest))
}

// metrics are labelled with the group and the region of the member, so that several members can share a process.
type metrics struct {
	metric.Set
	lag, age *prometheus.Desc // for each assigned partition
}

func (s *Source) newMetrics() metrics {
	c, constant, labels := &s.stats, []string{"group", s.cfg.Group}, prometheus.Labels{"group": s.cfg.Group}
	if s.cfg.Region != "" {
		constant, labels["kafka"] = append(constant, "kafka", s.cfg.Region), s.cfg.Region
	}
	return metrics{
		metric.Set{
			metric.Total("shortline_kafkasource_messages_total", "Messages delivered or put aside.", c.messages.Load, constant...),
			metric.Total("shortline_kafkasource_clicks_total", "Clicks delivered, repeats included.", c.clicks.Load, constant...),
			metric.Total("shortline_kafkasource_errors_total", "Failed requests and deliveries. Each is retried.", c.failures.Load,
				constant...),
			metric.Total("shortline_kafkasource_dead_messages_total", "Messages put aside because they contain no readable clicks.",
				c.dead.Load, constant...),
			metric.Total("shortline_kafkasource_expired_messages_total", "Messages that the topic deleted before they were read.",
				c.expired.Load, constant...),
			metric.Total("shortline_kafkasource_generations_total", "Assignments of partitions to this member.", c.generations.Load,
				constant...),
			metric.Gauge("shortline_kafkasource_partitions", "Partitions assigned to this member.", func() int {
				return s.Stats().Partitions
			}, constant...),
			metric.Time("shortline_kafkasource_last_success_timestamp_seconds",
				"Time of the last successful delivery of clicks; 0 if there was none.", c.delivered.Load, constant...),
		},
		prometheus.NewDesc("shortline_kafkasource_lag_messages",
			"Consumer lag: messages of a partition of this member that are not delivered yet.", []string{"partition"}, labels),
		prometheus.NewDesc("shortline_kafkasource_lag_seconds",
			"Age of the oldest message that is not delivered yet, since it was written to the topic.", []string{"partition"}, labels),
	}
}

// Describe and Collect make the Source a prometheus.Collector.
func (s *Source) Describe(ch chan<- *prometheus.Desc) {
	s.metrics.Describe(ch)
	ch <- s.metrics.lag
	ch <- s.metrics.age
}

// Collect exports the figures of Stats.
func (s *Source) Collect(ch chan<- prometheus.Metric) {
	s.metrics.Collect(ch)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.at {
		partition := strconv.Itoa(id)
		ch <- prometheus.MustNewConstMetric(s.metrics.lag, prometheus.GaugeValue, float64(p.end-p.next), partition)
		ch <- prometheus.MustNewConstMetric(s.metrics.age, prometheus.GaugeValue, p.age().Seconds(), partition)
	}
}
