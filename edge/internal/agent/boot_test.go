package agent_test

import (
	"fmt"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

// BenchmarkBoot measures how long it takes to load a state file of a million links with destinations of about 110 bytes.
func BenchmarkBoot(b *testing.B) {
	const links = 1_000_000
	s := newSource()
	records := make([]link.Record, links)
	for i := range records {
		r := plain(i)
		r.Key = fmt.Sprintf("%07x", uint32(i)*2654435761)
		r.Destination = fmt.Sprintf("https://shop%d.example.com/products/%x/item-%d?utm_source=mail&session=%016x%016x",
			i%5000, i*7919, i, uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0xd6e8feb86659fd93)
		records[i] = r
	}
	cur := s.put(records...)
	dir := b.TempDir()
	first := start(b, dir, s, nil)
	first.reaches(b, cur)
	first.stop()
	for b.Loop() {
		e := boot(b, dir, dead{}, nil)
		if e.Applied() != cur {
			b.Fatal(e.Applied())
		}
		e.close(b)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/million")
}
