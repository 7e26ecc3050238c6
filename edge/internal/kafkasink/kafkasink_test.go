package kafkasink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const topic = "clicks"

var quiet = slog.New(slog.DiscardHandler)

func cluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(opts...)
	testkit.Must(t, err)
	t.Cleanup(c.Close)
	return c
}

func open(t *testing.T, c *kfake.Cluster, dir string) *kafkasink.Sink {
	t.Helper()
	s, err := kafkasink.New(kafkasink.Config{Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic}, Dir: dir,
		Timeout: time.Minute,
		Logger:  quiet})
	testkit.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// batch makes n incompressible events of about size bytes each.
func batch(lane click.Lane, first uint64, n, size int) *click.Batch {
	rng := rand.New(rand.NewPCG(lane.Edge, first))
	b := &click.Batch{Lane: lane, First: first, Count: n}
	text := make([]byte, size)
	for i := range n {
		for j := range text {
			text[j] = ' ' + byte(rng.IntN(95))
		}
		b.Records = click.AppendRecord(b.Records, &click.Event{Seq: first + uint64(i), Time: 1, Link: first + uint64(i),
			Referer: string(text)})
	}
	return b
}

// message is one message of the topic, read by another client library.
type message struct {
	partition int32
	codec     uint8
	frame     []byte
	batch     click.Batch
}

// messages reads n messages of the tests' topic, or all of them if n is 0.
func messages(t *testing.T, brokers []string, n int) []message {
	t.Helper()
	return messagesOf(t, brokers, topic, n)
}

func messagesOf(t *testing.T, brokers []string, topic string, n int) (list []message) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	testkit.Must(t, err)
	defer client.Close()
	if n == 0 {
		n = int(ends(t, client, topic))
	}
	for len(list) < n {
		got := client.PollFetches(t.Context())
		if err := got.Err(); err != nil {
			t.Fatalf("read the topic: %v after %d of %d messages", err, len(list), n)
		}
		for r := range got.RecordsAll() {
			b, err := click.ParseBatch(r.Value)
			if err != nil {
				t.Fatalf("message %d of partition %d: %v", r.Offset, r.Partition, err)
			}
			list = append(list, message{r.Partition, r.Attrs.CompressionType(), r.Value, b})
		}
	}
	return list
}

// ends returns the number of messages in all partitions.
func ends(t *testing.T, client *kgo.Client, topic string) (sum int64) {
	t.Helper()
	m := kmsg.NewMetadataRequest()
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = &topic
	m.Topics = append(m.Topics, mt)
	meta, err := m.RequestWith(t.Context(), client)
	testkit.Must(t, err)
	req := kmsg.NewListOffsetsRequest()
	req.ReplicaID = -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for _, p := range meta.Topics[0].Partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = p.Partition, -1
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	for _, shard := range client.RequestSharded(t.Context(), &req) {
		if shard.Err != nil {
			t.Fatal(shard.Err)
		}
		for _, tp := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range tp.Partitions {
				sum += p.Offset
			}
		}
	}
	return sum
}

func TestDeliver_one_frame_a_message_and_a_partition_a_lane(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(3), kfake.SeedTopics(8, topic))
	s := open(t, c, t.TempDir())
	testkit.Must(t, s.Check(t.Context()))
	sent := map[string]bool{}
	const lanes, rounds = 4, 5
	for round := range uint64(rounds) {
		for lane := range uint8(lanes) {
			b := batch(click.Lane{Edge: 99, Epoch: 1, Lane: lane}, 1+round*10, 10, 50)
			testkit.Must(t, s.Deliver(t.Context(), b))
			sent[string(click.AppendBatch(nil, b))] = true
		}
	}
	of := map[uint8]int32{}
	next := map[uint8]uint64{}
	for _, m := range messages(t, c.ListenAddrs(), lanes*rounds) {
		if !sent[string(m.frame)] {
			t.Error("a message differs from its batch")
		}
		delete(sent, string(m.frame))
		lane := m.batch.Lane.Lane
		if p, known := of[lane]; known && p != m.partition {
			t.Errorf("lane %d is in partitions %d and %d", lane, p, m.partition)
		}
		of[lane] = m.partition
		if next[lane] != 0 && m.batch.First != next[lane] {
			t.Errorf("lane %d: got click %d, want %d", lane, m.batch.First, next[lane])
		}
		next[lane] = m.batch.First + uint64(m.batch.Count)
		if m.codec != 4 {
			t.Errorf("compression %d, want zstd", m.codec)
		}
	}
	if len(sent) != 0 {
		t.Errorf("%d messages are missing", len(sent))
	}
	different := map[int32]bool{}
	for _, p := range of {
		different[p] = true
	}
	if len(different) != lanes {
		t.Errorf("%d lanes share %d partitions of 8", lanes, len(different))
	}
	if st := s.Stats(); st.Messages != lanes*rounds || st.Failures != 0 {
		t.Errorf("%+v", st)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s)
	if families, err := registry.Gather(); err != nil || len(families) != 4 {
		t.Errorf("%d metrics, %v", len(families), err)
	}
}

