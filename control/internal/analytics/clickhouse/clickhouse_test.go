package clickhouse_test

import (
	"context"
	"testing"

	"github.com/shortline/shortline/control/internal/analytics"
	"github.com/shortline/shortline/control/internal/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/analytics/clickhouse/clickhousetest"
)

func open(t testing.TB, cfg clickhouse.Config) *clickhouse.Store {
	t.Helper()
	s, err := clickhouse.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	analyticstest.Run(t, func(t *testing.T) analytics.Store {
		return open(t, clickhouse.Config{URL: clickhousetest.Database(t)})
	})
}
