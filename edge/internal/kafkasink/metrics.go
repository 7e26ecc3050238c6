package kafkasink

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/click"
)

// reason is why a broker refused a message. Not every failure is a refusal: most are about reaching the broker.
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

// refusal tells what the broker's error says of the message.
func refusal(err error) reason {
	switch {
	case errors.Is(err, kafka.MessageSizeTooLarge), errors.Is(err, kafka.RecordListTooLarge):
		return tooLarge
	case errors.Is(err, kafka.InvalidRecord), errors.Is(err, kafka.InvalidTimestamp), errors.Is(err, kafka.UnsupportedForMessageFormat):
		return invalid
	case errors.Is(err, kafka.UnknownTopicOrPartition), errors.Is(err, kafka.InvalidTopic):
		return unknownTopic
	case errors.Is(err, kafka.TopicAuthorizationFailed), errors.Is(err, kafka.ClusterAuthorizationFailed), errors.Is(err, kafka.SASLAuthenticationFailed):
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

// pending is a batch that Deliver was asked for and that is not acknowledged yet.
type pending struct {
	first    uint64
	oldest   int64 // Unix milliseconds of its first click; 0: not known
	inFlight bool
}

// begin and end frame a delivery. What failed stays pending: the caller asks for it again.
func (s *Sink) begin(b *click.Batch) {
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

func (s *Sink) end(lane click.Lane, err error) {
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

// Stats is a moment's account. Counters count from the start of the process.
type Stats struct {
	Messages uint64 // acknowledged
	Bytes    uint64 // of them, before compression
	Failures uint64 // deliveries whose outcome is unknown, and attempts to make sure of the topic
	Splits   uint64 // batches that were refused for what was in them and went in halves
	Asides   uint64 // clicks that were refused by themselves and put aside
	Refusals uint64 // answers by which a broker refused a message, or all of them

	Ready    bool          // Run has found the topic fit
	InFlight int           // batches that wait for an acknowledgement
	Oldest   time.Duration // age of the oldest click that was to be delivered and is not acknowledged
}

// Stats returns the account. It may be called at any time.
func (s *Sink) Stats() Stats {
	c := &s.stats
	st := Stats{Messages: c.messages.Load(), Bytes: c.bytes.Load(), Failures: c.failures.Load(), Splits: c.splits.Load(), Asides: c.asides.Load(), Ready: c.ready.Load()}
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

var (
	messagesDesc = prometheus.NewDesc("shortline_kafkasink_messages_total", "Messages that all in-sync replicas have acknowledged.", nil, nil)
	bytesDesc    = prometheus.NewDesc("shortline_kafkasink_message_bytes_total", "Bytes of acknowledged messages, before compression.", nil, nil)
	errorsDesc   = prometheus.NewDesc("shortline_kafkasink_errors_total", "Deliveries that failed or timed out, each to be repeated, and attempts to make sure of the topic.", nil, nil)
	splitsDesc   = prometheus.NewDesc("shortline_kafkasink_split_batches_total", "Batches that the topic refused for what was in them and that went in halves.", nil, nil)
	asidesDesc   = prometheus.NewDesc("shortline_kafkasink_dead_clicks_total", "Clicks that the topic refused by themselves, put aside in files.", nil, nil)
	refusedDesc  = prometheus.NewDesc("shortline_kafkasink_refusals_total", "Answers by which a broker refused a message: too large, invalid, no such topic, not allowed.", []string{"reason"}, nil)
	readyDesc    = prometheus.NewDesc("shortline_kafkasink_topic_ready", "1 when the topic was found fit for clicks since the start.", nil, nil)
	flightDesc   = prometheus.NewDesc("shortline_kafkasink_in_flight_batches", "Batches that wait for an acknowledgement.", nil, nil)
	oldestDesc   = prometheus.NewDesc("shortline_kafkasink_oldest_pending_seconds", "Age of the oldest click that was to be delivered and is not acknowledged, 0 for none.", nil, nil)
)

// Describe and Collect make the Sink a prometheus.Collector.
func (s *Sink) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{messagesDesc, bytesDesc, errorsDesc, splitsDesc, asidesDesc, refusedDesc, readyDesc, flightDesc, oldestDesc} {
		ch <- d
	}
}

// Collect reads the numbers of Stats.
func (s *Sink) Collect(ch chan<- prometheus.Metric) {
	st := s.Stats()
	for _, m := range []struct {
		desc  *prometheus.Desc
		value uint64
	}{{messagesDesc, st.Messages}, {bytesDesc, st.Bytes}, {errorsDesc, st.Failures}, {splitsDesc, st.Splits}, {asidesDesc, st.Asides}} {
		ch <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(m.value))
	}
	for r := tooLarge; r < reasons; r++ {
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(s.stats.refusals[r].Load()), r.String())
	}
	ready := 0.0
	if st.Ready {
		ready = 1
	}
	ch <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, ready)
	ch <- prometheus.MustNewConstMetric(flightDesc, prometheus.GaugeValue, float64(st.InFlight))
	ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, st.Oldest.Seconds())
}
