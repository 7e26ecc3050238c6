package analyticstest

import (
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// FewVisitors is the limit of exact counts in RunEstimates.
const FewVisitors = 300

// RunEstimates runs the part of the suite about scopes with more visitors than a store counts exactly. open returns an
// empty store that counts FewVisitors exactly, and that RunEstimates closes. It runs one of the given number of parts.
func RunEstimates(t *testing.T, part, parts int, open func(t *testing.T) analytics.Store) {
	t.Parallel()
	s := open(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	rows := slices.Concat(Clicks(90, 3000, time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC), 9),
		Clicks(91, 1500, time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC), 4))
	insert(t, s, rows[:3000], 800)
	insert(t, s, rows[3000:], 800)
	testkit.Must(t, s.InsertMoves(ctx(), 5, []analytics.Move{{Revision: 3, Link: 1, From: 2, To: 3}},
		analytics.Position{Revision: 9, Link: analytics.AllLinks}))
	asked := func(scope, query int) bool { return (scope+query)%parts == part }
	estimates(t, s, rows, asked)

	// An address in the sample is erased.
	at := slices.IndexFunc(rows, func(r analytics.Row) bool { return inSample(r.IP) && r.IP.IsValid() })
	address := rows[at].IP
	if n, err := s.Erase(ctx(), address); err != nil || n == 0 {
		t.Fatalf("Erase = %d, %v", n, err)
	}
	for i := range rows {
		if rows[i].IP == address {
			rows[i].IP, rows[i].UserAgent = netip.Addr{}, ""
		}
	}
	estimates(t, s, rows, func(scope, query int) bool { return scope%3 == 0 && asked(scope, query) })
}

// estimates compares answers on both sides of the limit.
func estimates(t *testing.T, s analytics.Store, rows []analytics.Row, asked func(scope, query int) bool) {
	t.Helper()
	newYork, kathmandu := zone(t, "America/New_York"), zone(t, "Asia/Kathmandu")
	from := time.Date(2026, 3, 6, 7, 3, 11, 0, time.UTC).UnixMilli() // not a whole quarter hour
	scopes := []analytics.Scope{
		{}, everyone(), {Bots: analytics.OnlyBots}, {Links: []uint64{1}}, {Links: []uint64{20}}, {Links: []uint64{1, 2, 3}},
		{NotLinks: []uint64{1}}, {Owner: 2}, {Owner: 3, Moves: analytics.Moves{Log: 5, Through: 9}},
		{From: from, To: time.Date(2026, 3, 31, 0, 0, 0, 0, newYork).UnixMilli()}, {From: analytics.DayOn(2026, 3, 7).Start(newYork),
			To: analytics.DayOn(2026, 3, 9).Start(newYork)}, {From: from, To: from + 60_000},
		{Match: []analytics.Match{{By: analytics.Country, Values: []string{"US", "TW"}}}},
		{Match: []analytics.Match{{By: analytics.Site, Values: []string{"x.com", ""}}, {By: analytics.Device, Values: []string{"MOBILE"}}}},
		{Routed: true}, {Drawn: true, Owner: 1}, {Links: []uint64{}}, {Sampled: true},
	}
	queries := []analytics.Query{
		{}, {Last: true}, {Every: analytics.Minutes}, {Every: analytics.Hours, Zone: newYork}, {Every: analytics.Days, Zone: newYork},
		{Every: analytics.Days, Zone: kathmandu, Last: true}, {Every: analytics.Weeks},
		{Every: analytics.Months, Zone: kathmandu}, {Every: analytics.WeekHours}, {ByLink: true}, {ByLink: true, TopFirst: true, Limit: 5},
		{ByLink: true, By: analytics.Variant}, {By: analytics.Country, TopFirst: true}, {Every: analytics.Days, By: analytics.Site},
	}
	estimated, exact := 0, 0
	for i, scope := range scopes {
		for j, q := range queries {
			if !asked(i, j) {
				continue
			}
			q.Scope, q.Visitors = scope, true
			if q.Zone != nil && q.From == 0 { // a zone has hundreds of changes in all time
				q.From, q.To = from-10_000_000, from+30*86_400_000
			}
			got, err := s.Lines(ctx(), q)
			testkit.Must(t, err)
			want := counted(rows, q)
			if !slices.Equal(got, want) {
				t.Errorf("scope %d, query %d: %+v: %d lines, want %d: %s", i, j, q, len(got), len(want), firstDifference(got, want))
			}
			if len(want) > 0 && want[0].Estimated {
				estimated++
			} else {
				exact++
			}
		}
	}
	if estimated == 0 || exact == 0 {
		t.Errorf("%d answers were estimated and %d exact, want some of both", estimated, exact)
	}
}

// inSample reports whether a visitor's number is among the lowest sixteenth of all numbers.
func inSample(ip netip.Addr) bool { return analytics.Visitor(ip) < math.MinInt64/8*7 }

// counted is like expect, for a store that counts FewVisitors exactly.
func counted(rows []analytics.Row, q analytics.Query) []analytics.Line {
	if m := q.Moves; m.Through != 0 { // the only move of RunEstimates
		rows = slices.Clone(rows)
		for i := range rows {
			if rows[i].Link == 1 {
				rows[i].Owner = 3
			}
		}
	}
	sample := slices.DeleteFunc(slices.Clone(rows), func(r analytics.Row) bool { return !inSample(r.IP) })
	if q.Sampled {
		return expect(sample, q)
	}
	lines := expect(rows, q)
	if expect(sample, analytics.Query{Scope: q.Scope, Visitors: true})[0].Visitors*16 <= FewVisitors {
		return lines
	}
	groups := q
	groups.Limit = 0
	parts := expect(sample, groups)
	for i := range lines {
		l := &lines[i]
		n := int64(1)
		for _, p := range parts {
			if p.Period == l.Period && p.Link == l.Link && p.Value == l.Value {
				n = max(n, 16*p.Visitors)
			}
		}
		l.Visitors, l.Estimated = min(l.Clicks, n), true
	}
	return lines
}
