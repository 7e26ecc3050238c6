package kafkasource_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// counter is a sink that only counts.
type counter struct {
	clicks atomic.Int64
	want   int64         // all is closed when this many clicks have arrived
	all    chan struct{} // nil: nobody waits
}

func (c *counter) Deliver(_ context.Context, b *click.Batch) error {
	before := c.clicks.Add(int64(b.Count)) - int64(b.Count)
	if c.all != nil && before < c.want && before+int64(b.Count) >= c.want {
		close(c.all)
	}
	return nil
}

// BenchmarkRun reads a topic of messages with 100 clicks each, like those of an edge with some thousand visits per
// second.
func BenchmarkRun(b *testing.B) {
	const each = 100
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	next := make([]uint64, 4)
	for i := range b.N {
		at := &next[i%4]
		f := click.Batch{Lane: lane(i % 4), First: *at + 1, Count: each}
		for range each {
			*at++
			f.Records = click.AppendRecord(f.Records, &click.Event{Seq: *at, Time: 1_790_000_000_000 + int64(*at), Link: *at * 2654435761 % 1000, Owner: 3, UserAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"})
		}
		client.Produce(b.Context(), &kgo.Record{Topic: topic, Partition: int32(i % 4), Value: click.AppendBatch(nil, &f)}, nil)
	}
	if err := client.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	sink := counter{want: int64(b.N) * each, all: make(chan struct{})}
	s, err := kafkasource.New(kafkasource.Config{Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic}, Logger: quiet}, &sink)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	b.ResetTimer()
	go func() { done <- s.Run(ctx) }()
	<-sink.all
	b.StopTimer()
	b.ReportMetric(float64(b.N)*each/b.Elapsed().Seconds(), "clicks/s")
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
