// Package kafkaqueue writes accepted conversions to a Kafka topic. It is the convert.Queue of a control plane in a fleet.
//
// Send returns nil only when all in-sync replicas have the conversions. Conversions are repeated after an unknown outcome, so
// the topic contains repetitions, which the click store removes. Their order has no meaning, so each request goes to another
// partition, in frames of the same form as those of edges.
package kafkaqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// timeout limits each request to a broker.
const timeout = 4 * time.Second

// lanes is the number of lanes over which requests are spread. Readers deliver the lanes of a partition concurrently.
const lanes = 8

// Queue implements convert.Queue. Run prepares the topic. It is safe for concurrent use.
type Queue struct {
	topic  string
	log    *slog.Logger
	conn   *kafkaconn.Conn
	client *kafka.Client
	edge   uint64 // identity of this process among the writers of the topic
	next   atomic.Uint64
	seq    [lanes]atomic.Uint64
}

// New returns a Queue to the topic of the settings (kafkaconn.Settings.ForConversions). It does not connect.
func New(s kafkaconn.Settings, log *slog.Logger) (*Queue, error) {
	conn, err := kafkaconn.Open(s, "shortline-conversions", timeout)
	if err != nil {
		return nil, err
	}
	return &Queue{topic: s.FullTopic(), log: cmp.Or(log, slog.Default()), conn: conn, client: conn.Client(), edge: rand.Uint64()}, nil
}

// Run creates a missing topic if the settings allow it, retrying while Kafka is down, and returns nil when ctx ends.
// Conversions can be sent before; without a topic they fail.
func (r *Queue) Run(ctx context.Context) error {
	defer r.conn.Close()
	if r.conn.Settle(ctx, r.log, func() {}) {
		<-ctx.Done()
	}
	return nil
}

// Send implements convert.Queue.
func (r *Queue) Send(ctx context.Context, list []conversion.Conversion) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := r.send(ctx, list); err != nil {
		r.conn.Refresh()
		return err
	}
	return nil
}

func (r *Queue) send(ctx context.Context, list []conversion.Conversion) error {
	t, err := r.conn.Topic(ctx)
	if err != nil {
		return fmt.Errorf("kafka: describe %s: %w", r.topic, err)
	}
	if len(t.Partitions) == 0 {
		return fmt.Errorf("kafka: topic %s has no partitions", r.topic)
	}
	n := r.next.Add(1)
	lane := n % lanes
	frame := r.frame(uint8(lane), list)
	partition := t.Partitions[n%uint64(len(t.Partitions))].ID
	res, err := r.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: r.topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Zstd,
		Records: kafka.NewRecordReader(kafka.Record{Time: time.Now(), Value: kafka.NewBytes(frame)}),
	})
	if err == nil {
		err = res.Error
	}
	if len(list) > 1 && (errors.Is(err, kafka.MessageSizeTooLarge) || errors.Is(err, kafka.RecordListTooLarge)) {
		half := len(list) / 2
		if err := r.send(ctx, list[:half]); err != nil {
			return err
		}
		return r.send(ctx, list[half:])
	}
	if err != nil {
		return fmt.Errorf("kafka: write to %s/%d: %w", r.topic, partition, err)
	}
	return nil
}

// frame encodes conversions.
func (r *Queue) frame(lane uint8, list []conversion.Conversion) []byte {
	last := r.seq[lane].Add(uint64(len(list)))
	b := click.Batch{Lane: click.Lane{Edge: r.edge, Epoch: 1, Lane: lane}, First: last - uint64(len(list)) + 1, Count: len(list)}
	for i := range list {
		e := list[i].Event()
		e.Seq, e.Lane = b.First+uint64(i), lane
		b.Records = click.AppendRecord(b.Records, &e)
	}
	return click.AppendBatch(make([]byte, 0, len(b.Records)+64), &b)
}
