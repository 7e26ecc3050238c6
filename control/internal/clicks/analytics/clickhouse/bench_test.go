package clickhouse_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
)

func BenchmarkInsert(b *testing.B) {
	for name, batch := range map[string]int{"batch=1000": 1000, "batch=10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := open(b, clickhouse.Config{URL: clickhousetest.Database(b)})
				b.ReportMetric(analyticstest.Load(b, s, 100_000, batch), "clicks/s")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkQueries measures the queries of reports on a million clicks; all are in the period.
func BenchmarkQueries(b *testing.B) {
	s := open(b, clickhouse.Config{URL: clickhousetest.Database(b)})
	defer s.Close()
	b.Logf("%.0f clicks/s", analyticstest.Load(b, s, 1_000_000, 10_000))
	analyticstest.Queries(b, s, 0)
}

// BenchmarkMoved measures reports with rollups after a million links have moved.
func BenchmarkMoved(b *testing.B) {
	s := open(b, clickhouse.Config{URL: clickhousetest.Database(b)})
	defer s.Close()
	analyticstest.Load(b, s, 1_000_000, 10_000)
	if err := s.Rebuild(b.Context(), distant); err != nil {
		b.Fatal(err)
	}
	analyticstest.Moved(b, s)
}
