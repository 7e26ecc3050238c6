package kafkasource_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const topic = "clicks"

// versions limits the test's own requests to protocol versions that use topic names instead of ids.
var versions = kgo.MaxVersions(kversion.V3_0_0())

var quiet = slog.New(slog.DiscardHandler)

func cluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.GroupMinSessionTimeout(100*time.Millisecond))...)
	testkit.Must(t, err)
	t.Cleanup(c.Close)
	return c
}

// writer writes frames to the topic with another client library.
type writer struct {
	*testing.T
	topic  string
	client *kgo.Client
	next   map[click.Lane]uint64
	clicks int
	frames int
}

func newWriter(t *testing.T, c *kfake.Cluster) *writer {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.MetadataMinAge(10*time.Millisecond), versions)
	testkit.Must(t, err)
	t.Cleanup(client.Close)
	return &writer{T: t, topic: topic, client: client, next: map[click.Lane]uint64{}}
}

func (w *writer) raw(partition int32, value []byte) {
	w.Helper()
	if err := w.client.ProduceSync(w.Context(), &kgo.Record{Topic: w.topic, Partition: partition, Value: value}).FirstErr(); err != nil {
		w.Fatalf("write: %v", err)
	}
	w.frames++
}

// frame makes the next n clicks of a lane.
func (w *writer) frame(lane click.Lane, n int) []byte {
	b := click.Batch{Lane: lane, First: w.next[lane] + 1, Count: n}
	for range n {
		w.next[lane]++
		b.Records = click.AppendRecord(b.Records, &click.Event{Seq: w.next[lane], Time: 1, Link: w.next[lane]})
	}
	return click.AppendBatch(nil, &b)
}

func (w *writer) write(partition int32, lane click.Lane, n int) {
	w.Helper()
	w.clicks += n
	w.raw(partition, w.frame(lane, n))
}

// recorder is a sink that records clicks, and fails or blocks on request.
type recorder struct {
	t testing.TB

	mu      sync.Mutex
	high    map[click.Lane]uint64
	clicks  int // distinct ones
	raw     int
	batches int
	busy    map[click.Lane]bool

	before func(b *click.Batch) error // called without holding mu
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{t: t, high: map[click.Lane]uint64{}, busy: map[click.Lane]bool{}}
}

func (r *recorder) Deliver(_ context.Context, b *click.Batch) error {
	if r.before != nil {
		if err := r.before(b); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches++
	d := click.NewDecoder(b)
	var e click.Event
	for {
		more, err := d.Next(&e)
		if err != nil || !more {
			return err
		}
		r.raw++
		switch high := r.high[b.Lane]; {
		case e.Seq == high+1:
			r.high[b.Lane] = e.Seq
			r.clicks++
		case e.Seq > high:
			r.t.Errorf("%+v: %d comes after %d", b.Lane, e.Seq, high)
		}
	}
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clicks
}

// run runs a member until the returned function is called.
func run(t *testing.T, c *kfake.Cluster, sink click.Sink, change func(*kafkasource.Config)) (*kafkasource.Source, func()) {
	t.Helper()
	return runOn(t, c.ListenAddrs(), sink, change)
}

func runOn(t *testing.T, brokers []string, sink click.Sink, change func(*kafkasource.Config)) (*kafkasource.Source, func()) {
	t.Helper()
	cfg := kafkasource.Config{Kafka: kafkaconn.Settings{Brokers: brokers, Topic: topic}, Session: time.Second,
		Commit:  20 * time.Millisecond,
		Timeout: 3 * time.Second, Logger: quiet}
	if change != nil {
		change(&cfg)
	}
	s, err := kafkasource.New(cfg, sink)
	testkit.Must(t, err)
	end := testkit.Run(t, s.Run)
	stop := sync.OnceFunc(func() {
		defer testkit.Within(t, 8*time.Second, time.Now(), "the stop")
		end()
	})
	t.Cleanup(stop)
	return s, stop
}

// committed returns the sum of the group's offsets.
func committed(t *testing.T, c *kfake.Cluster, partitions int32) (sum int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), versions)
	testkit.Must(t, err)
	defer client.Close()
	req := kmsg.NewOffsetFetchRequest()
	req.Group = "ingest"
	rg := kmsg.NewOffsetFetchRequestGroup()
	rg.Group = req.Group
	gt := kmsg.NewOffsetFetchRequestGroupTopic()
	gt.Topic = topic
	for p := range partitions {
		gt.Partitions = append(gt.Partitions, p)
	}
	rg.Topics = append(rg.Topics, gt)
	req.Groups = append(req.Groups, rg)
	res, err := req.RequestWith(t.Context(), client)
	testkit.Must(t, err)
	for _, g := range res.Groups {
		for _, tp := range g.Topics {
			for _, p := range tp.Partitions {
				sum += max(0, p.Offset)
			}
		}
	}
	return sum
}

