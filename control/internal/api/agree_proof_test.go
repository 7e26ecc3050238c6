//go:build proof

package api_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestAgree_clickhouse(t *testing.T) {
	t.Parallel()
	s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
	testkit.Must(t, err)
	// Fewer questions, because each costs more on a server. Reports must include clicks that arrive after the rebuild.
	agree(t, s, func() {
		testkit.Must(t, s.Rebuild(t.Context(), reportDay.AddDate(1, 0, 0)))
	}, nil, []question{{zone: "Asia/Kathmandu", start: "2026-02-10", end: "2026-03-11", few: true}}, nil)
}
