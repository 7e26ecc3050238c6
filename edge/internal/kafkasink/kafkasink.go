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
// A click that is too large for the topic all by itself, which takes a topic made for messages of less than four
// kilobytes, is put aside in a file and counted, because nothing else would ever be delivered after it.
package kafkasink

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"

	"github.com/shortline/shortline/shared/click"
)

// Config holds the settings. Brokers and Topic are required.
type Config struct {
	Brokers []string // host:port of some brokers, to find the others by
	Topic   string   // must exist
	// Dir is a folder of this sink's own, made if it is missing: which partitions lanes go to, and clicks that
	// were put aside. It belongs with the spool, which is drained by one process at a time.
	Dir string
	// Timeout bounds one message, connecting included; 0 means 10 s. The broker is told half of it.
	Timeout time.Duration
	// TLS, if set, encrypts; SASL, if set, signs in.
	TLS  *tls.Config
	SASL sasl.Mechanism
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Validate reports every setting that makes no sense.
func (c Config) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("kafka: "+format, args...))
	}
	if len(c.Brokers) == 0 {
		refuse("no brokers are given")
	}
	for _, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			refuse("broker %q is not host:port", b)
		}
	}
	if c.Topic == "" {
		refuse("no topic is given")
	}
	if c.Dir == "" {
		refuse("no folder is given")
	}
	if c.Timeout < 0 {
		refuse("a timeout of %v", c.Timeout)
	}
	return errors.Join(problems...)
}

// refreshEvery bounds how often connections and what is known of the cluster are thrown away after failures.
const refreshEvery = 250 * time.Millisecond

// Sink is a click.Sink, safe for concurrent use.
type Sink struct {
	cfg       Config
	log       *slog.Logger
	transport *kafka.Transport
	client    *kafka.Client
	lanes     *lanes

	mu        sync.Mutex
	refreshed time.Time

	messages, bytes, failures, splits, asides atomic.Uint64
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
	known, err := openLanes(cfg.Dir, cfg.Topic)
	if err != nil {
		return nil, err
	}
	transport := &kafka.Transport{
		DialTimeout:    min(5*time.Second, cfg.Timeout),
		IdleTimeout:    time.Minute,
		MetadataTTL:    5 * time.Second,
		MetadataTopics: []string{cfg.Topic},
		ClientID:       "shortline-edge",
		TLS:            cfg.TLS,
		SASL:           cfg.SASL,
	}
	return &Sink{
		cfg: cfg, log: cfg.Logger, lanes: known, transport: transport,
		client: &kafka.Client{Addr: kafka.TCP(cfg.Brokers...), Timeout: cfg.Timeout, Transport: transport},
	}, nil
}

// Close lets go of connections. Nothing may be under way.
func (s *Sink) Close() error {
	s.transport.CloseIdleConnections()
	return s.lanes.close()
}

// Check asks the cluster for the topic: whether it is there, and each partition has somebody to write to. It is
// for the start of a program, where a wrong setting should be seen; an edge can do without the answer.
func (s *Sink) Check(ctx context.Context) error {
	t, err := s.topic(ctx)
	if err != nil {
		s.refresh()
		return err
	}
	var without []int
	for _, p := range t.Partitions {
		if p.Leader.Host == "" {
			without = append(without, p.ID)
		}
	}
	if len(without) > 0 {
		s.refresh()
		return fmt.Errorf("kafka: topic %s: partitions %v have no leader", s.cfg.Topic, without)
	}
	return nil
}

// topic describes the topic as last heard of; the transport keeps that fresh.
func (s *Sink) topic(ctx context.Context) (kafka.Topic, error) {
	m, err := s.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{s.cfg.Topic}})
	if err != nil {
		return kafka.Topic{}, fmt.Errorf("kafka: no answer from %s: %w", strings.Join(s.cfg.Brokers, ", "), err)
	}
	for _, t := range m.Topics {
		switch {
		case t.Name != s.cfg.Topic:
		case errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			return kafka.Topic{}, fmt.Errorf("kafka: topic %s does not exist; it is for the operator to make: %w", s.cfg.Topic, t.Error)
		case t.Error != nil:
			return kafka.Topic{}, fmt.Errorf("kafka: topic %s: %w", s.cfg.Topic, t.Error)
		case len(t.Partitions) == 0:
			return kafka.Topic{}, fmt.Errorf("kafka: topic %s has no partitions", s.cfg.Topic)
		default:
			return t, nil
		}
	}
	return kafka.Topic{}, fmt.Errorf("kafka: %s say nothing of topic %s", strings.Join(s.cfg.Brokers, ", "), s.cfg.Topic)
}

// Deliver implements click.Sink.
func (s *Sink) Deliver(ctx context.Context, b *click.Batch) error {
	if b.Count == 0 {
		return nil
	}
	err := s.deliver(ctx, b)
	if err != nil {
		s.failures.Add(1)
		if ctx.Err() == nil {
			s.refresh()
		}
	}
	return err
}

func (s *Sink) deliver(ctx context.Context, b *click.Batch) error {
	t, err := s.topic(ctx)
	if err != nil {
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

// produce sends the batch, in halves where the topic refuses it as too large.
func (s *Sink) produce(ctx context.Context, partition int, b *click.Batch) error {
	// The frame is in memory of its own for each try: after a timeout a connection may still be writing it.
	frame := click.AppendBatch(make([]byte, 0, len(b.Records)+64), b)
	res, err := s.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: s.cfg.Topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Zstd,
		Records: kafka.NewRecordReader(kafka.Record{Time: time.Now(), Value: kafka.NewBytes(frame)}),
	})
	if err == nil {
		err = res.Error
	}
	switch {
	case err == nil:
		s.messages.Add(1)
		s.bytes.Add(uint64(len(frame)))
		return nil
	case !errors.Is(err, kafka.MessageSizeTooLarge) && !errors.Is(err, kafka.RecordListTooLarge):
		return fmt.Errorf("kafka: write to %s/%d: %w", s.cfg.Topic, partition, err)
	case b.Count == 1:
		return s.putAside(b, frame)
	}
	if s.splits.Add(1) == 1 {
		s.log.Warn("kafka: the topic takes smaller messages than an edge sends, which costs time: raise max.message.bytes to 1048588 or more",
			"topic", s.cfg.Topic, "bytes", len(frame))
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

// refresh throws away connections, of which all may be dead when one is, and what is known of partitions'
// leaders. The next call learns it anew.
func (s *Sink) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.refreshed) >= refreshEvery {
		s.refreshed = time.Now()
		s.transport.CloseIdleConnections()
	}
}
