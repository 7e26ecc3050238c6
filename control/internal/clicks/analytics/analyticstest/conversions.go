package analyticstest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// clickOf returns the id of a click.
func clickOf(r *analytics.Row) conversion.ClickID {
	return conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Identity.Lane, r.Seq)}
}

// Conversions generates conversions of about a third of the clicks, attributed to them. Equal seeds give equal conversions. Some
// have the same key, some repeat, and they have several goals and currencies.
func Conversions(seed uint64, rows []analytics.Row) []analytics.Conversion {
	r := rand.New(rand.NewPCG(seed, 11))
	var list []analytics.Conversion
	for i := range rows {
		for n := r.IntN(6) - 3; n > 0; n-- {
			c := analytics.Conversion{Row: rows[i], Attributed: true}
			c.Conversion = conversion.Conversion{
				Click: clickOf(&rows[i]), Workspace: rows[i].Owner, Name: []string{"purchase", "sign up", "lead ä"}[r.IntN(3)],
				Value: r.Int64N(3) * r.Int64N(2_000_000), Currency: []string{"EUR", "EUR", "USD", ""}[r.IntN(4)],
				ExternalID: fmt.Sprint("order-", r.IntN(20)),
				Repeatable: r.IntN(4) == 0, OccurredAt: rows[i].Time + 1000, ReceivedAt: rows[i].Time + r.Int64N(100_000),
				Browser: r.IntN(2) == 0,
			}
			list = append(list, c)
		}
	}
	return list
}

// kept returns what a store keeps of conversions, in the simplest way.
func kept(list []analytics.Conversion) []analytics.Conversion {
	byKey := map[analytics.ConversionKey]analytics.Conversion{}
	for _, c := range list {
		if k, ok := byKey[c.Key()]; !ok || c.Version() > k.Version() {
			byKey[c.Key()] = c
		}
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b analytics.Conversion) int { // newest click first
		return cmp.Or(cmp.Compare(b.Click.Time, a.Click.Time), cmp.Compare(b.Click.Link, a.Click.Link),
			cmp.Compare(b.Click.Tag, a.Click.Tag),
			cmp.Compare(b.Name, a.Name), cmp.Compare(b.Once(), a.Once()))
	})
}

func conversions(t *testing.T, s analytics.Store, asked func(n int) bool) {
	newYork := zone(t, "America/New_York")
	rows := Clicks(5, 3000, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 21)
	sticky(rows)
	insert(t, s, rows, 800)
	list := Conversions(5, rows)
	arrivals := arriving(rand.New(rand.NewPCG(1, 2)), list)
	for part := range slices.Chunk(arrivals, 300) {
		testkit.Must(t, s.InsertConversions(ctx(), part))
	}
	testkit.Must(t, s.InsertConversions(ctx(), nil))
	all := kept(list)

	march8 := analytics.DayOn(2026, 3, 8)
	for i, scope := range []analytics.Scope{
		{}, everyone(), {Links: []uint64{1}}, {Owner: 2}, {Links: []uint64{}},
		{From: march8.Start(newYork), To: (march8 + 2).Start(newYork)},
		{Drawn: true},
		{Match: []analytics.Match{{By: analytics.Country, Values: []string{"DE", ""}}}},
		{Match: []analytics.Match{{By: analytics.Site, Values: []string{"x.com", ""}}}},
	} {
		for k, goal := range []string{"", "purchase", "lead ä", "none"} {
			if !asked(i + k) {
				continue
			}
			want := slices.DeleteFunc(slices.Clone(all), func(c analytics.Conversion) bool {
				return goal != "" && c.Name != goal || len(filter([]analytics.Row{c.Row}, scope)) == 0
			})
			for j, q := range []analytics.Query{{}, {Every: analytics.Days, Zone: newYork}, {By: analytics.Country}, {By: analytics.Site},
				{By: analytics.Variant}, {ByLink: true, Every: analytics.Hours}} {
				q.Scope = scope
				got, err := s.ConversionLines(ctx(), q, goal)
				testkit.Must(t, err)
				if want := expectConversions(want, q); !slices.Equal(got, want) {
					t.Errorf("scope %d, goal %q, query %d:\n got %v\nwant %v", i, goal, j, got, want)
				}
			}
			dims := []analytics.Dimension{analytics.Country, analytics.Site, analytics.UTMSource, analytics.Referer}[i%3:]
			byValue, err := s.ConversionBreakdown(ctx(), scope, dims, goal)
			testkit.Must(t, err)
			for _, d := range dims {
				if want := expectConversions(want, analytics.Query{By: d}); !slices.Equal(byValue[d], want) {
					t.Errorf("scope %d, goal %q, breakdown by %v:\n got %v\nwant %v", i, goal, d, byValue[d], want)
				}
				delete(byValue, d)
			}
			if len(byValue) > 0 {
				t.Errorf("scope %d: the breakdown has more than was asked: %v", i, byValue)
			}
			var got []analytics.Conversion
			testkit.Must(t, s.EachConversion(ctx(), scope, goal, math.MaxInt, func(c *analytics.Conversion) error {
				got = append(got, *c)
				return nil
			}))
			if !slices.Equal(got, want) {
				t.Errorf("scope %d, goal %q: %d conversions, want %d, or others", i, goal, len(got), len(want))
			}
		}
	}
	findings(t, s, rows, all)
	arms(t, s, rows, all)
}

