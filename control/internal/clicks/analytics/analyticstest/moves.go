package analyticstest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ledger is a log of moves in memory, with the state of links after each revision.
type ledger struct {
	log    uint64
	moves  []analytics.Move
	states []map[uint64]uint64 // by revision: the owner of each link
}

// move appends a revision that moves links to an owner.
func (l *ledger) move(to uint64, links ...uint64) (list []analytics.Move) {
	state := maps.Clone(l.states[len(l.states)-1])
	slices.Sort(links)
	for _, n := range slices.Compact(links) {
		if state[n] != to {
			list = append(list, analytics.Move{Revision: uint64(len(l.states)), Link: n, From: state[n], To: to})
			state[n] = to
		}
	}
	l.moves, l.states = append(l.moves, list...), append(l.states, state)
	return list
}

// at returns the moves to apply for an owner, as package moves finds them, up to a revision.
func (l *ledger) at(owner uint64, revision int) (m analytics.Moves) {
	for _, mv := range l.moves {
		if (mv.From == owner || mv.To == owner) && mv.Revision <= uint64(revision) {
			m = analytics.Moves{Log: l.log, Through: mv.Revision}
		}
	}
	return m
}

// owned returns rows as if each had been owned by the link's owner after a revision all along.
func (l *ledger) owned(rows []analytics.Row, revision int) []analytics.Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Owner = l.states[revision][rows[i].Link]
	}
	return rows
}

const owners = 4

// moves compares reports with a naive count while links move at random: back and forth, several at once, with clicks
// that name any former owner of their link and arrive at any time later.
func moves(t *testing.T, s analytics.Store) {
	r := rand.New(rand.NewPCG(11, 7))
	l := &ledger{log: 77, states: []map[uint64]uint64{{}}}
	for n := range uint64(41) {
		l.states[0][n] = 1 + n%3
	}
	rows := Clicks(9, 2000, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 12)
	var all []analytics.Row
	var stored analytics.Position
	for round := range 4 {
		var list []analytics.Move
		for range r.IntN(4) {
			links := make([]uint64, 1+r.IntN(12))
			for i := range links {
				links[i] = uint64(r.IntN(41))
			}
			list = append(list, l.move(1+uint64(r.IntN(owners)), links...)...)
		}
		newest := len(l.states) - 1
		part := rows[round*500 : (round+1)*500]
		for i := range part {
			part[i].Owner = l.states[r.IntN(newest+1)][part[i].Link] // of whatever time the edge knew
		}
		insert(t, s, part, 200)
		all = append(all, part...)
		// Copied in pieces that may end within a revision; a piece may be copied twice.
		for len(list) > 0 {
			n := 1 + r.IntN(len(list))
			piece := list[:n]
			list = list[n:]
			stored = analytics.Position{Revision: piece[n-1].Revision, Link: piece[n-1].Link}
			if len(list) == 0 {
				stored.Link = analytics.AllLinks
			}
			for range 1 + r.IntN(2) {
				testkit.Must(t, s.InsertMoves(ctx(), l.log, piece, stored))
			}
		}
		compareOwners(t, s, l, all, newest, round, fmt.Sprintf("round %d", round))
	}
	if at, err := s.MovesPosition(ctx(), l.log); err != nil || at != stored {
		t.Errorf("position %+v, %v, want %+v", at, err, stored)
	}
	if at, err := s.MovesPosition(ctx(), 78); err != nil || at != (analytics.Position{}) {
		t.Errorf("position of another log %+v, %v", at, err)
	}
	// Moves that are copied later do not change a report that has begun, even if they are copied only in part.
	newest := len(l.states) - 1
	later := l.move(1, 1, 2, 3, 4, 5, 6, 7, 8)
	testkit.Must(t, s.InsertMoves(ctx(), l.log, later[:len(later)/2], analytics.Position{Revision: later[len(later)/2-1].Revision,
		Link: later[len(later)/2-1].Link}))
	compareOwners(t, s, l, all, newest, 1, "half a revision later")
	testkit.Must(t, s.InsertMoves(ctx(), l.log, later[len(later)/2:], analytics.Position{Revision: uint64(newest + 1),
		Link: analytics.AllLinks}))
	compareOwners(t, s, l, all, newest, 2, "a revision later")
	compareOwners(t, s, l, all, newest+1, 0, "the last revision")
	movedConversions(t, s, l, all, newest+1)
	// The log of a restored database has nothing to do with the moves of the old one.
	for owner := uint64(1); owner <= owners; owner++ {
		other := l.at(owner, newest+1)
		other.Log = 78
		q := analytics.Query{Scope: analytics.Scope{Owner: owner, Moves: other, Bots: analytics.Everyone}, ByLink: true}
		got, err := s.Lines(ctx(), q)
		testkit.Must(t, err)
		if want := expect(all, q); !slices.Equal(got, want) {
			t.Errorf("owner %d in another log:\n got %v\nwant %v", owner, got, want)
		}
	}
}

