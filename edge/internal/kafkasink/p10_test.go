package kafkasink_test

import (
	"context"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// BenchmarkP10 measures the edge's part of the pipeline: how many clicks per CPU second this process ships from the
// spool to a real Kafka broker, which is a separate process. Appending to the spool is not included. CLICKS sets the
// number.
func BenchmarkP10(b *testing.B) {
	clicks := 500_000
	if n, err := strconv.Atoi(os.Getenv("CLICKS")); err == nil {
		clicks = n
	}
	broker := kafkatest.Run(b, kafkatest.Config{})
	sink, err := kafkasink.New(kafkasink.Config{
		Kafka: kafkaconn.Settings{Brokers: []string{broker.Addr()}, Topic: topic, CreateTopic: true, Partitions: 12}, Dir: b.TempDir(),
		Logger: quiet,
	})
	testkit.Must(b, err)
	defer sink.Close()
	testkit.Must(b, sink.Check(b.Context()))
	store, err := spool.Open(spool.Config{Dir: b.TempDir(), SegmentBytes: 16 << 20, CapBytes: 2 << 30, MinFreePercent: -1, Logger: quiet})
	testkit.Must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer func() {
		cancel()
		running.Wait()
		store.Close()
	}()
	running.Go(func() {
		if err := store.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	for n := range uint64(clicks) {
		e := click.Event{
			Time: time.Now().UnixMilli(), Link: 1 + n*2654435761%5000, Owner: 1 + n%50,
			IP:        netip.AddrFrom4([4]byte{byte(1 + n%200), byte(n >> 8), byte(n >> 16), 1}),
			Referer:   "https://news.example/article/17",
			UserAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
		}
		testkit.Eventually(b, "the spool has a new segment", func() bool { return store.Append(uint32(n), &e) })
	}
	shipper, err := ship.New(ship.Config{Logger: quiet}, store, sink)
	testkit.Must(b, err)
	b.ResetTimer()
	cpu, began := cpuTime(b), time.Now()
	running.Go(func() {
		if err := shipper.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	testkit.Eventually(b, "all clicks are shipped", func() bool { return shipper.Stats().Events >= uint64(clicks) })
	used, took := cpuTime(b)-cpu, time.Since(began)
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(clicks)/took.Seconds(), "clicks/s")
	b.ReportMetric(float64(clicks)/used.Seconds(), "clicks/cpu-s")
	b.ReportMetric(float64(sink.Stats().Bytes)/float64(clicks), "B/click")
}

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	testkit.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
