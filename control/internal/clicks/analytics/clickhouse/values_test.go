package clickhouse_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Breakdowns read the heavy rows of builds from rollup_values, and other rows from rollup_visits. Builds of an earlier release have
// no heavy rows. Values that are wrong are detected and not used.
func TestStore_values_of_heavy_rows(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	cfg := clickhouse.Config{URL: url}
	s := open(t, cfg)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(20, 1500, start, 3)}))
	dims := []analytics.Dimension{analytics.Country, analytics.City, analytics.Referer, analytics.Site, analytics.UTMSource, analytics.Language}
	breakdowns := func() (list []map[analytics.Dimension][]analytics.Count) {
		t.Helper()
		for _, scope := range []analytics.Scope{{}, {Links: []uint64{1}}, {Owner: 1}, {Bots: analytics.OnlyBots}, {From: start.Add(time.Hour).UnixMilli(), To: start.Add(31 * time.Hour).UnixMilli()}} {
			found, err := s.Breakdown(t.Context(), scope, dims, 50)
			testkit.Must(t, err)
			list = append(list, found)
		}
		return list
	}
	want := breakdowns() // of the clicks
	same := func(what string) {
		t.Helper()
		if got := breakdowns(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
	}
	testkit.Must(t, s.Rebuild(t.Context(), distant))
	same("from the rollups")
	if got, err := server.Ask(t.Context(), "SELECT uniqExact(heavy) FROM rollup_visits"); err != nil || got != "2" {
		t.Fatalf("the rows are not of both kinds: %q, %v", got, err)
	}
	end := start.AddDate(0, 0, 4)
	if drift, err := s.Drift(t.Context(), start, end); err != nil || len(drift.Hours) != 0 || drift.Intervals == 0 {
		t.Errorf("Drift = %+v, %v", drift, err)
	}

	ask(t, server, "ALTER TABLE rollup_values DELETE WHERE dim = 'city' AND slot % 2 = 0 SETTINGS mutations_sync = 2")
	if reflect.DeepEqual(breakdowns(), want) {
		t.Fatal("the values are not read")
	}
	if drift, err := s.Drift(t.Context(), start, end); err != nil || len(drift.Hours) == 0 {
		t.Errorf("Drift of incomplete values = %+v, %v", drift, err)
	}
	same("after the values were found incomplete")

	// The earlier release knows neither the column nor the tables.
	for _, view := range []string{"rollup_valued", "rollup_owner_visited", "rollup_owner_sampled", "rollup_owner_counted"} {
		ask(t, server, "DROP VIEW "+view)
	}
	for _, table := range []string{"rollup_values", "rollup_day_values", "rollup_day_builds", "rollup_owner_visits", "rollup_owner_sample", "rollup_owner_counts"} {
		ask(t, server, "DROP TABLE "+table)
	}
	ask(t, server, "ALTER TABLE rollup_visits DROP INDEX light")
	ask(t, server, "ALTER TABLE rollup_visits DROP COLUMN heavy")
	ask(t, server, "ALTER TABLE migrations DELETE WHERE version >= 11 SETTINGS mutations_sync = 2")
	testkit.Must(t, s.Close())
	s = open(t, cfg)
	same("after the upgrade")
	err := errors.Join(s.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(21, 100, start, 1)}), s.Rebuild(t.Context(), distant))
	testkit.Must(t, err)
	if drift, err := s.Drift(t.Context(), start, end); err != nil || len(drift.Hours) != 0 {
		t.Errorf("Drift after the upgrade = %+v, %v", drift, err)
	}
	found, err := s.Breakdown(t.Context(), analytics.Scope{Bots: analytics.Everyone}, []analytics.Dimension{analytics.Language}, 100)
	total := int64(0)
	for _, c := range found[analytics.Language] {
		total += c.Clicks
	}
	if err != nil || total != 1600 {
		t.Errorf("%d clicks by language after the upgrade, want 1600: %v", total, err)
	}
}
