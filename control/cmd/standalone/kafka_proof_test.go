//go:build proof

package main_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// reader is a sink that counts clicks when its gate is open.
type reader struct {
	gate    chan struct{}
	waiting atomic.Bool
	clicks  atomic.Int64
}

func (r *reader) Deliver(ctx context.Context, b *click.Batch) error {
	r.waiting.Store(true)
	select {
	case <-r.gate:
		r.clicks.Add(int64(b.Count))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A group of readers that hangs, such as that of webhooks, does not delay the other one at a real broker. When it goes on, it gets
// every click.
func TestKafka_a_slow_group_delays_no_other(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t, kafkatest.Config{})
	settings := kafkaconn.Settings{Brokers: []string{b.Addr()}, Topic: "clicks", CreateTopic: true, Partitions: 6}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	runs := func(run func(context.Context) error) {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	sink, err := remote.NewSink(remote.Kafka{Kafka: settings, Dir: t.TempDir(), Timeout: 3 * time.Second, Logger: quiet})
	testkit.Must(t, err)
	t.Cleanup(func() { sink.Close() })
	runs(sink.Run)
	groups := map[string]*reader{"hooks": {gate: make(chan struct{})}, "ingest": {gate: make(chan struct{})}}
	for name, to := range groups {
		cfg := kafkasource.Config{Kafka: settings, Group: name, Session: 2 * time.Second, Timeout: 3 * time.Second, Logger: quiet}
		source, err := kafkasource.New(cfg, to)
		testkit.Must(t, err)
		runs(source.Run)
	}
	hooks, first := groups["hooks"], groups["ingest"]
	close(first.gate)
	const lanes, size = 8, 20
	seq := uint64(1)
	send := func() {
		for lane := range uint8(lanes) {
			batch := &click.Batch{Lane: click.Lane{Edge: 1, Epoch: 1, Lane: lane}, First: seq, Count: size}
			for i := range uint64(size) {
				batch.Records = click.AppendRecord(batch.Records, &click.Event{Seq: seq + i, Time: time.Now().UnixMilli(), Link: 1})
			}
			testkit.Eventually(t, "a batch is in the topic", func() bool { return sink.Deliver(ctx, batch) == nil })
		}
		seq += size
	}
	sent := func() int64 { return int64(seq-1) * lanes }
	send()
	testkit.Eventually(t, "the slow group hangs", hooks.waiting.Load)
	for began := time.Now(); time.Since(began) < 10*time.Second || sent() < 20_000; { // some sessions of the slow group
		send()
		testkit.Eventually(t, "the other group has all clicks", func() bool { return first.clicks.Load() >= sent() })
	}
	if n := hooks.clicks.Load(); n > 0 {
		t.Errorf("the slow group took %d clicks before its gate was open", n)
	}
	close(hooks.gate)
	testkit.Eventually(t, "the slow group has read all", func() bool { return hooks.clicks.Load() >= sent() })
}
