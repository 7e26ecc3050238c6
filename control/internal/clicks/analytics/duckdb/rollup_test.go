package duckdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// distant is after all clicks of the tests.
var distant = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// settled is a store whose rollup is built before the first report after a write.
type settled struct {
	*duckdb.Store
	written atomic.Bool
}

func (s *settled) Insert(ctx context.Context, b analytics.Batch) error {
	defer s.written.Store(true)
	return s.Store.Insert(ctx, b)
}

func (s *settled) Erase(ctx context.Context, ip netip.Addr) (int64, error) {
	defer s.written.Store(true)
	return s.Store.Erase(ctx, ip)
}

func (s *settled) Reclassify(ctx context.Context, scope analytics.Scope, f func(r *analytics.Row, again bool) bool) (int, error) {
	defer s.written.Store(true)
	return s.Store.Reclassify(ctx, scope, f)
}

func (s *settled) settle(ctx context.Context) error {
	if !s.written.Swap(false) {
		return nil
	}
	return s.Rebuild(ctx, distant)
}

func (s *settled) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	return s.Store.Lines(ctx, q)
}

func (s *settled) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	return s.Store.Breakdown(ctx, scope, dims, limit)
}

func TestStore_with_rollup(t *testing.T) {
	t.Parallel()
	analyticstest.Run(t, 1, func(t *testing.T) analytics.Store {
		return &settled{Store: open(t, filepath.Join(t.TempDir(), "clicks"))}
	})
}

// questions are combinations of what reports ask for. Some are answered from the rollup, others are not.
func questions(t *testing.T, start time.Time) (lines []analytics.Query, scopes []analytics.Scope) {
	zones := []*time.Location{nil}
	for _, name := range []string{"America/New_York", "Asia/Kathmandu"} {
		zone, err := time.LoadLocation(name)
		testkit.Must(t, err)
		zones = append(zones, zone)
	}
	ms := start.UnixMilli()
	match := func(by analytics.Dimension, values ...string) []analytics.Match {
		return []analytics.Match{{By: by, Values: values}}
	}
	scopes = []analytics.Scope{
		{}, {Bots: analytics.Everyone}, {Bots: analytics.OnlyBots, Owner: 2}, {Links: []uint64{1, 5}}, {Links: []uint64{2}},
		{Links: []uint64{4}, Owner: 2, Moves: analytics.Moves{Log: 7, Through: 9}},
		{Owner: 2, From: ms + 90_000_000, To: ms + 5*86_400_000 + 7}, {Links: []uint64{7}, Owner: 1, From: ms + 3*86_400_000,
			To: ms + 8*86_400_000}, {Owner: 2, Moves: analytics.Moves{Log: 7, Through: 9}},
		{From: ms + 5_000_000, To: ms + 400_000_000}, {From: ms + 86_400_000}, {To: ms + 3*86_400_000, Bots: analytics.Everyone},
		{Routed: true},
		{Drawn: true, Owner: 1},
		{Match: match(analytics.Country, "DE", "")}, {Match: match(analytics.Site, "x.com", "instagram.com", "")},
		{Match: match(analytics.Site, "x.com"), From: ms + 90_000_000, To: ms + 5*86_400_000, Owner: 3},
		{Match: append(match(analytics.Country, "DE"), match(analytics.Device, "MOBILE")...)}, {From: ms + 100, To: ms + 200},
	}
	for _, by := range []analytics.Dimension{analytics.None, analytics.Country, analytics.Site, analytics.Variant} {
		for every := analytics.NoInterval; every <= analytics.WeekHours; every++ {
			for _, zone := range zones {
				if every == analytics.NoInterval && zone != nil || every != analytics.NoInterval && zone != nil && by == analytics.Variant {
					continue
				}
				lines = append(lines, analytics.Query{Every: every, Zone: zone, By: by, ByLink: every == analytics.NoInterval &&
					by != analytics.Site,
					Last: every != analytics.Days})
			}
		}
	}
	for every := analytics.NoInterval; every <= analytics.WeekHours; every++ {
		for _, zone := range zones {
			lines = append(lines, analytics.Query{Every: every, Zone: zone, Visitors: true})
		}
	}
	lines = append(lines, analytics.Query{ByLink: true, TopFirst: true, Limit: 3}, analytics.Query{})
	return lines, scopes
}

// agree compares each answer with that from the clicks alone.
func agree(t *testing.T, s *duckdb.Store, start time.Time, some func() bool) {
	t.Helper()
	lines, scopes := questions(t, start)
	for _, scope := range scopes {
		for _, q := range lines {
			if !some() {
				continue
			}
			q.Scope = scope
			want, err := s.RawLines(t.Context(), q)
			testkit.Must(t, err)
			if got, err := s.Lines(t.Context(), q); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v: %v\n got %v\nwant %v", q, err, got, want)
			}
		}
		for _, dims := range [][]analytics.Dimension{{analytics.Country}, {analytics.Site},
			{analytics.Referer, analytics.Site, analytics.City,
				analytics.BotName}, {analytics.Rule}} {
			if !some() {
				continue
			}
			want, err := s.RawBreakdown(t.Context(), scope, dims, 5)
			testkit.Must(t, err)
			if got, err := s.Breakdown(t.Context(), scope, dims, 5); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("breakdown of %+v by %v: %v\n got %v\nwant %v", scope, dims, err, got, want)
			}
		}
	}
}

