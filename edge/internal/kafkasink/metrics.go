package kafkasink

import (
	"errors"
	"sync/atomic"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/metric"
)

// reason is why a broker rejected a message. Most failures are not rejections but problems reaching the broker.
type reason int

const (
	none reason = iota
	tooLarge
	invalid
	unknownTopic
	unauthorized
	reasons
)

var reasonNames = [reasons]string{"", "too_large", "invalid", "unknown_topic", "unauthorized"}

func (r reason) String() string { return reasonNames[r] }

// refusal returns the reason in a broker's error.
func refusal(err error) reason {
	switch {
	case errors.Is(err, kafka.MessageSizeTooLarge), errors.Is(err, kafka.RecordListTooLarge):
		return tooLarge
	case errors.Is(err, kafka.InvalidRecord), errors.Is(err, kafka.InvalidTimestamp), errors.Is(err, kafka.UnsupportedForMessageFormat):
		return invalid
	case errors.Is(err, kafka.UnknownTopicOrPartition), errors.Is(err, kafka.InvalidTopic):
		return unknownTopic
	case errors.Is(err, kafka.TopicAuthorizationFailed), errors.Is(err, kafka.ClusterAuthorizationFailed),
		errors.Is(err, kafka.SASLAuthenticationFailed):
		return unauthorized
	}
	return none
}

func (s *Sink) refused(err error) reason {
	r := refusal(err)
	if r != none {
		s.stats.refusals[r].Add(1)
	}
	return r
}

type counts struct {
	messages, bytes, failures, splits, asides atomic.Uint64

	refusals [reasons]atomic.Uint64
	ready    atomic.Bool
}

// Stats has the current figures of a sink. Counters start with the process.
type Stats struct {
	Messages uint64 // acknowledged
	Bytes    uint64 // of them, before compression
	Failures uint64 // deliveries with an unknown outcome, and failed attempts to prepare the topic
	Splits   uint64 // batches that were rejected because of their content and sent in halves
	Asides   uint64 // single clicks that were rejected and put aside
	Refusals uint64 // rejections by a broker
	Ready    bool   // Run has found the topic usable
}

// Stats returns the current figures. It may be called at any time.
func (s *Sink) Stats() Stats {
	c := &s.stats
	st := Stats{Messages: c.messages.Load(), Bytes: c.bytes.Load(), Failures: c.failures.Load(), Splits: c.splits.Load(),
		Asides: c.asides.Load(), Ready: c.ready.Load()}
	for r := range c.refusals {
		st.Refusals += c.refusals[r].Load()
	}
	return st
}

func (s *Sink) metrics() metric.Set {
	c := &s.stats
	ready := func() int {
		if c.ready.Load() {
			return 1
		}
		return 0
	}
	set := metric.Set{
		metric.Total("shortline_kafkasink_errors_total",
			"Deliveries that failed or timed out, each of which is retried, and failed attempts to prepare the topic.", c.failures.Load),
		metric.Total("shortline_kafkasink_dead_clicks_total", "Single clicks that the topic rejected. They are put aside in files.",
			c.asides.Load),
		metric.Gauge("shortline_kafkasink_topic_ready", "1 if the topic was found usable since the start.", ready),
	}
	for r := tooLarge; r < reasons; r++ {
		set = append(set, metric.Total("shortline_kafkasink_refusals_total",
			"Messages rejected by a broker, by reason: too large, invalid, unknown topic, or unauthorized.", c.refusals[r].Load, "reason",
			r.String()))
	}
	return set
}
