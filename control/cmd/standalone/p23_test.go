package main_test

import (
	"fmt"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
)

// BenchmarkP23 measures the processor time of standalone with its default settings at 100 clicks a second, while nobody looks
// at a report. The budget is 8 % of one processor.
func BenchmarkP23(b *testing.B) {
	const rate, seconds, budget = 100, 20, 0.08
	p := start(b)
	u := p.Login().link(shortline.CreateLink{OriginalURL: "https://example.com/"})
	line := &keptLine{addr: p.Addr}
	defer line.close()
	visit := func(n int) {
		tick := time.NewTicker(time.Second / rate)
		defer tick.Stop()
		for i := range n {
			<-tick.C
			if !line.redirects(fmt.Sprintf("/%s?utm_content=%d", u.Slug, i)) {
				b.Error("no redirect")
			}
		}
	}
	visit(3 * rate) // the start is not measured
	for b.Loop() {
		before, began := p.metric("process_cpu_seconds_total"), time.Now()
		visit(seconds * rate)
		share := (p.metric("process_cpu_seconds_total") - before) / time.Since(began).Seconds()
		b.ReportMetric(100*share, "%processor")
		if share > budget {
			b.Errorf("P23: standalone used %.1f %% of a processor at %d clicks a second; the budget is %.0f %%",
				100*share, rate, 100*budget)
		}
	}
}
