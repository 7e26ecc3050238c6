package analyticstest

import (
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// follow checks that conversions follow their clicks when these are reclassified or erased, and that repeated deliveries do
// not bring the old facts back.
func follow(t *testing.T, s analytics.Store) {
	rows := Clicks(8, 2500, time.Date(2026, 1, 28, 0, 0, 0, 0, time.UTC), 8)
	sticky(rows)
	insert(t, s, rows, 1000)
	list := kept(Conversions(8, rows))
	waiting := list[0]
	waiting.Attributed, waiting.Row = false, analytics.Row{Owner: waiting.Row.Owner, Link: waiting.Click.Link, Time: waiting.Click.Time}
	list[0] = waiting
	testkit.Must(t, s.InsertConversions(ctx(), list))

	// reclassify gives the stored clicks the enrichment of rows.
	reclassify := func(rows []analytics.Row) {
		t.Helper()
		at := map[analytics.Identity]*analytics.Row{}
		for i := range rows {
			at[rows[i].Identity] = &rows[i]
		}
		_, err := s.Reclassify(ctx(), everyone(), func(r *analytics.Row, _ bool) bool {
			before := *r
			r.Enrich(at[r.Identity])
			return *r != before
		})
		testkit.Must(t, err)
	}
	robots := slices.Clone(rows)
	for i := range robots {
		if r := &robots[i]; r.OS == "Windows" {
			r.Bot, r.BotName, r.BotList, r.Country = true, "New", "list 2", "SE"
		}
	}
	reclassify(robots)
	compareCopies(t, s, "after Reclassify", robots, list)
	testkit.Must(t, s.InsertConversions(ctx(), list))
	compareCopies(t, s, "after the conversions came again", robots, list)

	// Attributed at the same time as a reclassification: the copy is old.
	late := waiting
	late.Attributed, late.Row = true, rows[slices.IndexFunc(rows, func(r analytics.Row) bool { return clickOf(&r) == waiting.Click })]
	late.Row.Country, late.Row.Bot = "XX", true
	testkit.Must(t, s.InsertConversions(ctx(), []analytics.Conversion{late}))
	list[0].Attributed = true
	people := slices.Clone(robots)
	for i := range people {
		if r := &people[i]; r.Bot && i%2 == 0 {
			r.Bot, r.BotName, r.BotList = false, "", "list 3"
		}
	}
	reclassify(people)
	compareCopies(t, s, "after the second Reclassify", people, list)

	// An erased visitor of a sticky link is a visitor for each click.
	visitor := people[slices.IndexFunc(people, func(r analytics.Row) bool {
		return r.IP.IsValid() && r.Visitor != 0 && slices.ContainsFunc(list, func(c analytics.Conversion) bool {
			return c.Click == clickOf(&r)
		})
	})].IP
	erased := slices.Clone(people)
	for i := range erased {
		if r := &erased[i]; r.IP == visitor {
			r.IP, r.UserAgent, r.Visitor = netip.Addr{}, "", 0
		}
	}
	_, err := s.Erase(ctx(), visitor)
	testkit.Must(t, err)
	compareCopies(t, s, "after Erase", erased, list)
}

// copied returns the conversions with copies of the clicks.
func copied(rows []analytics.Row, list []analytics.Conversion) []analytics.Conversion {
	clicks := map[conversion.ClickID]analytics.Row{}
	for i := range rows {
		clicks[clickOf(&rows[i])] = rows[i]
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].Attributed {
			list[i].Row = clicks[list[i].Click]
		}
	}
	return list
}

// compareCopies compares the conversions of a store, its reports by goal and its experiments with copies of the clicks.
func compareCopies(t *testing.T, s analytics.Store, when string, rows []analytics.Row, list []analytics.Conversion) {
	t.Helper()
	want := copied(rows, list)
	var got []analytics.Conversion
	testkit.Must(t, s.EachConversion(ctx(), everyone(), "", math.MaxInt, func(c *analytics.Conversion) error {
		got = append(got, *c)
		return nil
	}))
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: conversion %d:\n got %+v\nwant %+v", when, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d conversions, want %d", when, len(got), len(want))
	}
	for _, q := range []analytics.Query{{}, {By: analytics.Country}, {Scope: analytics.Scope{Bots: analytics.OnlyBots},
		By: analytics.BotName}} {
		of := slices.DeleteFunc(slices.Clone(want), func(c analytics.Conversion) bool {
			return c.Name != "purchase" || len(filter([]analytics.Row{c.Row}, q.Scope)) == 0
		})
		lines, err := s.ConversionLines(ctx(), q, "purchase")
		testkit.Must(t, err)
		if want := expectConversions(of, q); !slices.Equal(lines, want) {
			t.Errorf("%s: %v:\n got %v\nwant %v", when, q, lines, want)
		}
	}
	arms(t, s, rows, slices.DeleteFunc(want, func(c analytics.Conversion) bool { return !c.Attributed }))
}

// movedConversions checks that conversions belong to the owner of their link after a revision, as clicks do.
func movedConversions(t *testing.T, s analytics.Store, l *ledger, rows []analytics.Row, revision int) {
	t.Helper()
	list := kept(Conversions(9, rows))
	testkit.Must(t, s.InsertConversions(ctx(), list))
	for owner := uint64(1); owner <= owners; owner++ {
		scope := analytics.Scope{Owner: owner, Moves: l.at(owner, revision), Bots: analytics.Everyone}
		mine := slices.DeleteFunc(slices.Clone(list), func(c analytics.Conversion) bool {
			return l.states[revision][c.Click.Link] != owner
		})
		var want []analytics.ConversionKey
		for i := range mine {
			want = append(want, mine[i].Key())
		}
		goals, err := s.Goals(ctx(), scope)
		testkit.Must(t, err)
		if want := goalsOf(mine); !slices.Equal(goals, want) {
			t.Errorf("owner %d: goals %v, want %v", owner, goals, want)
		}
		var got []analytics.ConversionKey
		testkit.Must(t, s.EachConversion(ctx(), scope, "", math.MaxInt, func(c *analytics.Conversion) error {
			got = append(got, c.Key())
			return nil
		}))
		if !slices.Equal(got, want) {
			t.Errorf("owner %d sees %d conversions, want %d", owner, len(got), len(want))
		}
	}
}