func TestCheck_says_what_is_wrong(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "other"))
	gone := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	absent := open(t, gone, t.TempDir())
	gone.Close()
	for name, q := range map[string]struct {
		sink *kafkasink.Sink
		want string
	}{
		"topic":  {open(t, c, t.TempDir()), "topic clicks does not exist"},
		"nobody": {absent, "no response from"},
	} {
		err := q.sink.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), q.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := q.sink.Deliver(t.Context(), batch(click.Lane{Edge: 1, Epoch: 1}, 1, 1, 1)); err == nil {
			t.Errorf("%s: delivered", name)
		}
	}
}

func TestConfig_names_every_problem(t *testing.T) {
	t.Parallel()
	_, err := kafkasink.New(kafkasink.Config{Kafka: kafkaconn.Settings{Brokers: []string{"nowhere"}}, Timeout: -1})
	for _, want := range []string{"nowhere", "KAFKA_TOPIC", "folder", "timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not mention %q", err, want)
		}
	}
}

// A topic for small messages gets a large batch in parts, in order. A click that cannot be split is put aside.
func TestDeliver_too_large(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic), kfake.BrokerConfigs(map[string]string{"message.max.bytes": "700"}))
	dir := t.TempDir()
	s := open(t, c, dir)
	lane := click.Lane{Edge: 5, Epoch: 2, Lane: 1}
	b := batch(lane, 11, 30, 200)
	testkit.Must(t, s.Deliver(t.Context(), b))
	next := uint64(11)
	for _, m := range messages(t, c.ListenAddrs(), 0) {
		if m.batch.First != next {
			t.Fatalf("got click %d, want %d", m.batch.First, next)
		}
		next += uint64(m.batch.Count)
	}
	if next != 41 {
		t.Errorf("the clicks end at %d", next)
	}
	// One click among others is too large.
	mixed := batch(lane, 41, 3, 200)
	large := batch(lane, 44, 1, 1000)
	mixed.Records = append(mixed.Records, large.Records...)
	mixed.Count++
	testkit.Must(t, s.Deliver(t.Context(), mixed))
	frame, err := os.ReadFile(filepath.Join(dir, "dead", "0000000000000005-2-1-44.frame"))
	if err != nil || !bytes.Equal(frame, click.AppendBatch(nil, large)) {
		t.Errorf("the file put aside: %v", err)
	}
	if st := s.Stats(); st.Asides != 1 || st.Splits < 5 {
		t.Errorf("%+v", st)
	}
}

// grow adds partitions to the topic.
func grow(t *testing.T, c *kfake.Cluster, partitions int32) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	testkit.Must(t, err)
	defer client.Close()
	req := kmsg.NewCreatePartitionsRequest()
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, partitions
	req.Topics = append(req.Topics, rt)
	req.TimeoutMillis = 5000
	res, err := req.RequestWith(t.Context(), client)
	if err != nil || res.Topics[0].ErrorCode != 0 {
		t.Fatalf("grow: %v %+v", err, res)
	}
}

