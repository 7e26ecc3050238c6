package clickhouse_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Breakdowns read the heavy rows of builds from rollup_values, and other rows from rollup_visits. Values that are
// wrong are detected and not used.
func TestStore_values_of_heavy_rows(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	s := open(t, clickhouse.Config{URL: url})
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(20, 1500, start, 3)}))
	dims := []analytics.Dimension{analytics.Country, analytics.City, analytics.Referer, analytics.Site, analytics.UTMSource,
		analytics.Language}
	breakdowns := func() (list []map[analytics.Dimension][]analytics.Count) {
		t.Helper()
		for _, scope := range []analytics.Scope{{}, {Links: []uint64{1}}, {Owner: 1}, {Bots: analytics.OnlyBots},
			{From: start.Add(time.Hour).UnixMilli(), To: start.Add(31 * time.Hour).UnixMilli()}} {
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
}