// sticky makes the links with even numbers sticky: their clicks name the visitor.
func sticky(rows []analytics.Row) {
	for i := range rows {
		if r := &rows[i]; r.Link%2 == 0 {
			r.Visitor = math.MaxUint64 - uint64(i%150)
		}
	}
}

func expectConversions(list []analytics.Conversion, q analytics.Query) []analytics.ConversionLine {
	sums := map[analytics.ConversionLine]analytics.ConversionLine{}
	for i := range list {
		c := &list[i]
		key := analytics.ConversionLine{Currency: c.Currency}
		for _, l := range expect([]analytics.Row{c.Row}, analytics.Query{Scope: everyone(), Every: q.Every, Zone: q.Zone, ByLink: q.ByLink,
			By: q.By}) {
			key.Period, key.Link, key.Value = l.Period, l.Link, l.Value
		}
		line := sums[key]
		line.Period, line.Link, line.Value, line.Currency = key.Period, key.Link, key.Value, key.Currency
		line.Conversions++
		line.Revenue += c.Value
		sums[key] = line
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b analytics.ConversionLine) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.At, b.At), cmp.Compare(a.Link, b.Link), cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.Currency, b.Currency))
	})
}

// findings checks look-ups of clicks, conversions and goals.
func findings(t *testing.T, s analytics.Store, rows []analytics.Row, all []analytics.Conversion) {
	var ids []conversion.ClickID
	var keys []analytics.ConversionKey
	for i := range rows {
		ids = append(ids, clickOf(&rows[i]))
	}
	foreign := clickOf(&rows[0])
	foreign.Tag ^= 1
	found, err := s.FindClicks(ctx(), append(ids, foreign, conversion.ClickID{Link: 1, Time: 5}))
	testkit.Must(t, err)
	if len(found) != len(rows) {
		t.Errorf("%d clicks found of %d", len(found), len(rows))
	}
	for i := range rows {
		if found[ids[i]] != rows[i] {
			t.Fatalf("click %d: %+v, want %+v", i, found[ids[i]], rows[i])
		}
	}
	for i := range all {
		keys = append(keys, all[i].Key())
	}
	other := keys[0]
	other.Name = "other"
	stored, err := s.StoredConversions(ctx(), append(keys, other))
	testkit.Must(t, err)
	if len(stored) != len(keys) || stored[other] {
		t.Errorf("%d conversions stored of %d, other: %v", len(stored), len(keys), stored[other])
	}
	goals, err := s.Goals(ctx(), everyone())
	testkit.Must(t, err)
	want := goalsOf(all)
	if !slices.Equal(goals, want) {
		t.Errorf("goals %v, want %v", goals, want)
	}
	converted, err := s.ConvertedClicks(ctx(), everyone())
	testkit.Must(t, err)
	clicked := map[string]map[conversion.ClickID]bool{"": {}}
	for _, c := range all {
		if clicked[c.Name] == nil {
			clicked[c.Name] = map[conversion.ClickID]bool{}
		}
		clicked[c.Name][c.Click], clicked[""][c.Click] = true, true
	}
	if len(converted) != len(clicked) {
		t.Errorf("converted clicks %v", converted)
	}
	for goal, clicks := range clicked {
		if converted[goal] != int64(len(clicks)) {
			t.Errorf("%d clicks have the goal %q, want %d", converted[goal], goal, len(clicks))
		}
	}
}

// arms compares the figures of an experiment with a naive calculation.
func arms(t *testing.T, s analytics.Store, rows []analytics.Row, all []analytics.Conversion) {
	for _, e := range []analytics.Experiment{
		{Link: 1, Goal: "purchase", Currency: "EUR"}, {Link: 2, Goal: "purchase", Currency: "EUR"},
		{Link: 2, Goal: "purchase", Currency: "EUR", Every: dayMillis}, {Link: 2, Currency: "USD", From: rows[0].Time - 5*dayMillis,
			To: rows[0].Time + 5*dayMillis}, {Link: 999, Goal: "purchase"},
	} {
		got, err := s.Arms(ctx(), e)
		testkit.Must(t, err)
		want := expectArms(rows, all, e)
		if !slices.EqualFunc(got, want, func(a, b analytics.ArmLine) bool {
			near := math.Abs(a.Revenue-b.Revenue) < 1e-6 && math.Abs(a.RevenueSquares-b.RevenueSquares) <= 1e-9*b.RevenueSquares
			a.Revenue, a.RevenueSquares, b.Revenue, b.RevenueSquares = 0, 0, 0, 0
			return near && a == b
		}) {
			t.Errorf("%+v:\n got %v\nwant %v", e, got, want)
		}
	}
}

