package kafkasource_test

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Members join and leave while clicks arrive. Every click is delivered, and lanes stay in order.
func TestRun_members_come_and_go(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(3), kfake.SeedTopics(6, topic))
	w := newWriter(t, c)
	all := newRecorder(t)
	round := func() {
		for i := range 60 {
			w.write(int32(i%6), lane(i%6), 4)
		}
	}
	first, stopFirst := run(t, c, all, nil)
	round()
	testkit.Eventually(t, "one member has all", func() bool { return first.Stats().Partitions == 6 })
	second, stopSecond := run(t, c, all, nil)
	round()
	testkit.Eventually(t, "two members share", func() bool {
		round()
		return first.Stats().Partitions == 3 && second.Stats().Partitions == 3
	})
	stopFirst()
	round()
	testkit.Eventually(t, "the second has all", func() bool { return second.Stats().Partitions == 6 })
	third, _ := run(t, c, all, nil)
	round()
	testkit.Eventually(t, "the third shares", func() bool { return third.Stats().Partitions == 3 })
	stopSecond()
	round()
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	t.Logf("%d clicks, %d repeats", all.clicks, all.raw-all.clicks)
}

// The group removes a member that is stuck in a delivery. When the member continues, its delivery is a repetition, and
// the offsets of its successor stay valid.
func TestRun_a_zombie_does_no_harm(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	all := newRecorder(t)
	stuck, wake := make(chan struct{}), make(chan struct{})
	frozen := &sleeper{Sink: all, stuck: stuck, wake: wake}
	w.write(0, lane(0), 5)
	run(t, c, frozen, nil)
	<-stuck
	// The broker rejects its heartbeats, so its generation ends. It cannot join the next one while it is stuck.
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "ingest", Err: kerr.UnknownMemberID})
	w.write(0, lane(0), 5)
	healthy, _ := run(t, c, all, nil)
	testkit.Eventually(t, "another one takes over", func() bool { return all.count() == w.clicks })
	testkit.Eventually(t, "and commits", func() bool { return committed(t, c, 1) == int64(w.frames) })
	close(wake)
	testkit.Eventually(t, "the zombie delivers", func() bool {
		all.mu.Lock()
		defer all.mu.Unlock()
		return all.raw >= w.clicks+5
	})
	w.write(0, lane(0), 5)
	testkit.Eventually(t, "clicks go on", func() bool { return all.count() == w.clicks })
	testkit.Eventually(t, "offsets too", func() bool { return committed(t, c, 1) == int64(w.frames) })
	_ = healthy
}

// sleeper is a sink whose first delivery blocks until it is woken, even if its context ends.
type sleeper struct {
	click.Sink
	once        sync.Once
	stuck, wake chan struct{}
}

func (s *sleeper) Deliver(_ context.Context, b *click.Batch) error {
	s.once.Do(func() {
		close(s.stuck)
		<-s.wake
	})
	return s.Sink.Deliver(context.Background(), b)
}

// Leaders move, brokers return errors, offsets cannot be committed for a while, and connections break.
func TestRun_through_faults(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(3), kfake.SeedTopics(4, topic))
	w := newWriter(t, c)
	all := newRecorder(t)
	run(t, c, all, nil)
	for _, f := range []kfake.Fault{
		{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: 5},
		{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.KafkaStorageError, Count: 5},
		{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.RequestTimedOut, Count: 2},
		{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.IllegalGeneration, Count: 1},
		{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.RebalanceInProgress, Count: 1},
		{Keys: []kmsg.Key{kmsg.ListOffsets, kmsg.Fetch}, Err: kerr.LeaderNotAvailable, Count: 3},
	} {
		h := c.Fault(f)
		c.ShufflePartitionLeaders()
		for i := range 40 {
			w.write(int32(i%4), lane(i%4), 4)
		}
		testkit.Eventually(t, "the fault "+f.Err.Message+" bites", func() bool {
			w.write(0, lane(0), 1)
			return h.Hits() >= f.Count
		})
		testkit.Eventually(t, "all is delivered in spite of "+f.Err.Message, func() bool { return all.count() == w.clicks })
	}
	t.Logf("%d clicks, %d repeats", all.clicks, all.raw-all.clicks)
}

// The broker stops and restarts on the same address.
func TestRun_broker_restarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic), kfake.DataDir(dir))
	_, port, err := net.SplitHostPort(c.ListenAddrs()[0])
	testkit.Must(t, err)
	number, err := strconv.Atoi(port)
	testkit.Must(t, err)
	all := newRecorder(t)
	w := newWriter(t, c)
	s, _ := run(t, c, all, nil)
	for i := range 20 {
		w.write(int32(i%2), lane(i%2), 5)
	}
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	c.Close()
	failures := s.Stats().Failures
	testkit.Eventually(t, "it is noticed", func() bool { return s.Stats().Failures > failures+3 })
	var again *kfake.Cluster
	testkit.Eventually(t, "the broker starts again", func() bool {
		again, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(number), kfake.DataDir(dir),
			kfake.GroupMinSessionTimeout(100*time.Millisecond))
		return err == nil
	})
	t.Cleanup(again.Close)
	back := time.Now()
	for i := range 20 {
		w.write(int32(i%2), lane(i%2), 5)
	}
	testkit.Eventually(t, "the rest is delivered", func() bool { return all.count() == w.clicks })
	t.Logf("all arrived %v after the broker was back, %d repeats", time.Since(back).Round(time.Millisecond), all.raw-all.clicks)
}

// Messages that expired unread are counted, and the remaining ones are read.
func TestRun_messages_expired(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	all := newRecorder(t)
	w.write(0, lane(0), 1)
	first, stop := run(t, c, all, nil)
	// Without a committed position, the next run would begin at the oldest message and count none as expired.
	testkit.Eventually(t, "one is delivered and committed", func() bool {
		return all.count() == 1 && !first.Stats().LastCommitted.IsZero()
	})
	stop()
	for range 5 {
		w.write(0, lane(1), 1)
	}
	req := kmsg.NewDeleteRecordsRequest()
	req.TimeoutMillis = 5000
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Offset = 6
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	if _, err := req.RequestWith(t.Context(), w.client); err != nil {
		t.Fatal(err)
	}
	w.write(0, lane(2), 4)
	s, _ := run(t, c, all, nil)
	testkit.Eventually(t, "the rest is delivered", func() bool { return all.count() == 5 })
	if st := s.Stats(); st.Expired != 5 {
		t.Errorf("%+v", st)
	}
}

// A group is ahead of its topic, as after a broker lost the end of its log. It reads the topic again from the
// beginning.
func TestRun_log_became_shorter(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	w.write(0, lane(0), 5)
	req := kmsg.NewOffsetCommitRequest()
	req.Group, req.Generation = "ingest", -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Offset = 1000
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	if res, err := req.RequestWith(t.Context(), w.client); err != nil || res.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(err, res)
	}
	all := newRecorder(t)
	s, _ := run(t, c, all, nil)
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	if st := s.Stats(); st.Rewinds != 1 {
		t.Errorf("%+v", st)
	}
	testkit.Eventually(t, "the offset is set right", func() bool { return committed(t, c, 1) == 1 })
}

func TestRun_stops_while_nobody_answers(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	brokers := c.ListenAddrs()
	c.Close()
	s, stop := runOn(t, brokers, newRecorder(t), nil)
	testkit.Eventually(t, "it fails", func() bool { return s.Stats().Failures > 0 })
	stop()
}