// A lane of one epoch stays in its partition when the topic grows and the program restarts. A new epoch uses all
// partitions.
func TestDeliver_a_topic_that_grows(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	dir := t.TempDir()
	n := 0
	deliver := func(s *kafkasink.Sink, epoch uint32, first uint64) {
		t.Helper()
		for lane := range uint8(16) {
			n++
			testkit.Must(t, s.Deliver(t.Context(), batch(click.Lane{Edge: 3, Epoch: epoch, Lane: lane}, first, 1, 1)))
		}
	}
	deliver(open(t, c, dir), 1, 1)
	// A crash left an incomplete line, which must be ignored.
	f, err := os.OpenFile(filepath.Join(dir, "partitions"), os.O_APPEND|os.O_WRONLY, 0)
	testkit.Must(t, err)
	if _, err := f.WriteString("0000000000000003 1 16"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	grow(t, c, 16)
	again := open(t, c, dir)
	deliver(again, 1, 2)
	deliver(again, 2, 1)
	deliver(open(t, c, dir), 2, 2)
	seen := map[uint32]map[int32]bool{1: {}, 2: {}}
	of := map[click.Lane]int32{}
	for _, m := range messages(t, c.ListenAddrs(), n) {
		seen[m.batch.Epoch][m.partition] = true
		if p, known := of[m.batch.Lane]; known && p != m.partition {
			t.Errorf("%+v is in partitions %d and %d", m.batch.Lane, p, m.partition)
		}
		of[m.batch.Lane] = m.partition
	}
	if len(seen[1]) != 2 || len(seen[2]) != 16 {
		t.Errorf("the first epoch is in %d partitions, the second in %d", len(seen[1]), len(seen[2]))
	}
}

// The file of partitions does not grow without limit, and keeps the newest entries.
func TestPartitions_file_is_bounded(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	dir := t.TempDir()
	var old []byte
	for i := range 2500 {
		old = append(old, "0000000000000003 "+strconv.Itoa(i)+" 1 clicks\n"...)
	}
	path := filepath.Join(dir, "partitions")
	testkit.Must(t, os.WriteFile(path, old, 0o600))
	s := open(t, c, dir)
	for lane := range uint8(8) {
		testkit.Must(t, s.Deliver(t.Context(), batch(click.Lane{Edge: 3, Epoch: 2499, Lane: lane}, 1, 1, 1)))
	}
	for _, m := range messages(t, c.ListenAddrs(), 8) {
		if m.partition != 0 {
			t.Error("a lane left its partition")
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Count(data, []byte("\n")) > 1100 {
		t.Errorf("%d lines, %v", bytes.Count(data, []byte("\n")), err)
	}
}

// A cancelled caller gets its error at once, and may reuse the records' memory: whatever is still being written is a
// copy.
func TestDeliver_ends_with_its_context(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	s := open(t, c, t.TempDir())
	b := batch(click.Lane{Edge: 1, Epoch: 1}, 1, 100, 100)
	testkit.Must(t, s.Deliver(t.Context(), b))
	held := make(chan struct{})
	arrived := make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		close(arrived)
		c.SleepControl(func() { <-held })
		return nil, nil, false
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	b2 := batch(b.Lane, 101, 100, 100)
	frame := click.AppendBatch(nil, b2)
	go func() { done <- s.Deliver(ctx, b2) }()
	<-arrived
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	clear(b2.Records)
	close(held)
	all := messages(t, c.ListenAddrs(), 2)
	if !slices.ContainsFunc(all, func(m message) bool { return bytes.Equal(m.frame, frame) }) {
		t.Error("the message in flight was changed")
	}
}

func BenchmarkDeliver(b *testing.B) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	testkit.Must(b, err)
	defer c.Close()
	s, err := kafkasink.New(kafkasink.Config{Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic}, Dir: b.TempDir(),
		Logger: quiet})
	testkit.Must(b, err)
	defer s.Close()
	one := batch(click.Lane{Edge: 1, Epoch: 1}, 1, 1000, 60)
	b.SetBytes(int64(len(one.Records)))
	for b.Loop() {
		testkit.Must(b, s.Deliver(b.Context(), one))
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "clicks/s")
}

// An outage causes many failures. None may leave a connection or a goroutine behind. Not parallel, because it counts
// goroutines.
func TestSink_failures_leave_nothing_behind(t *testing.T) {
	c := cluster(t, kfake.NumBrokers(2), kfake.SeedTopics(2, topic))
	before := runtime.NumGoroutine()
	s, err := kafkasink.New(kafkasink.Config{Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic}, Dir: t.TempDir(),
		Timeout: 100 * time.Millisecond, Logger: quiet})
	testkit.Must(t, err)
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	for range testkit.Size(20, 200) {
		if s.Deliver(t.Context(), batch(click.Lane{Edge: 1, Epoch: 1}, 1, 1, 1)) == nil {
			t.Fatal("delivered to brokers that reject everything")
		}
	}
	h.Remove()
	c.Close()
	for range testkit.Size(20, 200) {
		if s.Deliver(t.Context(), batch(click.Lane{Edge: 1, Epoch: 1}, 1, 1, 1)) == nil {
			t.Fatal("delivered without a broker")
		}
	}
	testkit.Must(t, s.Close())
	testkit.Eventually(t, fmt.Sprintf("goroutines are as few as %d", before), func() bool { return runtime.NumGoroutine() <= before })
	t.Logf("%d failures, %d goroutines before, %d after", s.Stats().Failures, before, runtime.NumGoroutine())
}

// Delivery to a silent broker ends after the timeout. The outcome is unknown; here the message arrives twice.
func TestDeliver_timeout_means_unknown(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	s, err := kafkasink.New(kafkasink.Config{Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic}, Dir: t.TempDir(),
		Timeout: 300 * time.Millisecond, Logger: quiet})
	testkit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	held := make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.SleepControl(func() { <-held })
		return nil, nil, false
	})
	b, began := batch(click.Lane{Edge: 1, Epoch: 1}, 1, 5, 50), time.Now()
	if err := s.Deliver(t.Context(), b); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent broker: %v", err)
	}
	testkit.Within(t, 5*time.Second, began, "a delivery with a timeout of 300 ms")
	close(held)
	testkit.Eventually(t, "it is delivered", func() bool { return s.Deliver(t.Context(), b) == nil })
	list := messages(t, c.ListenAddrs(), 2)
	if !bytes.Equal(list[0].frame, list[1].frame) {
		t.Error("the repetition has other bytes")
	}
}
