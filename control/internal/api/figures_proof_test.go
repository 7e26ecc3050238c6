//go:build proof

package api_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Reports of ClickHouse include clicks that arrive after the clicks were aggregated.
func TestAnalytics_figures_agree_clickhouse(t *testing.T) {
	st := usual(t)
	clicks, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
	testkit.Must(t, err)
	figuresAgree(clickWorldOn(t, st, clicks), func() { testkit.Must(t, clicks.Rebuild(t.Context(), reportDay.AddDate(1, 0, 0))) })
}
