package analyticstest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// lane makes clicks of one lane at the given positions, one second apart.
func lane(l click.Lane, start time.Time, seqs ...uint64) []analytics.Row {
	rows := Clicks(uint64(l.Lane), len(seqs), start, 1)
	for i, seq := range seqs {
		rows[i].Identity = analytics.Identity{Lane: l, Seq: seq}
		rows[i].Time = start.UnixMilli() + int64(seq)*1000
	}
	return rows
}

func span(from, to uint64) (seqs []uint64) {
	for ; from <= to; from++ {
		seqs = append(seqs, from)
	}
	return seqs
}

func gaps(t *testing.T, s analytics.Store) {
	start := time.Date(2026, 1, 31, 23, 59, 0, 0, time.UTC)
	at := func(seq uint64) int64 { return start.UnixMilli() + int64(seq)*1000 }
	a, b, whole, lossy := click.Lane{Edge: 1 << 63, Epoch: 2, Lane: 1}, click.Lane{Edge: 7, Lane: 2}, click.Lane{Edge: 8, Lane: 3},
		click.Lane{Edge: 9, Lane: 4}
	// b begins at 5. Clicks before that are not between two stored clicks.
	insert(t, s, slices.Concat(lane(a, start, slices.Concat(span(1, 40), span(44, 50), span(52, 60))...),
		lane(b, start, slices.Concat(span(5, 8), span(1000, 1001))...), lane(whole, start, span(1, 90)...)), 1000)
	insert(t, s, lane(whole, start, span(30, 60)...), 20) // again
	// Positions 11 to 20 were lost, as marker 21 reports. 25 is missing nevertheless. 31 is another marker, for 28 to
	// 29, so 30 is missing too.
	insert(t, s, lane(lossy, start, slices.Concat(span(1, 10), span(22, 24), span(26, 27), span(32, 33))...), 1000)
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Losses: []analytics.Loss{
		{Identity: analytics.Identity{Lane: lossy, Seq: 21}, Time: at(21), From: 11, To: 20},
		{Identity: analytics.Identity{Lane: lossy, Seq: 31}, Time: at(31), From: 28, To: 29},
	}}))
	gap := func(l click.Lane, from, to uint64, before, after int64) analytics.Gap {
		return analytics.Gap{Edge: l.Edge, Range: click.Range{Epoch: l.Epoch, Lane: l.Lane, From: from, To: to}, Before: before,
			After: after}
	}
	want := []analytics.Gap{
		gap(b, 9, 999, at(8), at(1000)),
		gap(lossy, 25, 25, at(24), at(26)),
		gap(lossy, 30, 30, at(31), at(31)), // the lost range has the time of its marker
		gap(a, 41, 43, at(40), at(44)),
		gap(a, 51, 51, at(50), at(52)),
	}
	check := func(since time.Time, limit int, want ...analytics.Gap) {
		t.Helper()
		got, err := s.Gaps(ctx(), since, limit)
		testkit.Must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("Gaps since %v, at most %d:\n got %v\nwant %v", since, limit, got, want)
		}
	}
	check(time.Time{}, 100, want...)
	check(start, 2, want[:2]...)
	check(start.Add(45*time.Second), 100, want[0], want[4])
	check(start.Add(24*time.Hour), 100)
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: lane(a, start, 41, 43, 51)})) // a repair, with one still missing
	check(start, 100, want[0], want[1], want[2], gap(a, 42, 42, at(41), at(43)))
}

func reclassify(t *testing.T, s analytics.Store) {
	rows := Clicks(9, 3000, time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC), 4)
	insert(t, s, rows, 1000)
	// Only clicks of one link on Windows. The city set here is ignored by the store, unlike the other fields.
	scope := analytics.Scope{Links: []uint64{3}, Bots: analytics.Everyone}
	want := slices.Clone(rows)
	touched := 0
	for i := range want {
		if r := &want[i]; r.Link == 3 && r.OS == "Windows" {
			r.Bot, r.BotName, r.City, r.BotList, r.GeoVersion, r.Country = true, "New", "Köln", "list 2", "geo 2", ""
			touched++
		}
	}
	seen := 0
	n, err := s.Reclassify(ctx(), scope, func(r *analytics.Row, again bool) bool {
		if !again {
			seen++
		}
		r.City = "Köln"
		if r.OS != "Windows" {
			return false
		}
		r.Bot, r.BotName, r.BotList, r.GeoVersion, r.Country = true, "New", "list 2", "geo 2", ""
		r.Referer, r.Link, r.Time, r.Seq = "changed", 99, 1, r.Seq+100_000
		return true
	})
	testkit.Must(t, err)
	if n != touched || n == 0 || seen != len(filter(rows, scope)) {
		t.Errorf("Reclassify = %d of %d, want %d of %d", n, seen, touched, len(filter(rows, scope)))
	}
	same := func(when string) {
		t.Helper()
		if err := differ(s, want); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	same("after Reclassify")
	insert(t, s, rows, 700) // repeated deliveries have the old facts
	same("after the clicks came again")
	seen, touched = 0, 0
	n, err = s.Reclassify(ctx(), analytics.Scope{Bots: analytics.OnlyBots}, func(r *analytics.Row, again bool) bool {
		change := r.Seq%2 == 0
		if !again {
			seen++
			if change {
				touched++
			}
		}
		r.BotName = "Newer"
		return change
	})
	testkit.Must(t, err)
	if n != touched || n == 0 || n == seen {
		t.Errorf("Reclassify = %d of %d, want %d", n, seen, touched)
	}
	lines, err := s.Lines(ctx(), analytics.Query{Scope: analytics.Scope{Bots: analytics.OnlyBots}, By: analytics.BotName})
	testkit.Must(t, err)
	if i := slices.IndexFunc(lines, func(l analytics.Line) bool { return l.Value == "Newer" }); i < 0 || lines[i].Clicks != int64(n) {
		t.Errorf("after the second Reclassify, of %d clicks: %v", n, lines)
	}
}

// differ compares all clicks of a store with rows.
func differ(s analytics.Store, rows []analytics.Row) error {
	left := map[analytics.Identity]analytics.Row{}
	for _, r := range rows {
		left[r.Identity] = r
	}
	err := s.Clicks(ctx(), everyone(), len(rows)+1, func(r *analytics.Row) error {
		if want, ok := left[r.Identity]; !ok || *r != want {
			return fmt.Errorf("got  %+v\nwant %+v", *r, want)
		}
		delete(left, r.Identity)
		return nil
	})
	if err == nil && len(left) > 0 {
		err = errors.New("missing: " + fmt.Sprint(slices.Collect(maps.Keys(left))))
	}
	return err
}
