//go:build proof

package kafkasource_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const mebibyte = 1 << 20

// anonymous returns the anonymous memory of this process in bytes.
func anonymous(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	testkit.Must(t, err)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			testkit.Must(t, err)
			return kib << 10
		}
	}
	t.Fatal("/proc/self/status does not say how much memory this process has")
	return 0
}

// counter is a sink that only counts.
type counter struct{ clicks atomic.Int64 }

func (c *counter) Deliver(_ context.Context, b *click.Batch) error {
	c.clicks.Add(int64(b.Count))
	return nil
}

// TestRun_catches_up_in_bounded_memory has two groups read twelve partitions after an outage, as a control plane does.
// The partitions have many small messages, like those of edges with little traffic, and some large ones. The test is
// not parallel, because it measures the memory of the process.
func TestRun_catches_up_in_bounded_memory(t *testing.T) {
	const (
		partitions  = 12
		small, some = 1_500, 5  // messages in each partition, and clicks in each message
		large, many = 16, 2_500 // likewise
		growth      = 192       // MiB, at most: half of it is garbage that is not collected yet
		kept        = 32        // MiB, after a garbage collection
		clicks      = partitions * (small*some + large*many)
	)
	settings := kafkaconn.Settings{Brokers: []string{kafkatest.Run(t, kafkatest.Config{HeapMB: 512}).Addr()}, Topic: topic,
		CreateTopic: true,
		Partitions:  partitions}
	store, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
	testkit.Must(t, err)
	defer store.Close()
	backlog(t, settings, partitions, [][2]int{{small, some}, {large, many}})

	in := ingest.New(ingest.Config{Logger: quiet}, storetest.Open(t), store, nil)
	var other counter
	debug.FreeOSMemory()
	start := anonymous(t)
	var peak atomic.Int64
	watched, stopWatch := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for watched.Err() == nil {
			peak.Store(max(peak.Load(), anonymous(t)))
			<-tick.C
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for group, sink := range map[string]click.Sink{"ingest": in, "hooks": &other} {
		cfg := kafkasource.Config{Kafka: settings, Group: group, Logger: quiet}
		if group == "ingest" {
			cfg.Reload = in.ReloadMarks
		}
		s, err := kafkasource.New(cfg, sink)
		testkit.Must(t, err)
		running.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	began := time.Now()
	read := func() (stored, passed int64) { return int64(in.Stats().Stored), other.clicks.Load() }
	for stored, passed := read(); stored < clicks || passed < clicks; { // all together may take longer than Eventually waits
		testkit.Eventually(t, fmt.Sprintf("more than %d of %d clicks are stored, or more than %d passed to the other group", stored, clicks,
			passed), func() bool {
			s, p := read()
			return s+p > stored+passed
		})
		stored, passed = read()
	}
	took := time.Since(began)
	stopWatch()
	watching.Wait()
	after := anonymous(t)

	// By itself, the collector runs after two minutes of idle time and returns memory gradually. The readers keep
	// running.
	runtime.GC()
	runtime.GC()
	var rest int64
	testkit.Eventually(t, fmt.Sprintf("at most %d MiB more than before are kept", kept), func() bool {
		rest = anonymous(t)
		return rest <= start+kept*mebibyte
	})
	cancel()
	running.Wait()
	t.Logf("%d clicks in %d messages in %.1f s; anonymous memory %d MiB, at most %d, then %d, then %d", clicks, partitions*(small+large),
		took.Seconds(), start/mebibyte, peak.Load()/mebibyte, after/mebibyte, rest/mebibyte)
	if grown := peak.Load() - start; grown > growth*mebibyte {
		t.Errorf("memory grew by %d MiB while catching up, %d are allowed", grown/mebibyte, growth)
	}
}

// backlog fills partitions, each with messages of one lane. Each kind is a number of messages and of clicks in a
// message.
func backlog(t *testing.T, settings kafkaconn.Settings, partitions int, kinds [][2]int) {
	t.Helper()
	conn, err := kafkaconn.Open(settings, "edges", 10*time.Second)
	testkit.Must(t, err)
	defer conn.Close()
	if _, err := conn.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for p := range partitions {
		writing.Go(func() {
			next := uint64(1)
			for _, kind := range kinds {
				for range kind[0] {
					if err := write(t.Context(), conn, p, visits(p, next, kind[1])); err != nil {
						t.Error(err)
						return
					}
					next += uint64(kind[1])
				}
			}
		})
	}
	writing.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// visits returns a message of clicks as an edge makes it.
func visits(edge int, first uint64, n int) []byte {
	b := click.Batch{Lane: click.Lane{Edge: uint64(1 + edge), Epoch: 1}, First: first, Count: n}
	for seq := first; seq < first+uint64(n); seq++ {
		b.Records = click.AppendRecord(b.Records, &click.Event{
			Seq: seq, Time: time.Now().UnixMilli(), Link: 1 + seq*2654435761%5000, Owner: 1 + seq%50,
			IP:      netip.AddrFrom4([4]byte{byte(1 + seq%200), byte(seq >> 8), byte(seq >> 16), byte(edge)}),
			Referer: "https://news.example/article/17",
			UserAgent: fmt.Sprintf(
				"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
				90+seq%40),
		})
	}
	return click.AppendBatch(nil, &b)
}
