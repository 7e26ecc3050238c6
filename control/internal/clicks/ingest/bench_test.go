package ingest_test

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// BenchmarkDeliver measures the whole path of a click: decoding, enrichment and commit. Four lanes deliver
// concurrently, like those of one edge.
func BenchmarkDeliver(b *testing.B) {
	clicks, err := duckdb.Open(b.Context(), duckdb.Config{Path: filepath.Join(b.TempDir(), "clicks")})
	testkit.Must(b, err)
	defer clicks.Close()
	in := ingest.New(ingest.Config{}, storetest.Open(b), clicks, nil)
	const lanes, size = 4, 2500
	var records [size]click.Event
	for i := range records {
		records[i] = click.Event{Link: uint64(1 + i%500), Owner: 1, IP: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}),
			Referer: "https://news.example/article/17",
			UserAgent: fmt.Sprintf(
				"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
				90+i%40)}
	}
	first := uint64(1)
	for b.Loop() {
		var wg sync.WaitGroup
		for l := range lanes {
			wg.Go(func() {
				batch := &click.Batch{Lane: click.Lane{Edge: 1, Lane: uint8(l)}, First: first, Count: size}
				for i, e := range records {
					e.Seq = first + uint64(i)
					e.Time = 1_767_225_600_000 + int64(e.Seq)
					batch.Records = click.AppendRecord(batch.Records, &e)
				}
				if err := in.Deliver(b.Context(), batch); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		first += size
	}
	b.ReportMetric(float64(lanes*size)*float64(b.N)/b.Elapsed().Seconds(), "clicks/s")
}