// compareOwners asks a third of the questions for every owner, with the moves up to a revision. In make test, it asks half of the owners
// only for their clicks.
func compareOwners(t *testing.T, s analytics.Store, l *ledger, all []analytics.Row, revision, third int, when string) {
	t.Helper()
	newYork := zone(t, "America/New_York")
	owned := l.owned(all, revision)
	clicks := int64(0)
	day := analytics.DayOn(2026, 3, 5)
	for owner := uint64(1); owner <= owners; owner++ {
		m := l.at(owner, revision)
		asked := testkit.Size((int(owner)+third)%2 == 0, true)
		for i, q := range []analytics.Query{
			{Visitors: true, Last: true}, {Every: analytics.Days, Visitors: true}, {Every: analytics.Days, Zone: newYork},
			{ByLink: true, TopFirst: true, Limit: 7}, {By: analytics.Country, TopFirst: true},
			{By: analytics.BotName, Scope: analytics.Scope{Bots: analytics.OnlyBots}},
			{ByLink: true, By: analytics.Variant, Scope: analytics.Scope{Drawn: true}},
			{ByLink: true, Scope: analytics.Scope{From: day.Start(newYork) + 1234, To: (day + 3).Start(nil)}},
			{Scope: analytics.Scope{Links: []uint64{1, 2, 3}}},
			{Visitors: true, Scope: analytics.Scope{NotLinks: []uint64{1, 2, 3}}},
		} {
			if (i+third)%3 != 0 || !asked {
				continue
			}
			q.Owner, q.Moves = owner, m
			got, err := s.Lines(ctx(), q)
			testkit.Must(t, err)
			if want := expect(owned, q); !slices.Equal(got, want) {
				t.Errorf("%s, owner %d, query %d:\n got %v\nwant %v", when, owner, i, got, want)
			}
		}
		scope := analytics.Scope{Owner: owner, Moves: m, Bots: analytics.Everyone}
		if asked {
			compareValues(t, s, owned, scope, fmt.Sprintf("%s, owner %d", when, owner))
		}
		seen := map[analytics.Identity]bool{}
		testkit.Must(t, s.Clicks(ctx(), scope, 100_000, func(r *analytics.Row) error { seen[r.Identity] = true; return nil }))
		clicks += int64(len(seen))
		for _, row := range filter(owned, scope) {
			if !seen[row.Identity] {
				t.Errorf("%s: owner %d does not see a click of link %d", when, owner, row.Link)
				break
			}
		}
	}
	if clicks != int64(len(all)) {
		t.Errorf("%s: the owners see %d clicks together, want %d", when, clicks, len(all))
	}
}

// compareValues checks the most frequent values of two dimensions in a scope.
func compareValues(t *testing.T, s analytics.Store, rows []analytics.Row, scope analytics.Scope, when string) {
	t.Helper()
	dims := []analytics.Dimension{analytics.City, analytics.OS}
	found, err := s.Breakdown(ctx(), scope, dims, 3)
	testkit.Must(t, err)
	for _, d := range dims {
		var want []analytics.Count
		for _, line := range expect(rows, analytics.Query{Scope: scope, By: d, TopFirst: true, Limit: 3}) {
			want = append(want, analytics.Count{Value: line.Value, Clicks: line.Clicks})
		}
		if !slices.Equal(found[d], want) {
			t.Errorf("%s, by %v:\n got %v\nwant %v", when, d, found[d], want)
		}
	}
}
