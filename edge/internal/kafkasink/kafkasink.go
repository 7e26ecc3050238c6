// Package kafkasink writes batches of clicks to a Kafka topic. It is the click.Sink of an edge with a remote control
// plane.
//
// It owns the form of a message (one click frame, zstd) and the choice of the partition. Deliver returns nil only when
// all in-sync replicas have the batch. All clicks of a lane and epoch go to one partition, even if this program
// restarts or the topic grows (see lanes). A batch that is too large for the topic is sent in parts. After any other
// error, such as a timeout, the batch may or may not be in the topic. The caller sends it again, so a topic contains
// repetitions, which readers must drop by the identity of the clicks. Package ship does batching and retries.
//
// The package uses Client.Produce and not kafka-go's Writer. The Writer may deliver a message that it has reported as
// failed, even after later messages.
//
// A single click that the topic rejects because of its content is put aside in a file and counted; otherwise no later
// click could be delivered. Such a click is too large, which requires a topic for messages of less than 4 KB, or the
// broker calls it invalid. At most a thousand clicks are put aside. A topic that rejects more rejects everything, so
// lanes then wait for an operator. They also wait if the topic is missing or the user may not write to it: the spool
// has room, and the clicks are valid.
package kafkasink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/metric"
)

// Config holds the settings. Kafka and Dir are required.
type Config struct {
	Kafka kafkaconn.Settings
	// Dir is a folder for this sink only, created if it is missing. It has the partitions of lanes and the clicks that
	// were put aside. It belongs to the spool, which only one process drains at a time.
	Dir string
	// Timeout limits one message, including the connection; 0 means 10 s. The broker gets half of it as its own
	// timeout.
	Timeout time.Duration
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// Validate reports all invalid settings.
func (c Config) Validate() error {
	var problems []error
	if err := c.Kafka.Validate(); err != nil {
		problems = append(problems, err)
	}
	if c.Dir == "" {
		problems = append(problems, errors.New("kafka: the folder is not set"))
	}
	if c.Timeout < 0 {
		problems = append(problems, fmt.Errorf("kafka: the timeout must not be negative: %v", c.Timeout))
	}
	return errors.Join(problems...)
}

// Sink is a click.Sink. It is safe for concurrent use.
type Sink struct {
	metric.Set // makes it a prometheus.Collector

	cfg    Config
	topic  string
	log    *slog.Logger
	conn   *kafkaconn.Conn
	client *kafka.Client
	lanes  *lanes
	aside  deadLetters
	stats  counts
}

var _ click.Sink = (*Sink)(nil)

// New returns a sink. It does not connect, because an edge must start while Kafka is down. The error names all invalid
// settings, or a problem with the folder.
func New(cfg Config) (*Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	conn, err := kafkaconn.Open(cfg.Kafka, "shortline-edge", cfg.Timeout)
	if err != nil {
		return nil, err
	}
	known, err := openLanes(cfg.Dir, cfg.Kafka.FullTopic())
	if err != nil {
		return nil, err
	}
	s := &Sink{cfg: cfg, topic: cfg.Kafka.FullTopic(), log: cfg.Logger, conn: conn, client: conn.Client(), lanes: known}
	s.Set = s.metrics()
	return s, s.aside.open(cfg.Dir)
}

// Close closes connections. No delivery may be in progress.
func (s *Sink) Close() error {
	s.conn.Close()
	return s.lanes.close()
}

// Run prepares the topic, retrying while Kafka is down, and returns nil when ctx ends. It creates a missing topic if
// the settings allow it. Deliveries need not wait for Run: without a topic they fail.
func (s *Sink) Run(ctx context.Context) error {
	if s.conn.Settle(ctx, s.log, func() { s.stats.failures.Add(1) }) {
		s.stats.ready.Store(true)
		<-ctx.Done()
	}
	return nil
}

// Check does once what Run repeats until it succeeds.
func (s *Sink) Check(ctx context.Context) error {
	_, err := s.conn.Prepare(ctx)
	return err
}

// Deliver implements click.Sink.
func (s *Sink) Deliver(ctx context.Context, b *click.Batch) error {
	if b.Count == 0 {
		return nil
	}
	err := s.deliver(ctx, b)
	if err != nil {
		s.stats.failures.Add(1)
		if ctx.Err() == nil {
			s.conn.Refresh()
		}
	}
	return err
}

func (s *Sink) deliver(ctx context.Context, b *click.Batch) error {
	t, err := s.conn.Topic(ctx)
	if err != nil {
		s.refused(err)
		return err
	}
	partition, err := s.lanes.partition(b.Lane, len(t.Partitions))
	if err != nil {
		// The choice holds for this process. Only a restart together with a growing topic could now split a lane over
		// two partitions, and a full disk is no reason to stop draining it.
		s.log.Warn("lane partition not saved", "epoch", b.Epoch, "error", err)
	}
	return s.produce(ctx, partition, b)
}

// headers carry the origin beside the frame, because older readers know the frame's form.
func headers(o click.Origin) (list []kafka.Header) {
	if o.Edge != "" {
		list = append(list, kafka.Header{Key: kafkaconn.HeaderEdge, Value: []byte(o.Edge)})
	}
	if o.Region != "" {
		list = append(list, kafka.Header{Key: kafkaconn.HeaderRegion, Value: []byte(o.Region)})
	}
	return list
}

// produce sends the batch. If the topic rejects its content, produce sends it in halves.
func (s *Sink) produce(ctx context.Context, partition int, b *click.Batch) error {
	// Each attempt has a frame in its own memory: after a timeout, a connection may still be writing it.
	frame := click.AppendBatch(make([]byte, 0, len(b.Records)+64), b)
	res, err := s.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: s.topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Zstd,
		Records: kafka.NewRecordReader(kafka.Record{Time: time.Now(), Value: kafka.NewBytes(frame), Headers: headers(b.Origin)}),
	})
	if err == nil {
		err = res.Error
	}
	if err == nil {
		s.stats.messages.Add(1)
		s.stats.bytes.Add(uint64(len(frame)))
		return nil
	}
	reason := s.refused(err)
	switch {
	case reason != tooLarge && reason != invalid:
		return fmt.Errorf("kafka: write to %s/%d: %w", s.topic, partition, err)
	case b.Count == 1:
		return s.deadLetter(b, frame, reason, err)
	}
	if s.stats.splits.Add(1) == 1 {
		s.log.Warn("batch rejected by topic, sending halves",
			"topic", s.topic, "bytes", len(frame), "max_message_bytes_needed", kafkaconn.WantedMessageBytes, "error", err)
	}
	head, rest, err := b.Split(b.Count / 2)
	if err != nil {
		return err
	}
	if err := s.produce(ctx, partition, &head); err != nil {
		return err
	}
	return s.produce(ctx, partition, &rest)
}
