package clickhouse_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// dayWorld is a store with clicks on three whole days.
type dayWorld struct {
	*testing.T
	server *clickhousetest.Server
	*clickhouse.Store
	start time.Time
	edge  uint64 // of the latest clicks
}

var dayDims = []analytics.Dimension{analytics.Country, analytics.City, analytics.Referer}

func newDayWorld(t *testing.T) *dayWorld {
	t.Helper()
	server, url := database(t)
	w := &dayWorld{T: t, server: server, start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), edge: 20}
	w.Store = open(t, clickhouse.Config{URL: url})
	t.Cleanup(func() { _ = w.Close() })
	w.store(1500, 3)
	w.build()
	return w
}

func (w *dayWorld) store(n, days int) {
	w.Helper()
	w.edge++
	testkit.Must(w, w.Insert(w.Context(), analytics.Batch{Rows: analyticstest.Clicks(w.edge, n, w.start, days)}))
}

func (w *dayWorld) build() {
	w.Helper()
	testkit.Must(w, w.Rebuild(w.Context(), distant))
}

// scopes are: everything, whole days, a part of each of several days, one day, and a part of two days.
func (w *dayWorld) scopes() []analytics.Scope {
	at := func(hours int) int64 { return w.start.Add(time.Duration(hours) * time.Hour).UnixMilli() }
	return []analytics.Scope{{}, {From: at(0), To: at(72)}, {From: at(5), To: at(50), Links: []uint64{1}},
		{From: at(24), To: at(48), Owner: 1}, {From: at(20), To: at(28)}}
}

func (w *dayWorld) breakdowns() (list []map[analytics.Dimension][]analytics.Count) {
	w.Helper()
	for _, scope := range w.scopes() {
		found, err := w.Breakdown(w.Context(), scope, dayDims, 40)
		testkit.Must(w, err)
		list = append(list, found)
	}
	return list
}

// rows checks that the breakdowns are those of the clicks, which a mark of all slots makes reports read.
func (w *dayWorld) rows(what string) {
	w.Helper()
	got := w.breakdowns()
	ask(w.T, w.server,
		"INSERT INTO rollup_marks (slot, writer, n) SELECT DISTINCT slot, 77, (SELECT max(n) + 1 FROM rollup_marks) FROM rollup_marks")
	if want := w.breakdowns(); !reflect.DeepEqual(got, want) {
		w.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
	w.build()
}

func (w *dayWorld) count(statement, want string) {
	w.Helper()
	if got, err := w.server.Ask(w.Context(), statement); err != nil || got != want {
		w.Errorf("%s: %s, %v, want %s", statement, got, err, want)
	}
}

// Breakdowns read whole days from the rows that were added up by day, and only while they are made of the builds that count. Drift
// finds wrong ones.
func TestStore_values_of_days(t *testing.T) {
	t.Parallel()
	w := newDayWorld(t)
	want := w.breakdowns()
	w.count("SELECT count() FROM rollup_day_builds", "3")
	ask(t, w.server, "ALTER TABLE rollup_day_values DELETE WHERE dim = 'city' SETTINGS mutations_sync = 2")
	if reflect.DeepEqual(w.breakdowns(), want) {
		t.Fatal("the days are not read")
	}
	end := w.start.AddDate(0, 0, 4)
	if drift, err := w.Drift(t.Context(), w.start, end); err != nil || len(drift.Hours) != 3 {
		t.Errorf("Drift of incomplete days = %+v, %v", drift, err)
	}
	if got := w.breakdowns(); !reflect.DeepEqual(got, want) {
		t.Errorf("after the days were found incomplete:\n got %+v\nwant %+v", got, want)
	}
	w.build()
	w.rows("after the days were built again")

	w.store(40, 2) // late
	w.rows("with late clicks")
	if drift, err := w.Drift(t.Context(), w.start, end); err != nil || len(drift.Hours) != 0 {
		t.Errorf("Drift after everything was built = %+v, %v", drift, err)
	}
}

// A report that was planned before a slot is built again reads all rollups as they were then.
func TestStore_days_are_read_with_their_builds(t *testing.T) {
	t.Parallel()
	w := newDayWorld(t)
	scope := analytics.Scope{From: w.start.UnixMilli(), To: w.start.AddDate(0, 0, 3).UnixMilli()}
	want, err := w.Breakdown(t.Context(), scope, dayDims, 40)
	testkit.Must(t, err)
	read, err := w.Plan(t.Context(), scope, dayDims, 40)
	testkit.Must(t, err)
	w.store(3000, 3) // rows that were not heavy become heavy
	w.build()
	if got, err := read(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after a rebuild: %v\n got %+v\nwant %+v", err, got, want)
	}
	w.rows("planned afterwards")
}

// Sweep deletes builds of days that were replaced or not finished, and no others. An unfinished build of a day ends when the
// clicks of a workspace are deleted, because it may have read their values.
func TestStore_days_are_swept_and_forgotten(t *testing.T) {
	t.Parallel()
	w := newDayWorld(t)
	w.store(100, 1)
	w.build() // the first day again
	ask(t, w.server, "INSERT INTO rollup_begun (slot, build) SELECT max(slot), 12345 FROM rollup_day_builds")
	var rests []uint64
	for range 2 {
		var err error
		if rests, err = clickhouse.Sweep(w.Store, t.Context(), rests); err != nil {
			t.Fatal(err)
		}
	}
	w.count("SELECT (SELECT count() FROM rollup_day_builds), (SELECT uniqExact(build) FROM rollup_day_values), (SELECT count() FROM "+
		"rollup_begun WHERE build = 12345)", "3\t3\t0")
	w.rows("after the sweep")

	w.count("SELECT count() > 0 FROM rollup_day_values WHERE owner = 1", "1")
	ask(t, w.server, "INSERT INTO rollup_begun (slot, build) SELECT max(slot), 23456 FROM rollup_day_builds")
	marks, err := w.server.Ask(t.Context(), "SELECT uniqExact(writer) FROM rollup_marks")
	if err == nil {
		err = w.Forget(t.Context(), []uint64{1})
	}
	testkit.Must(t, err)
	w.count("SELECT count() FROM rollup_day_values WHERE owner = 1", "0")
	w.count("SELECT uniqExact(writer) > "+marks+" FROM rollup_marks", "1")
	w.rows("after a workspace was deleted")
}
