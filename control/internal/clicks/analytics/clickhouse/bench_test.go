package clickhouse_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// BenchmarkMoved measures reports with rollups after a million links have moved.
func BenchmarkMoved(b *testing.B) {
	s := open(b, clickhouse.Config{URL: clickhousetest.Database(b)})
	analyticstest.Load(b, s, 1_000_000, 10_000)
	testkit.Must(b, s.Rebuild(b.Context(), distant))
	analyticstest.Moved(b, s)
}