// Reports equal a count of the clicks, whatever happens to the clicks and whichever days are built.
func TestRollup_equals_the_clicks(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC) // clocks change in New York
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5))
			path := filepath.Join(t.TempDir(), "clicks")
			s := open(t, path)
			testkit.Must(t,
				s.InsertMoves(t.Context(), 7, []analytics.Move{{Revision: 3, Link: 4, From: 2, To: 1},
					{Revision: 5, Link: 9, From: 1, To: 2}},
					analytics.Position{Revision: 9, Link: analytics.AllLinks}))
			rows := analyticstest.Clicks(seed, 2000, start, 9)
			for i := range 4 {
				rows[i].Time = int64(i*i-2) * 40_000_000 // around 1970
			}
			for i := 0; seed == 1 && i < len(rows); i += 40 {
				rows[i].Owner = 2 // most links have been in two workspaces
			}
			for step := range testkit.Size(8, 16) {
				switch act := r.IntN(9); act {
				case 0, 1, 2: // some are late, and some were stored before
					from := r.IntN(len(rows) - 300)
					testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows[from : from+1+r.IntN(299)]}))
				case 3:
					scope := analytics.Scope{Bots: analytics.Everyone, Links: []uint64{1 + r.Uint64N(6)}, From: start.UnixMilli() +
						r.Int64N(9*86_400_000)}
					if _, err := s.Reclassify(t.Context(), scope, func(row *analytics.Row, _ bool) bool {
						row.Country, row.Bot = fmt.Sprint(step), !row.Bot
						return row.Seq%3 == 0
					}); err != nil {
						t.Fatal(err)
					}
				case 4:
					if step > testkit.Size(4, 8) {
						testkit.Must(t, s.Expire(t.Context(), start.Add(time.Duration(r.IntN(60))*time.Hour)))
					}
				case 5:
					testkit.Must(t, s.Close())
					s = open(t, path)
				case 6:
					if _, err := s.Erase(t.Context(), rows[r.IntN(len(rows))].IP); err != nil {
						t.Fatal(err)
					}
				case 7: // builds only older days
					testkit.Must(t, s.Rebuild(t.Context(), start.AddDate(0, 0, r.IntN(9))))
				default:
					testkit.Must(t, s.Rebuild(t.Context(), distant))
				}
				agree(t, s, start, func() bool { return r.IntN(testkit.Size(500, 200)) == 0 })
			}
			testkit.Must(t, s.Rebuild(t.Context(), distant))
			agree(t, s, start, func() bool { return r.IntN(testkit.Size(60, 15)) == 0 })
		})
	}
}

// Reports use the rollup: they give the same answers when the clicks are gone. A program that changes the file without
// knowing the rollup is detected after the next start.
func TestRollup_is_sufficient_and_verified(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks")
	s := open(t, path)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rows := analyticstest.Clicks(1, 5000, start, 5)
	rows[0].Rule, rows[0].Bot = link.ID{1}, false
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
	newYork, err := time.LoadLocation("America/New_York")
	testkit.Must(t, err)
	ask := func() (all []any) {
		t.Helper()
		for _, q := range []analytics.Query{
			{Visitors: true}, {Every: analytics.Days, Zone: newYork, Visitors: true},
			{Scope: analytics.Scope{Owner: 2}, Every: analytics.Weeks,
				Visitors: true},
			{Scope: analytics.Scope{Links: []uint64{3}, Bots: analytics.OnlyBots}, Visitors: true}, {Last: true}, {ByLink: true},
			{Every: analytics.Hours}, {By: analytics.City, TopFirst: true}, {Every: analytics.Days, By: analytics.Site},
			{Scope: analytics.Scope{Owner: 2, Routed: true}, By: analytics.Rule, Last: true},
			{Scope: analytics.Scope{Match: []analytics.Match{{By: analytics.Site, Values: []string{"x.com"}}}}, Every: analytics.Days},
		} {
			list, err := s.Lines(t.Context(), q)
			testkit.Must(t, err)
			all = append(all, list)
		}
		found, err := s.Breakdown(t.Context(), analytics.Scope{}, []analytics.Dimension{analytics.Country, analytics.Site,
			analytics.UTMTerm}, 9)
		testkit.Must(t, err)
		return append(all, found)
	}
	run := func(text string) {
		t.Helper()
		testkit.Must(t, s.Run(t.Context(), text))
	}
	reopen := func() {
		t.Helper()
		testkit.Must(t, s.Close())
		s = open(t, path)
		testkit.Must(t, s.Rebuild(t.Context(), distant))
	}
	raw := ask()
	reopen()
	run("CREATE TABLE away AS FROM clicks")
	run("DELETE FROM clicks")
	if !reflect.DeepEqual(ask(), raw) {
		t.Error("without the clicks the answers differ: the rollup was not sufficient")
	}
	reopen()
	if empty := ask(); len(empty[5].([]analytics.Line)) != 0 || empty[0].([]analytics.Line)[0].Visitors != 0 {
		t.Errorf("after a start, deleted clicks still count: %v", empty)
	}
	run("INSERT INTO clicks FROM away")
	reopen()
	if !reflect.DeepEqual(ask(), raw) {
		t.Error("after a start, clicks that another program inserted do not count")
	}
	run("UPDATE clicks SET city = 'Elsewhere' WHERE city = 'Taipei'")
	if !reflect.DeepEqual(ask(), raw) {
		t.Error("the rollup was not used")
	}
	reopen()
	if reflect.DeepEqual(ask(), raw) {
		t.Error("after a start, changes of another program do not count")
	}
}
