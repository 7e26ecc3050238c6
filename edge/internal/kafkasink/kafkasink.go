// Package kafkasink puts batches of clicks on a Kafka topic: it is the click.Sink of an edge whose control plane
// is somewhere else.
//
// It owns the form of a message (one click frame each, zstd) and the choice of a partition. It promises that
// Deliver returns nil only when all in-sync replicas have the batch, that a lane of one epoch always goes to one
// partition, however often this program restarts and however the topic grows meanwhile (see lanes), and that a
// batch which is too large for the topic arrives in parts. Any other error, a timeout among them, says nothing
// about whether the batch is in the topic: the caller sends it again, so a topic holds repeats, which whoever
// reads it must drop by the clicks' identities. It leaves pace and repetition to package ship.
//
// It uses Client.Produce and not kafka-go's Writer, which may deliver a message that it has reported as failed
// after the messages that came next.
//
// A click that the topic refuses for what it is, all by itself, is put aside in a file and counted, because nothing
// else would ever be delivered after it: one that is too large, which takes a topic made for messages of less than
// four kilobytes, or that the topic calls invalid. There are at most a thousand such files: a topic that refuses
// more than that refuses everything, so lanes then wait for an operator. So they do with a topic that is missing,
// or that this user may not write to: the spool has room, and nothing is wrong with the clicks.
package kafkasink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// Config holds the settings. Kafka and Dir are required.
type Config struct {
	Kafka kafkaconn.Settings
	// Dir is a folder of this sink's own, made if it is missing: which partitions lanes go to, and clicks that
	// were put aside. It belongs with the spool, which is drained by one process at a time.
	Dir string
	// Timeout bounds one message, connecting included; 0 means 10 s. The broker is told half of it.
	Timeout time.Duration
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Validate reports every setting that makes no sense.
func (c Config) Validate() error {
	var problems []error
	if err := c.Kafka.Validate(); err != nil {
		problems = append(problems, err)
	}
	if c.Dir == "" {
		problems = append(problems, errors.New("kafka: no folder is given"))
	}
	if c.Timeout < 0 {
		problems = append(problems, fmt.Errorf("kafka: a timeout of %v", c.Timeout))
	}
	return errors.Join(problems...)
}

// Sink is a click.Sink, safe for concurrent use.
type Sink struct {
	cfg    Config
	topic  string
	log    *slog.Logger
	conn   *kafkaconn.Conn
	client *kafka.Client
	lanes  *lanes
	aside  aside
	stats  counts

	mu      sync.Mutex
	pending map[click.Lane]pending
}

var _ click.Sink = (*Sink)(nil)

// New makes a sink. It connects to nobody: an edge starts while Kafka is away. The error names every problem of
// the settings, or of the folder.
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
	s := &Sink{cfg: cfg, topic: cfg.Kafka.FullTopic(), log: cfg.Logger, conn: conn, client: conn.Client(), lanes: known, pending: map[click.Lane]pending{}}
	return s, s.aside.open(cfg.Dir)
}

// Close lets go of connections. Nothing may be under way.
func (s *Sink) Close() error {
	s.conn.Close()
	return s.lanes.close()
}

// Run makes sure of the topic, which it makes if it is missing and may, and returns nil when ctx ends. It tries for
// as long as Kafka is away. Deliveries need not wait for it: they fail while there is no topic.
func (s *Sink) Run(ctx context.Context) error {
	if s.conn.Settle(ctx, s.log, func() { s.stats.failures.Add(1) }) {
		s.stats.ready.Store(true)
		<-ctx.Done()
	}
	return nil
}

// Check does once what Run does until it succeeds.
func (s *Sink) Check(ctx context.Context) error {
	_, err := s.conn.Prepare(ctx)
	return err
}

// Deliver implements click.Sink.
func (s *Sink) Deliver(ctx context.Context, b *click.Batch) error {
	if b.Count == 0 {
		return nil
	}
	s.begin(b)
	err := s.deliver(ctx, b)
	s.end(b.Lane, err)
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
		// The choice holds for this process. Only a restart together with a growing topic could now part a lane,
		// and a full disk is no reason to stop emptying it.
		s.log.Warn("kafka: the partition of a lane can't be written down", "epoch", b.Epoch, "error", err)
	}
	return s.produce(ctx, partition, b)
}

// headers carry the origin beside the frame, whose form older readers know.
func headers(o click.Origin) (list []kafka.Header) {
	if o.Edge != "" {
		list = append(list, kafka.Header{Key: kafkaconn.HeaderEdge, Value: []byte(o.Edge)})
	}
	if o.Region != "" {
		list = append(list, kafka.Header{Key: kafkaconn.HeaderRegion, Value: []byte(o.Region)})
	}
	return list
}

// produce sends the batch, in halves where the topic refuses it for what is in it.
func (s *Sink) produce(ctx context.Context, partition int, b *click.Batch) error {
	// The frame is in memory of its own for each try: after a timeout a connection may still be writing it.
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
		return s.putAside(b, frame, reason, err)
	}
	if s.stats.splits.Add(1) == 1 {
		s.log.Warn("kafka: the topic refuses batches for what is in them, so they go in halves, which costs time; where they are too large, raise max.message.bytes to 1048588 or more",
			"topic", s.topic, "bytes", len(frame), "error", err)
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
