package kafkasink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/shared/click"
)

// putAside keeps a frame that the topic will never take, in a file named after the click in it.
func (s *Sink) putAside(b *click.Batch, frame []byte) error {
	dir := filepath.Join(s.cfg.Dir, "dead")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("kafka: put a click aside: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%016x-%d-%d-%d.frame", b.Edge, b.Epoch, b.Lane.Lane, b.First))
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("kafka: put a click aside: %w", err)
	}
	_, err = f.Write(frame)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("kafka: put a click aside: %w", err)
	}
	s.asides.Add(1)
	s.log.Error("kafka: a single click is too large for the topic and was put aside", "topic", s.cfg.Topic, "bytes", len(frame), "file", path)
	return nil
}

// Stats is a moment's account. Counters count from the start of the process.
type Stats struct {
	Messages uint64 // acknowledged
	Bytes    uint64 // of them, before compression
	Failures uint64 // deliveries whose outcome is unknown
	Splits   uint64 // batches that were too large and went in halves
	Asides   uint64 // clicks that are too large by themselves and were put aside
}

// Stats returns the account. It may be called at any time.
func (s *Sink) Stats() Stats {
	return Stats{s.messages.Load(), s.bytes.Load(), s.failures.Load(), s.splits.Load(), s.asides.Load()}
}

var (
	messagesDesc = prometheus.NewDesc("shortline_kafkasink_messages_total", "Messages that all in-sync replicas have acknowledged.", nil, nil)
	bytesDesc    = prometheus.NewDesc("shortline_kafkasink_message_bytes_total", "Bytes of acknowledged messages, before compression.", nil, nil)
	errorsDesc   = prometheus.NewDesc("shortline_kafkasink_errors_total", "Deliveries that failed or timed out, each to be repeated.", nil, nil)
	splitsDesc   = prometheus.NewDesc("shortline_kafkasink_split_batches_total", "Batches that the topic refused as too large and that went in halves.", nil, nil)
	asidesDesc   = prometheus.NewDesc("shortline_kafkasink_dead_clicks_total", "Clicks too large for the topic, put aside in files.", nil, nil)
)

// Describe and Collect make the Sink a prometheus.Collector.
func (s *Sink) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{messagesDesc, bytesDesc, errorsDesc, splitsDesc, asidesDesc} {
		ch <- d
	}
}

// Collect reads the counters of Stats.
func (s *Sink) Collect(ch chan<- prometheus.Metric) {
	st := s.Stats()
	for _, m := range []struct {
		desc  *prometheus.Desc
		value uint64
	}{{messagesDesc, st.Messages}, {bytesDesc, st.Bytes}, {errorsDesc, st.Failures}, {splitsDesc, st.Splits}, {asidesDesc, st.Asides}} {
		ch <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(m.value))
	}
}
