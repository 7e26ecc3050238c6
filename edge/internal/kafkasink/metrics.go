package kafkasink

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/click"
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

// pending is a batch that was passed to Deliver and is not acknowledged yet.
type pending struct {
	first    uint64
	oldest   int64 // time of its first click, Unix milliseconds; 0 if unknown
	inFlight bool
}

// beginDelivery and endDelivery enclose a delivery. A failed batch stays pending, because the caller delivers it again.
func (s *Sink) beginDelivery(b *click.Batch) {
	var e click.Event
	dec := click.NewDecoder(b)
	_, err := dec.Next(&e)
	p := pending{first: b.First, inFlight: true}
	if err == nil {
		p.oldest = e.Time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[b.Lane] = p
}

func (s *Sink) endDelivery(lane click.Lane, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.pending, lane)
		return
	}
	p := s.pending[lane]
	p.inFlight = false
	s.pending[lane] = p
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

	Ready    bool          // Run has found the topic usable
	InFlight int           // batches waiting for an acknowledgement
	Oldest   time.Duration // age of the oldest click that was passed to Deliver and is not acknowledged
}

// Stats returns the current figures. It may be called at any time.
func (s *Sink) Stats() Stats {
	c := &s.stats
	st := Stats{Messages: c.messages.Load(), Bytes: c.bytes.Load(), Failures: c.failures.Load(), Splits: c.splits.Load(),
		Asides: c.asides.Load(), Ready: c.ready.Load()}
	for r := range c.refusals {
		st.Refusals += c.refusals[r].Load()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pending {
		if p.inFlight {
			st.InFlight++
		}
		if p.oldest != 0 {
			st.Oldest = max(st.Oldest, time.Since(time.UnixMilli(p.oldest)))
		}
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
		metric.Total("shortline_kafkasink_messages_total", "Messages that all in-sync replicas have acknowledged.", c.messages.Load),
		metric.Total("shortline_kafkasink_message_bytes_total", "Bytes of acknowledged messages, before compression.", c.bytes.Load),
		metric.Total("shortline_kafkasink_errors_total",
			"Deliveries that failed or timed out, each of which is retried, and failed attempts to prepare the topic.", c.failures.Load),
		metric.Total("shortline_kafkasink_split_batches_total",
			"Batches that the topic rejected because of their content. They are sent in halves.", c.splits.Load),
		metric.Total("shortline_kafkasink_dead_clicks_total", "Single clicks that the topic rejected. They are put aside in files.",
			c.asides.Load),
		metric.Gauge("shortline_kafkasink_topic_ready", "1 if the topic was found usable since the start.", ready),
		metric.Gauge("shortline_kafkasink_in_flight_batches", "Batches waiting for an acknowledgement.", func() int {
			return s.Stats().InFlight
		}),
		metric.Gauge("shortline_kafkasink_oldest_pending_seconds",
			"Age of the oldest click in a delivery that is not acknowledged; 0 if there is none.", func() float64 {
				return s.Stats().Oldest.Seconds()
			}),
	}
	for r := tooLarge; r < reasons; r++ {
		set = append(set, metric.Total("shortline_kafkasink_refusals_total",
			"Messages rejected by a broker, by reason: too large, invalid, unknown topic, or unauthorized.", c.refusals[r].Load, "reason",
			r.String()))
	}
	return set
}
