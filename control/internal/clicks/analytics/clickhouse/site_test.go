package clickhouse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A filter by site looks for the referrers of the site among the clicks of the report, not among all clicks.
func TestStore_site_filter_reads_the_clicks_of_its_links(t *testing.T) {
	t.Parallel()
	s := open(t, clickhouse.Config{URL: pool.Database(t)})
	rows := analyticstest.Clicks(17, 100, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
	site := []analytics.Match{{By: analytics.Site, Values: []string{"x.com"}}}
	from, to := rows[0].Time-1e8, rows[0].Time+1e8
	check := func(scope analytics.Scope, every analytics.Interval, table, want string) {
		t.Helper()
		scope.Match, scope.From, scope.To = site, from, to
		text, err := s.Text(t.Context(), analytics.Query{Scope: scope, Every: every})
		testkit.Must(t, err)
		_, inner, _ := strings.Cut(text, "DISTINCT referer FROM "+table)
		if inner, _, _ = strings.Cut(inner, " LIMIT"); !strings.Contains(inner, want) {
			t.Errorf("the referrers come from %s%s, want %q", table, inner, want)
		}
		if _, err := s.Lines(t.Context(), analytics.Query{Scope: scope, Every: every}); err != nil {
			t.Error(err)
		}
	}
	check(analytics.Scope{Links: []uint64{7}}, analytics.Minutes, "clicks WHERE", " AND link IN (7) AND ts >= ")
	check(analytics.Scope{}, analytics.Minutes, "clicks WHERE", " AND ts >= ")
	testkit.Must(t, s.Rebuild(t.Context(), distant))
	check(analytics.Scope{Links: []uint64{7, 8}}, analytics.NoInterval, "rollup_visits WHERE", " AND link IN (7, 8)")
	check(analytics.Scope{Owner: 2}, analytics.NoInterval, "rollup_owner_visits WHERE", " AND owner = 2")
	check(analytics.Scope{Links: []uint64{7}}, analytics.NoInterval, "clicks WHERE", " AND link IN (7)") // the ends of the period
}
