package analyticstest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Load inserts n clicks of one month as ingest does at full speed, in batches of the given size. It returns the clicks
// per second.
func Load(b *testing.B, s analytics.Store, n, batch int) float64 {
	b.Helper()
	rows := Clicks(1, n, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 30)
	// Clicks arrive approximately in the order of time.
	slices.SortFunc(rows, func(a, b analytics.Row) int { return cmp.Compare(a.Time, b.Time) })
	for i := range rows {
		rows[i].Seq = uint64(i + 1)
	}
	start := time.Now()
	for part := range slices.Chunk(rows, batch) {
		testkit.Must(b,
			s.Insert(b.Context(), analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}}))
	}
	return float64(n) / time.Since(start).Seconds()
}

// Processor returns the processor time of this process so far. It depends little on other load on the machine.
func Processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	testkit.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reported are the dimensions of a report.
var reported = []analytics.Dimension{analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS, analytics.Browser,
	analytics.Referer,
	analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent, analytics.Language,
	analytics.Site}

// Report measures the statements of a report about a scope, each by itself, and then all at the same time, as a report asks them. It
// reports the median.
func Report(b *testing.B, s analytics.Store, name string, scope analytics.Scope) {
	newYork, err := time.LoadLocation("America/New_York")
	testkit.Must(b, err)
	lines := func(q analytics.Query) func(context.Context) error {
		q.Scope = scope
		return func(ctx context.Context) error { _, err := s.Lines(ctx, q); return err }
	}
	parts := map[string]func(context.Context) error{
		"totals":    lines(analytics.Query{Visitors: true}),
		"days":      lines(analytics.Query{Every: analytics.Days, Zone: newYork, Visitors: true}),
		"breakdown": func(ctx context.Context) error { _, err := s.Breakdown(ctx, scope, reported, 11); return err },
	}
	if scope.Links == nil {
		parts["top_links"] = lines(analytics.Query{ByLink: true, TopFirst: true, Limit: 10})
	}
	measured := maps.Clone(parts)
	measured["whole"] = func(ctx context.Context) error {
		ctx = analytics.OneReading(ctx)
		var all errgroup.Group
		for _, part := range parts {
			all.Go(func() error { return part(ctx) })
		}
		return all.Wait()
	}
	for _, part := range slices.Sorted(maps.Keys(measured)) {
		b.Run(name+"/"+part, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				for range 5 {
					start := time.Now()
					testkit.Must(b, measured[part](b.Context()))
					took = append(took, time.Since(start))
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e6, "ms")
			b.ReportMetric(float64(took[0])/1e6, "ms-best")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Queries measures the queries of reports on a store that Load filled; all clicks are in the period. It compares the
// median and the fastest answer with budget, because other load on the machine can make the median exceed it. It also
// reports the least processor time.
func Queries(b *testing.B, s analytics.Store, budget time.Duration) {
	zone, err := time.LoadLocation("America/New_York")
	testkit.Must(b, err)
	scope := analytics.Scope{From: time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli(),
		To: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}
	one := scope
	one.Links = []uint64{1}
	german, instagram := scope, scope
	german.Match = []analytics.Match{{By: analytics.Country, Values: []string{"DE"}}}
	instagram.Match = []analytics.Match{{By: analytics.Site, Values: []string{"instagram.com"}}}
	ctx := context.Background()
	lines := func(q analytics.Query) func() error {
		return func() error { _, err := s.Lines(ctx, q); return err }
	}
	newest := func(n int) func() error {
		return func() error { return s.Clicks(ctx, scope, n, func(*analytics.Row) error { return nil }) }
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"totals", lines(analytics.Query{Scope: scope, Visitors: true})},
		{"days", lines(analytics.Query{Scope: scope, Every: analytics.Days, Zone: zone, Visitors: true})},
		{"breakdown", func() error { _, err := s.Breakdown(ctx, scope, reported, 11); return err }},
		{"top_links", lines(analytics.Query{Scope: scope, ByLink: true, TopFirst: true, Limit: 10})},
		{"one_link_days", lines(analytics.Query{Scope: one, Every: analytics.Days, Zone: zone, Visitors: true})},
		{"hours_of_the_week", lines(analytics.Query{Scope: scope, Every: analytics.WeekHours, Zone: zone})},
		{"months", lines(analytics.Query{Scope: scope, Every: analytics.Months, Zone: zone, Visitors: true})},
		{"country_days", lines(analytics.Query{Scope: german, Every: analytics.Days, Zone: zone, Visitors: true})},
		{"site_days", lines(analytics.Query{Scope: instagram, Every: analytics.Days, Zone: zone})},
		{"country_breakdown", func() error { _, err := s.Breakdown(ctx, german, reported, 11); return err }},
		{"counters", lines(analytics.Query{ByLink: true})},
		{"recent", newest(20)},
		{"export_10000", newest(10_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took, used []time.Duration
			for b.Loop() {
				start, before := time.Now(), Processor(b)
				testkit.Must(b, c.f())
				took, used = append(took, time.Since(start)), append(used, Processor(b)-before)
			}
			b.ReportMetric(float64(slices.Min(used))/1e6, "cpu-ms-best")
			b.ReportMetric(float64(slices.Min(took))/1e6, "ms-best")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/float64(budget), "x-budget")
			b.ReportMetric(float64(took[0])/float64(budget), "x-budget-best")
		})
	}
}
