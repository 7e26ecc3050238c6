package kafkasink_test

import (
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// pipeline is a spool that is shipped to a topic while clicks are recorded.
type pipeline struct {
	*testing.T
	spool *spool.Spool
	ship  *ship.Shipper
	sink  *kafkasink.Sink
	sent  uint64
}

func newPipeline(t *testing.T, brokers []string) *pipeline {
	t.Helper()
	r := &pipeline{T: t}
	var err error
	if r.spool, err = spool.Open(spool.Config{Dir: t.TempDir(), SegmentBytes: 1 << 20, CapBytes: 64 << 20, MinFreePercent: -1,
		Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	if r.sink, err = kafkasink.New(kafkasink.Config{Kafka: kafkaconn.Settings{Brokers: brokers, Topic: topic, CreateTopic: true,
		Partitions: 6}, Dir: t.TempDir(), Timeout: 2 * time.Second, Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	cfg := ship.Config{Linger: time.Millisecond, BatchEvents: 50, RetryFirst: 5 * time.Millisecond, RetryMost: 100 * time.Millisecond,
		Logger: quiet}
	if r.ship, err = ship.New(cfg, r.spool, r.sink); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testkit.Must(t, r.spool.Close())
		testkit.Must(t, r.sink.Close())
	})
	testkit.Run(t, r.spool.Run)
	testkit.Run(t, r.ship.Run)
	return r
}

// click records n clicks, each on a different link.
func (r *pipeline) click(n int) {
	r.Helper()
	for range n {
		r.sent++
		if !r.spool.Append(uint32(r.sent), &click.Event{Time: time.Now().UnixMilli(), Link: r.sent, UserAgent: "agent"}) {
			r.Fatal("the spool is full")
		}
	}
}

// arrived waits until all clicks are acknowledged, and compares the topic with them.
func (r *pipeline) arrived(brokers []string, wantRepeats bool) {
	r.Helper()
	testkit.Eventually(r.T, "all clicks are acknowledged", func() bool { return r.ship.Stats().Events == r.sent })
	type identity struct {
		click.Lane
		seq uint64
	}
	links := map[uint64]identity{}
	seen := map[identity]bool{}
	high := map[click.Lane]uint64{}
	repeats, raw := 0, 0
	for _, m := range messages(r.T, brokers, 0) {
		d := click.NewDecoder(&m.batch)
		var e click.Event
		for {
			more, err := d.Next(&e)
			testkit.Must(r, err)
			if !more {
				break
			}
			raw++
			id := identity{m.batch.Lane, e.Seq}
			if seen[id] {
				repeats++
				continue
			}
			seen[id] = true
			if e.Seq != high[id.Lane]+1 {
				r.Errorf("lane %d: %d comes first after %d", id.Lane.Lane, e.Seq, high[id.Lane])
			}
			high[id.Lane] = e.Seq
			if _, twice := links[e.Link]; twice {
				r.Errorf("click %d has two identities", e.Link)
			}
			links[e.Link] = id
		}
	}
	if uint64(len(links)) != r.sent {
		r.Errorf("%d clicks of %d are in the topic", len(links), r.sent)
	}
	if wantRepeats && repeats == 0 {
		r.Error("nothing was repeated: the faults had no effect")
	}
	r.Logf("%d clicks, %d records in the topic, %d repeats, %d failed deliveries", r.sent, raw, repeats, r.sink.Stats().Failures)
}

// Brokers fail in every known way, leaders move, and responses get lost. Nothing is lost, the order holds, and there
// are repetitions.
func TestShip_through_faults(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(3), kfake.SeedTopics(6, topic))
	r := newPipeline(t, c.ListenAddrs())
	faults := []struct {
		name string
		do   func() *kfake.FaultHandle
	}{}
	for _, err := range []*kerr.Error{kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NotLeaderForPartition,
		kerr.NotEnoughReplicas, kerr.KafkaStorageError, kerr.UnknownTopicOrPartition} {
		faults = append(faults, struct {
			name string
			do   func() *kfake.FaultHandle
		}{err.Message, func() *kfake.FaultHandle {
			return c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: err, Count: 3})
		}})
	}
	for round := range 12 {
		f := faults[round%len(faults)]
		h := f.do()
		if round%3 == 2 {
			c.ShufflePartitionLeaders()
		}
		r.click(500)
		testkit.Eventually(t, "the fault "+f.name+" takes effect", func() bool { r.click(1); return h.Hits() >= 3 })
	}
	r.arrived(c.ListenAddrs(), true)
}

// A connection breaks after the broker has stored the message and before it has acknowledged it.
func TestShip_answers_are_cut_off(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var conns []net.Conn
	listen := func(network, address string) (net.Listener, error) {
		ln, err := net.Listen(network, address)
		return &tapped{ln, func(conn net.Conn) {
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
		}}, err
	}
	c := cluster(t, kfake.NumBrokers(2), kfake.SeedTopics(4, topic), kfake.ListenFn(listen))
	r := newPipeline(t, c.ListenAddrs())
	for range 8 {
		seen := r.ship.Stats().Failures
		took := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Observe: true, Count: -1})
		testkit.Eventually(t, "a delivery fails", func() bool {
			r.click(20)
			hits := took.Hits()
			testkit.Eventually(t, "a message comes", func() bool { return took.Hits() > hits })
			mu.Lock()
			for _, conn := range conns {
				conn.Close()
			}
			conns = nil
			mu.Unlock()
			return r.ship.Stats().Failures > seen
		})
		took.Remove()
	}
	r.arrived(c.ListenAddrs(), false)
}

type tapped struct {
	net.Listener
	tap func(net.Conn)
}

func (l *tapped) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.tap(conn)
	}
	return conn, err
}

// The broker stops and restarts on the same address with its data. The spool is drained in order.
func TestShip_broker_restarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic), kfake.DataDir(dir))
	addr := c.ListenAddrs()[0]
	_, port, err := net.SplitHostPort(addr)
	testkit.Must(t, err)
	number, err := strconv.Atoi(port)
	testkit.Must(t, err)
	r := newPipeline(t, []string{addr})
	for range 3 {
		r.click(300)
		testkit.Eventually(t, "some arrives", func() bool { return r.ship.Stats().Events > 0 })
		c.Close()
		failures := r.ship.Stats().Failures
		r.click(2000)
		testkit.Eventually(t, "deliveries fail", func() bool { return r.ship.Stats().Failures > failures+5 })
		var again *kfake.Cluster
		testkit.Eventually(t, "the broker starts again", func() bool {
			again, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(number), kfake.DataDir(dir))
			return err == nil
		})
		c = again
		t.Cleanup(c.Close)
		back := time.Now()
		r.arrived(c.ListenAddrs(), false)
		t.Logf("all arrived %v after the broker was back", time.Since(back).Round(time.Millisecond))
	}
}
