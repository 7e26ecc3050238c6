package kafkasource_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

// BenchmarkP10 measures the pipeline from a real Kafka broker through ingest and enrichment into ClickHouse's engine.
// It reports the clicks per CPU second of this process; broker and engine are separate processes. It also reports the
// delay until a click is stored at 10,000 clicks per second. CLICKS sets the number of clicks, GEO_DB the geo database.
func BenchmarkP10(b *testing.B) {
	clicks := 500_000
	if n, err := strconv.Atoi(os.Getenv("CLICKS")); err == nil {
		clicks = n
	}
	broker := kafkatest.Run(b, kafkatest.Config{HeapMB: 512})
	settings := kafkaconn.Settings{Brokers: []string{broker.Addr()}, Topic: topic, CreateTopic: true, Partitions: 12}
	store, err := clickhouse.Open(b.Context(), clickhouse.Config{URL: clickhousetest.Database(b)})
	testkit.Must(b, err)
	defer store.Close()
	geo, err := visitor.OpenGeo(os.Getenv("GEO_DB"))
	testkit.Must(b, err)
	seen := &delays{}
	in := ingest.New(ingest.Config{Stored: []func([]analytics.Row){seen.note}, Logger: quiet}, storetest.Open(b), store,
		ingest.NewEnricher(geo))
	conn, err := kafkaconn.Open(settings, "bench", 10*time.Second)
	testkit.Must(b, err)
	defer conn.Close()
	if _, err := conn.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	p := &producer{B: b, conn: conn}

	const each, lanes = 2500, 8
	clicks = clicks / (each * lanes) * (each * lanes)
	for range clicks / (each * lanes) {
		p.round(each, lanes)
	}
	member, err := kafkasource.New(kafkasource.Config{Kafka: settings, Reload: in.ReloadMarks, Logger: quiet}, in)
	testkit.Must(b, err)
	b.ResetTimer()
	cpu, began := cpuTime(b), time.Now()
	defer testkit.Run(b, member.Run)()
	p.until(func() bool { return in.Stats().Stored == uint64(clicks) })
	used, took := cpuTime(b)-cpu, time.Since(began)
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(clicks)/took.Seconds(), "clicks/s")
	b.ReportMetric(float64(clicks)/used.Seconds(), "clicks/cpu-s")

	// Earlier clicks are necessarily late, so only clicks from now on count.
	seen.reset()
	const seconds = 5
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for range seconds * 40 {
		p.round(25, 10)
		<-tick.C
	}
	p.until(func() bool { return in.Stats().Stored == uint64(clicks+seconds*10_000) })
	list := seen.sorted()
	b.ReportMetric(list[len(list)/2].Seconds()*1000, "ms-p50")
	b.ReportMetric(list[len(list)*99/100].Seconds()*1000, "ms-p99")
	b.ReportMetric(list[len(list)-1].Seconds()*1000, "ms-max")
}

// producer simulates edges.
type producer struct {
	*testing.B
	conn *kafkaconn.Conn
	next [16]uint64
}

// round sends one message of clicks for each lane, concurrently.
func (p *producer) round(each, lanes int) {
	var sending sync.WaitGroup
	for l := range lanes {
		f := click.Batch{Lane: click.Lane{Edge: uint64(1 + l/4), Epoch: 1, Lane: uint8(l % 4)}, First: p.next[l] + 1, Count: each}
		now := time.Now().UnixMilli()
		for range each {
			p.next[l]++
			n := p.next[l]
			f.Records = click.AppendRecord(f.Records, &click.Event{
				Seq: n, Time: now, Link: 1 + n*2654435761%5000, Owner: 1 + n%50,
				IP:      netip.AddrFrom4([4]byte{byte(1 + n%200), byte(n >> 8), byte(n >> 16), byte(l)}),
				Referer: "https://news.example/article/17",
				UserAgent: fmt.Sprintf(
					"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
					90+n%40),
			})
		}
		sending.Go(func() {
			frame := click.AppendBatch(nil, &f)
			if err := write(p.Context(), p.conn, l, frame); err != nil {
				p.Error(err)
			}
		})
	}
	sending.Wait()
}

func (p *producer) until(ok func() bool) {
	p.Helper()
	testkit.Eventually(p, "clicks are stored", func() bool {
		if p.Failed() {
			p.FailNow()
		}
		return ok()
	})
}

// delays records the age of clicks when they become readable.
type delays struct {
	mu   sync.Mutex
	list []time.Duration
}

func (d *delays) note(rows []analytics.Row) {
	now := time.Now().UnixMilli()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range rows {
		d.list = append(d.list, time.Duration(now-rows[i].Time)*time.Millisecond)
	}
}

func (d *delays) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = nil
}

func (d *delays) sorted() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.list)
	return d.list
}

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	testkit.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// write writes one message to a partition. It retries while a new topic rejects messages.
func write(ctx context.Context, conn *kafkaconn.Conn, partition int, frame []byte) error {
	for {
		res, err := conn.Client().Produce(ctx, &kafka.ProduceRequest{
			Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Zstd,
			Records: kafka.NewRecordReader(kafka.Record{Time: time.Now(), Value: kafka.NewBytes(frame)}),
		})
		if err == nil {
			err = res.Error
		}
		if !errors.Is(err, kafka.NotLeaderForPartition) {
			return err
		}
		conn.Refresh()
		backoff.Sleep(ctx, 50*time.Millisecond)
	}
}
