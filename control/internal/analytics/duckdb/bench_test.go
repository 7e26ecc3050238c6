package duckdb_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/analytics"
	"github.com/shortline/shortline/control/internal/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/analytics/duckdb"
)

// load inserts n clicks as ingest would at full speed, and says how many a second.
func load(b *testing.B, s *duckdb.Store, n, batch int) float64 {
	b.Helper()
	rows := analyticstest.Clicks(1, n, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 30)
	// Clicks come about in the order of time.
	slices.SortFunc(rows, func(a, b analytics.Row) int { return cmp.Compare(a.Time, b.Time) })
	for i := range rows {
		rows[i].Seq = uint64(i + 1)
	}
	start := time.Now()
	for len(rows) > 0 {
		part := rows[:min(batch, len(rows))]
		if err := s.Insert(b.Context(), analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}}); err != nil {
			b.Fatal(err)
		}
		rows = rows[len(part):]
	}
	return float64(n) / time.Since(start).Seconds()
}

func BenchmarkInsert(b *testing.B) {
	for name, batch := range map[string]int{"batch=1000": 1000, "batch=10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				path := filepath.Join(b.TempDir(), "clicks")
				s := open(b, path)
				b.ReportMetric(load(b, s, 100_000, batch), "clicks/s")
				if wal, err := os.Stat(path + ".wal"); err == nil {
					b.ReportMetric(float64(wal.Size())/1e6, "MB-log")
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens a file whose log is as long as it gets, as after a kill.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "clicks")
	s := open(b, path)
	load(b, s, 200_000, 5000)
	longest := int64(0)
	rows := analyticstest.Clicks(2, 60_000, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), 30)
	copyPath := filepath.Join(dir, "killed")
	for at := 0; at < len(rows); at += 2000 {
		part := rows[at : at+2000]
		if err := s.Insert(b.Context(), analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}}); err != nil {
			b.Fatal(err)
		}
		if wal, err := os.Stat(path + ".wal"); err == nil && wal.Size() > longest {
			longest = wal.Size()
			copyFile(b, path, copyPath)
			copyFile(b, path+".wal", copyPath+".wal")
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for name, from := range map[string]string{"killed": copyPath, "closed": path} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p := filepath.Join(b.TempDir(), "clicks")
				copyFile(b, from, p)
				if name == "killed" {
					copyFile(b, from+".wal", p+".wal")
				}
				b.StartTimer()
				s := open(b, p)
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			if name == "killed" {
				b.ReportMetric(float64(longest)/1e6, "MB-log")
			}
		})
	}
}

func copyFile(b *testing.B, from, to string) {
	b.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkQueries measures what reports ask, on a million clicks, all in the period asked for.
func BenchmarkQueries(b *testing.B) {
	if testing.Short() {
		b.Skip("loads a million clicks")
	}
	s := open(b, filepath.Join(b.TempDir(), "clicks"))
	defer s.Close()
	b.Logf("%.0f clicks/s", load(b, s, 1_000_000, 10_000))
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	scope := analytics.Scope{From: time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli(), To: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}
	one := scope
	one.Links = []uint64{1}
	dims := []analytics.Dimension{analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS, analytics.Browser, analytics.Referer,
		analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent}
	ctx := context.Background()
	lines := func(q analytics.Query) func() error {
		return func() error { _, err := s.Lines(ctx, q); return err }
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"totals", lines(analytics.Query{Scope: scope, Visitors: true})},
		{"days", lines(analytics.Query{Scope: scope, ByDay: true, Zone: zone, Visitors: true})},
		{"breakdown", func() error { _, err := s.Breakdown(ctx, scope, dims, 11); return err }},
		{"top_links", lines(analytics.Query{Scope: scope, ByLink: true, TopFirst: true, Limit: 10})},
		{"one_link_days", lines(analytics.Query{Scope: one, ByDay: true, Zone: zone, Visitors: true})},
		{"counters", lines(analytics.Query{ByLink: true})},
		{"recent", func() error {
			return s.Clicks(ctx, scope, 20, func(*analytics.Row) error { return nil })
		}},
		{"export_10000", func() error {
			return s.Clicks(ctx, scope, 10_000, func(*analytics.Row) error { return nil })
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
