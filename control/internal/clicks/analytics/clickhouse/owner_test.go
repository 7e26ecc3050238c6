package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ownerWorld is a store with clicks of three owners on three days. Two links have moved to owner 2.
type ownerWorld struct {
	*testing.T
	server *clickhousetest.Server
	url    string
	*clickhouse.Store
	start time.Time
}

func newOwnerWorld(t *testing.T, exact int64) *ownerWorld {
	t.Helper()
	server, url := database(t)
	w := &ownerWorld{T: t, server: server, url: url, start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	w.open(exact)
	t.Cleanup(func() { _ = w.Close() })
	moves := []analytics.Move{{Revision: 1, Link: 3, From: 1, To: 2}, {Revision: 2, Link: 1, From: 2, To: 3},
		{Revision: 3, Link: 5, From: 3, To: 2}}
	testkit.Must(t, w.InsertMoves(t.Context(), 7, moves, analytics.Position{Revision: 3, Link: analytics.AllLinks}))
	w.store(20, 1500)
	return w
}

// open opens the store. exact is the number of visitors up to which they are counted exactly.
func (w *ownerWorld) open(exact int64) {
	w.Helper()
	w.Store = open(w.T, clickhouse.Config{URL: w.url, ExactVisitors: exact})
}

func (w *ownerWorld) store(edge uint64, n int) {
	w.Helper()
	testkit.Must(w, w.Insert(w.Context(), analytics.Batch{Rows: analyticstest.Clicks(edge, n, w.start, 3)}))
}

func (w *ownerWorld) build() {
	w.Helper()
	testkit.Must(w, w.Rebuild(w.Context(), distant))
}

// ownerReport is what reports about an owner consist of.
type ownerReport struct {
	Clicks, Visitors, Sites []analytics.Line
	Breakdown               map[analytics.Dimension][]analytics.Count
}

// reports returns the reports of an owner without moves, and of one with them.
func (w *ownerWorld) reports() (list []ownerReport) {
	w.Helper()
	for _, scope := range []analytics.Scope{{Owner: 1}, {Owner: 2, Moves: analytics.Moves{Log: 7, Through: 3}}} {
		scope.From, scope.To = w.start.UnixMilli(), w.start.AddDate(0, 0, 3).UnixMilli()
		var r ownerReport
		var errs [4]error
		r.Clicks, errs[0] = w.Lines(w.Context(), analytics.Query{Scope: scope, ByLink: true})
		r.Visitors, errs[1] = w.Lines(w.Context(), analytics.Query{Scope: scope, Every: analytics.Days, Visitors: true})
		r.Breakdown, errs[2] = w.Breakdown(w.Context(), scope, []analytics.Dimension{analytics.Country, analytics.Site}, 40)
		scope.Match = []analytics.Match{{By: analytics.Site, Values: []string{"x.com"}}}
		r.Sites, errs[3] = w.Lines(w.Context(), analytics.Query{Scope: scope, Visitors: true})
		testkit.Must(w, errors.Join(errs[:]...))
		list = append(list, r)
	}
	return list
}

func (w *ownerWorld) same(what string, want []ownerReport) {
	w.Helper()
	if got := w.reports(); !reflect.DeepEqual(got, want) {
		w.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// drift checks whether the rollups differ from the clicks.
func (w *ownerWorld) drift(what string, want bool) {
	w.Helper()
	d, err := w.Drift(w.Context(), w.start, w.start.AddDate(0, 0, 4))
	if err != nil || (len(d.Hours) > 0) != want || d.Intervals == 0 {
		w.Errorf("drift %s: %+v, %v", what, d, err)
	}
}

// Reports of an owner read the tables in the order of owners, and are those of the clicks. Drift finds rows that are missing there, and
// then reports do not read them.
func TestStore_reports_of_owners(t *testing.T) {
	t.Parallel()
	for name, exact := range testkit.Size(map[string]int64{"estimated": 100}, map[string]int64{"exact": 0, "estimated": 100}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOwnerWorld(t, exact)
			want := w.reports() // computed from the clicks, because no rollup is built yet
			w.build()
			w.same("from the rollups", want)
			w.drift("of complete tables", false)
			for i, table := range []string{"rollup_owner_counts", "rollup_owner_visits", "rollup_owner_sample"} {
				if table == "rollup_owner_sample" && exact == 0 {
					continue // exact visitors are not counted in the sample
				}
				// Other slots for each table, because those that drift found are not read again before the next build.
				ask(t, w.server, fmt.Sprintf("ALTER TABLE %s DELETE WHERE slot %% 3 = %d SETTINGS mutations_sync = 2", table, i))
				if reflect.DeepEqual(w.reports(), want) {
					t.Errorf("%s is not read", table)
				}
				w.drift("without rows of "+table, true)
				w.same("after rows of "+table+" were found missing", want)
			}
			w.build()
			w.same("after another build", want)
			w.drift("at the end", false)
		})
	}
}

// Nothing of a deleted workspace stays in the tables in the order of owners.
func TestStore_forgets_rows_of_owners(t *testing.T) {
	t.Parallel()
	w := newOwnerWorld(t, 0)
	w.build()
	for _, want := range []string{"1", "0"} {
		for _, table := range []string{"visits", "sample", "counts"} {
			if got, err := w.server.Ask(t.Context(), "SELECT countIf(owner = 1) > 0, countIf(owner = 2) > 0 FROM rollup_owner_"+
				table); err != nil ||
				got != want+"\t1" {
				t.Errorf("rollup_owner_%s has rows of owners 1 and 2: %q, %v, want %s and 1", table, got, err, want)
			}
		}
		testkit.Must(t, w.Forget(t.Context(), []uint64{1}))
	}
}

// Two filters whose values have the same letters are two questions of a report, also for the sample of visitors. All queries of
// a report see the clicks that were stored before its first query. The next report also sees later clicks.
func TestStore_one_reading(t *testing.T) {
	t.Parallel()
	w := newOwnerWorld(t, 100)
	w.build()
	filters := analytics.OneReading(t.Context())
	for _, c := range []struct {
		countries []string
		estimated bool
	}{{[]string{"US", "TW"}, true}, {[]string{"U", "STW"}, false}} {
		scope := analytics.Scope{Match: []analytics.Match{{By: analytics.Country, Values: c.countries}}}
		lines, err := w.Lines(filters, analytics.Query{Scope: scope, Visitors: true})
		if err != nil || lines[0].Estimated != c.estimated {
			t.Errorf("visitors from %q: %+v, %v, want an estimate: %v", c.countries, lines, err, c.estimated)
		}
	}

	scope := analytics.Scope{From: w.start.UnixMilli(), To: w.start.AddDate(0, 0, 3).UnixMilli(), Owner: 1}
	total := func(ctx context.Context, every analytics.Interval) (clicks, visitors int64) {
		t.Helper()
		lines, err := w.Lines(ctx, analytics.Query{Scope: scope, Every: every, Visitors: true})
		testkit.Must(t, err)
		for _, l := range lines {
			clicks, visitors = clicks+l.Clicks, visitors+l.Visitors
		}
		return clicks, visitors
	}
	ctx := analytics.OneReading(t.Context())
	before, visitors := total(ctx, analytics.NoInterval)
	w.store(21, 2000)
	if n, _ := total(ctx, analytics.Days); n != before {
		t.Errorf("the second query of a report counts %d clicks, the first one %d", n, before)
	}
	if n, v := total(ctx, analytics.NoInterval); n != before || v != visitors {
		t.Errorf("the first query counts %d clicks and %d visitors when it is repeated, before %d and %d", n, v, before, visitors)
	}
	if n, _ := total(analytics.OneReading(t.Context()), analytics.Days); n <= before {
		t.Errorf("another report counts %d clicks, not more than %d", n, before)
	}
}