func lane(n int) click.Lane { return click.Lane{Edge: uint64(n / 4), Epoch: 1, Lane: uint8(n % 4)} }

func TestRun_delivers_commits_and_goes_on(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(2), kfake.SeedTopics(4, topic))
	w := newWriter(t, c)
	all := newRecorder(t)
	// Messages written before the first reader starts count too.
	for i := range 40 {
		w.write(int32(i%4), lane(i%12), 5)
	}
	s, stop := run(t, c, all, nil)
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	for i := range 40 {
		w.write(int32(i%4), lane(i%12), 5)
	}
	testkit.Eventually(t, "more is delivered", func() bool { return all.count() == w.clicks })
	testkit.Eventually(t, "offsets are committed", func() bool { return committed(t, c, 4) == int64(w.frames) })
	if st := s.Stats(); st.Lag != 0 || st.Partitions != 4 || st.Dead != 0 || st.LastCommitted.IsZero() || st.Messages != uint64(w.frames) {
		t.Errorf("%+v", st)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s)
	if families, err := registry.Gather(); err != nil || len(families) < 10 {
		t.Errorf("%d metrics, %v", len(families), err)
	}
	stop()
	before := all.raw
	w.write(0, lane(0), 3)
	_, _ = run(t, c, all, nil)
	testkit.Eventually(t, "a new member goes on", func() bool { return all.count() == w.clicks })
	if all.raw != before+3 {
		t.Errorf("%d clicks were repeated although they were committed", all.raw-before-3)
	}
}

// Many small messages of a lane are delivered as few batches.
func TestRun_joins_neighbours(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	for i := range 200 {
		w.write(0, lane(i%2), 3)
	}
	all := newRecorder(t)
	run(t, c, all, nil)
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	if all.batches > 20 {
		t.Errorf("200 messages came as %d batches", all.batches)
	}
}

func TestRun_puts_aside_what_is_no_clicks(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	w.write(0, lane(0), 5)
	w.raw(0, []byte("hello"))
	w.raw(0, nil)
	flipped := w.frame(lane(1), 5) // no other writer uses lane 1, so the gap is not the reader's fault
	flipped[len(flipped)-1] ^= 1
	w.raw(0, flipped)
	// This frame is valid but its records are not, which only the sink can detect.
	b := click.Batch{Lane: lane(0), First: 6, Count: 1, Records: click.AppendRecord(nil, &click.Event{Seq: 77, Link: 1})}
	w.raw(0, click.AppendBatch(nil, &b))
	w.write(0, lane(0), 5)
	all := newRecorder(t)
	dir := filepath.Join(t.TempDir(), "dead")
	s, _ := run(t, c, all, func(cfg *kafkasource.Config) { cfg.DeadDir = dir })
	testkit.Eventually(t, "what is behind is delivered", func() bool { return all.count() == w.clicks })
	testkit.Eventually(t, "all is committed", func() bool { return committed(t, c, 1) == int64(w.frames) })
	if st := s.Stats(); st.Dead != 4 {
		t.Errorf("%+v", st)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "clicks-0-1.frame"))
	if err != nil || string(kept) != "hello" {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// Clicks of a newer edge are not discarded: their partition waits, and only that one.
func TestRun_waits_with_a_newer_schema(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	w := newWriter(t, c)
	newer := w.frame(lane(9), 1)
	newer[4]++
	w.raw(0, newer)
	w.raw(0, w.frame(lane(0), 5))
	w.write(1, lane(1), 5)
	all := newRecorder(t)
	// There is room for one partition. The waiting partition must leave it to the other one.
	s, stop := run(t, c, all, func(cfg *kafkasource.Config) { cfg.InFlightBytes = 1 })
	testkit.Eventually(t, "the other partition is delivered", func() bool { return all.count() == w.clicks })
	testkit.Eventually(t, "it is tried again", func() bool { return s.Stats().Failures > 3 })
	stop()
	if all.count() != w.clicks || committed(t, c, 2) != 1 || s.Stats().Dead != 0 {
		t.Errorf("%d clicks, offset %d, %+v", all.count(), committed(t, c, 2), s.Stats())
	}
}

func TestRun_waits_while_the_sink_fails(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	w := newWriter(t, c)
	all := newRecorder(t)
	var mu sync.Mutex
	failing, failed := true, 0
	all.before = func(*click.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		if failing {
			failed++
			return errors.New("the store is away")
		}
		return nil
	}
	s, _ := run(t, c, all, nil)
	for i := range 20 {
		w.write(int32(i%2), lane(i%2), 5)
	}
	testkit.Eventually(t, "several tries fail", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return failed > 8
	})
	if n := committed(t, c, 2); n != 0 {
		t.Errorf("%d messages are committed but not delivered", n)
	}
	mu.Lock()
	failing = false
	mu.Unlock()
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	if st := s.Stats(); st.Generations != 1 {
		t.Errorf("the group was joined %d times: a failing sink must not cost the membership", st.Generations)
	}
}
