package duckdb_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
)

func BenchmarkInsert(b *testing.B) {
	for name, batch := range map[string]int{"batch=1000": 1000, "batch=10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				path := filepath.Join(b.TempDir(), "clicks")
				s := open(b, path)
				b.ReportMetric(analyticstest.Load(b, s, 100_000, batch), "clicks/s")
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

// BenchmarkOpen opens a file with the longest possible log, as after a kill.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "clicks")
	s := open(b, path)
	analyticstest.Load(b, s, 200_000, 5000)
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

// clicksEnv sets the number of clicks in BenchmarkQueries.
const clicksEnv = "SHORTLINE_CLICKS"

// BenchmarkQueries measures the queries of reports on a million clicks, all in the period, against a budget of 100 ms
// each.
func BenchmarkQueries(b *testing.B) {
	if testing.Short() {
		b.Skip("loads a million clicks")
	}
	path := filepath.Join(b.TempDir(), "clicks")
	s := open(b, path)
	defer s.Close()
	n := 1_000_000
	if v, err := strconv.Atoi(os.Getenv(clicksEnv)); err == nil {
		n = v
	}
	b.Logf("%.0f clicks/s", analyticstest.Load(b, s, n, 10_000))
	size := func() float64 {
		if err := s.Run(b.Context(), "CHECKPOINT"); err != nil {
			b.Fatal(err)
		}
		file, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		return float64(file.Size()) / 1e6
	}
	before, start := size(), time.Now()
	if err := s.Rebuild(b.Context(), distant); err != nil {
		b.Fatal(err)
	}
	b.Logf("rollup built in %s; the file grew from %.0f to %.0f MB", time.Since(start).Round(time.Millisecond), before, size())
	analyticstest.Queries(b, s, 100*time.Millisecond)
}

// BenchmarkMoved measures reports after a million links have moved.
func BenchmarkMoved(b *testing.B) {
	if testing.Short() {
		b.Skip("loads a million clicks")
	}
	s := open(b, filepath.Join(b.TempDir(), "clicks"))
	defer s.Close()
	analyticstest.Load(b, s, 1_000_000, 10_000)
	analyticstest.Moved(b, s)
}