const dayMillis = 24 * 60 * 60 * 1000

func expectArms(rows []analytics.Row, all []analytics.Conversion, e analytics.Experiment) []analytics.ArmLine {
	type visitor struct {
		variant     link.ID
		participant uint64
		click       conversion.ClickID
	}
	type figures struct {
		first, n int64
		amount   float64
	}
	of := func(r *analytics.Row) visitor {
		if r.Visitor != 0 {
			return visitor{variant: r.Variant, participant: r.Visitor}
		}
		return visitor{variant: r.Variant, click: clickOf(r)}
	}
	scope := analytics.Scope{Links: []uint64{e.Link}, From: e.From, To: e.To, Drawn: true}
	visitors := map[visitor]*figures{}
	for _, r := range filter(rows, scope) {
		if f := visitors[of(&r)]; f == nil {
			visitors[of(&r)] = &figures{first: r.Time}
		} else {
			f.first = min(f.first, r.Time)
		}
	}
	for i := range all {
		c := &all[i]
		if e.Goal != "" && c.Name != e.Goal || len(filter([]analytics.Row{c.Row}, scope)) == 0 {
			continue
		}
		f := visitors[of(&c.Row)]
		f.n++
		if c.Currency == e.Currency {
			f.amount += float64(c.Value) / conversion.ValueScale
		}
	}
	type arm struct {
		variant link.ID
		at      int64
	}
	lines := map[arm]*analytics.ArmLine{}
	for v, f := range visitors {
		every := cmp.Or(e.Every, 3600_000)
		key := arm{v.variant, f.first / every * every}
		l := lines[key]
		if l == nil {
			l = &analytics.ArmLine{Variant: v.variant, At: key.at}
			lines[key] = l
		}
		l.Visitors++
		if f.n > 0 {
			l.Converted++
		}
		l.Conversions += f.n
		l.Revenue += f.amount
		l.RevenueSquares += f.amount * f.amount
	}
	var out []analytics.ArmLine
	for _, l := range lines {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b analytics.ArmLine) int {
		return cmp.Or(cmp.Compare(analytics.IDString(a.Variant), analytics.IDString(b.Variant)), cmp.Compare(a.At, b.At))
	})
	return out
}

// unattributed checks that a conversion waits for its click, counts meanwhile, and is erased and expires with it.
func unattributed(t *testing.T, s analytics.Store) {
	rows := Clicks(6, 50, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 1)
	list := kept(Conversions(6, rows))
	var waiting []analytics.Conversion
	for i := range list {
		c := list[i]
		c.ReceivedAt = int64(1000 + i)
		list[i].ReceivedAt = c.ReceivedAt
		c.Attributed, c.Row = false, analytics.Row{Owner: c.Row.Owner, Link: c.Click.Link, Time: c.Click.Time}
		waiting = append(waiting, c)
	}
	testkit.Must(t, s.InsertConversions(ctx(), waiting))
	got, err := s.Unattributed(ctx(), 0, 1000, 5)
	testkit.Must(t, err)
	if want := waiting[1:6]; !slices.Equal(got, want) {
		t.Errorf("waiting %+v\n   want %+v", got, want)
	}
	lines, err := s.ConversionLines(ctx(), analytics.Query{By: analytics.Country}, "")
	testkit.Must(t, err)
	n := int64(0)
	for _, l := range lines {
		n += l.Conversions
		if l.Value != "" {
			t.Errorf("the country of an unknown click is %q", l.Value)
		}
	}
	if n != int64(len(list)) {
		t.Errorf("%d conversions without a click count, want %d", n, len(list))
	}
	testkit.Must(t, s.InsertConversions(ctx(), list))
	testkit.Must(t, s.InsertConversions(ctx(), waiting)) // delivered again
	if got, err = s.Unattributed(ctx(), 0, 0, 100); err != nil || len(got) != 0 {
		t.Errorf("%d conversions still wait for their clicks: %v", len(got), err)
	}
	ip := list[slices.IndexFunc(list, func(c analytics.Conversion) bool { return c.Row.IP.IsValid() })].Row.IP
	_, err = s.Erase(ctx(), ip)
	testkit.Must(t, err)
	testkit.Must(t, s.EachConversion(ctx(), everyone(), "", 1000, func(c *analytics.Conversion) error {
		if c.Row.IP == ip {
			t.Errorf("a conversion still has the erased address: %+v", c)
		}
		return nil
	}))
	testkit.Must(t, s.Expire(ctx(), time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)))
	if goals, err := s.Goals(ctx(), everyone()); err != nil || len(goals) != 0 {
		t.Errorf("expired conversions still count: %v %v", goals, err)
	}
}
