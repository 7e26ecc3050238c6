package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func plain(i int) link.Record {
	return link.Record{
		Num: uint64(i) + 1, Owner: uint64(i%100_000) + 1, Revision: uint64(i) + 1, Key: fmt.Sprintf("s%07d", i),
		Destination: fmt.Sprintf("https://www.example.com/%d", i), CreatedAt: 1750000000000 + int64(i),
	}
}

func everything() link.Record {
	return link.Record{
		Num: 1 << 40, Owner: 300, Revision: 77, Key: "full-Of_it", Destination: "https://example.com/a?b=c#d",
		Default: "https://example.com/other", Inactive: true, StartsAt: 5, ExpiresAt: 1893456000123, CreatedAt: 1700000000000,
		Title: "title", PasswordHash: "$2a$10$x", UTM: link.UTM{Source: "s", SourcePlatform: "p"},
		Code: 308, Limit: link.Limit{Since: 1700000000001, Clicks: 1 << 40}, ExpiredURL: "https://example.com/over",
		TrackConversions: true, ClickParameter: "click", Stickiness: link.StickyHash, Forward: true,
		SmartRouting: true, ABTesting: true,
		Rules:    []link.Rule{{ID: link.ID{1}, Name: "one", Target: "https://one.example", Conditions: []byte(onlyUTM)}},
		Variants: []link.Variant{{ID: link.ID{5}, Target: "https://a.example", Weight: 100}},
		Preview:  link.Preview{Title: "og"},
	}
}

func empty(t testing.TB) *table.Table {
	t.Helper()
	tab, err := table.New(table.Config{})
	testkit.Must(t, err)
	t.Cleanup(tab.Close)
	return tab
}

func load(t testing.TB, tab *table.Table, at snapshot.Cursor, records ...link.Record) {
	t.Helper()
	b := tab.NewBuilder()
	for i := range records {
		testkit.Must(t, b.Add(&records[i]))
	}
	testkit.Must(t, tab.Load(b, at))
}

func apply(t testing.TB, tab *table.Table, d snapshot.Delta) {
	t.Helper()
	at := tab.Cursor()
	d.Incarnation, d.From = at.Incarnation, at.Revision
	if d.To == 0 {
		d.To = d.From + 1
	}
	testkit.Must(t, tab.Apply(&d))
}

// contents reads the table back and checks its count and its state hash.
func contents(t testing.TB, tab *table.Table) map[string]link.Record {
	t.Helper()
	got := map[string]link.Record{}
	var hash snapshot.StateHash
	err := tab.Records(func(snapshot.Cursor) error { return nil }, func(r *link.Record) error {
		if _, twice := got[r.Key]; twice {
			t.Errorf("%q is in the table twice", r.Key)
		}
		got[r.Key] = *r
		hash.Add(r.Key, r.Num, r.Revision)
		return nil
	})
	testkit.Must(t, err)
	if tab.Len() != len(got) || tab.StateHash() != hash {
		t.Errorf("the table reports %d links with hash %v and holds %d with hash %v", tab.Len(), tab.StateHash(), len(got), hash)
	}
	return got
}

func TestLookup_every_field_comes_back(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	want := everything()
	simple := plain(7)
	titled := plain(8)
	titled.Title = "only a title"
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 77}, want, simple, titled)
	e, ok := tab.Lookup([]byte(want.Key))
	if !ok {
		t.Fatal("not found")
	}
	if got := e.Record(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if e.Plain() || !e.Inactive() || !e.HasPassword() || !e.SmartRouting() || !e.ABTesting() || !e.HasPreview() || !e.HasUTM() ||
		e.Num() != want.Num || e.Owner() != 300 || e.Revision() != 77 ||
		e.Terms() != (table.Terms{ExpiresAt: want.ExpiresAt, StartsAt: 5, Code: 308, Limit: want.Limit, Track: true, OwnParameter: true,
			Stickiness: link.StickyHash, Forward: true}) ||
		e.CreatedAt() != want.CreatedAt || e.Destination() != want.Destination || e.Slug() != want.Key {
		t.Errorf("accessors differ: %+v", e)
	}
	for _, r := range []link.Record{simple, titled} {
		e, _ := tab.Lookup([]byte(r.Key))
		if !e.Plain() || e.Terms() != (table.Terms{}) || !reflect.DeepEqual(e.Record(), r) {
			t.Errorf("%+v", e.Record())
		}
	}
	for _, c := range []link.Record{{TrackConversions: true}, {Stickiness: link.StickyCookie},
		{TrackConversions: true, ClickParameter: "c"},
		{Stickiness: link.StickyHash, ExpiresAt: 9}} {
		c.Num, c.Key, c.Destination, c.Revision = 3, "c", "https://c.example/", 1
		load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 78}, c)
		e, _ := tab.Lookup([]byte(c.Key))
		if e.Plain() || !reflect.DeepEqual(e.Record(), c) || e.Terms().Track != c.TrackConversions || e.Terms().Stickiness != c.Stickiness {
			t.Errorf("%+v became %+v", c, e.Record())
		}
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 79}, want, simple, titled)
	for _, slug := range []string{"", "full-of_it", "full-Of_i", "full-Of_itt", "nothing", strings.Repeat("x", 300)} {
		if _, ok := tab.Lookup([]byte(slug)); ok {
			t.Errorf("%q was found", slug)
		}
	}
}

func TestLoad_refuses_a_slug_that_comes_twice(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, plain(1))
	b := tab.NewBuilder()
	one, other := plain(2), plain(3)
	other.Key = one.Key
	testkit.Must(t, errors.Join(b.Add(&one), b.Add(&other)))
	if tab.Load(b, snapshot.Cursor{Incarnation: 1, Revision: 2}) == nil {
		t.Error("loaded")
	}
	if tab.Len() != 1 || tab.Cursor().Revision != 1 {
		t.Error("the table has changed")
	}
}

// After random deltas, folds and loads, the table must equal a map with the same changes.
func TestTable_equals_a_map(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	tab := empty(t)
	model := map[string]link.Record{}
	var initial []link.Record
	for i := range 3000 {
		r := plain(i)
		initial = append(initial, r)
		model[r.Key] = r
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 10_000}, initial...)
	num := uint64(10_000)
	for step := range 400 {
		d := snapshot.Delta{To: tab.Cursor().Revision + 1}
		named := map[string]bool{}
		for range rng.IntN(40) {
			i := rng.IntN(5000)
			r := plain(i)
			if named[r.Key] {
				continue
			}
			named[r.Key] = true
			old, exists := model[r.Key]
			r.Revision = d.To
			switch {
			case exists && rng.IntN(3) == 0:
				d.Deletes = append(d.Deletes, snapshot.Tombstone{Num: old.Num, Key: old.Key})
				delete(model, r.Key)
				continue
			case exists && rng.IntN(4) == 0: // deleted and created again by another user
				d.Deletes = append(d.Deletes, snapshot.Tombstone{Num: old.Num, Key: old.Key})
				num++
				r.Num = num
			case exists:
				r.Num = old.Num
			default:
				num++
				r.Num = num
			}
			r.Title = fmt.Sprint(step)
			d.Upserts = append(d.Upserts, r)
			model[r.Key] = r
		}
		for _, r := range model {
			d.After.Add(r.Key, r.Num, r.Revision)
		}
		apply(t, tab, d)
		if step%37 == 0 {
			tab.Fold()
		}
		for range 50 {
			slug := plain(rng.IntN(5000)).Key
			e, ok := tab.Lookup([]byte(slug))
			want, exists := model[slug]
			if ok != exists || ok && e.Revision() != want.Revision {
				t.Fatalf("step %d: %s: found %v, should be %v", step, slug, ok, exists)
			}
		}
	}
	if got := contents(t, tab); !reflect.DeepEqual(got, model) {
		t.Error("contents differ")
	}
	tab.Fold()
	if got := contents(t, tab); !reflect.DeepEqual(got, model) {
		t.Error("contents differ after the fold")
	}
}

func TestApply_refuses(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 3, Revision: 10}, plain(1), plain(2))
	var wrong snapshot.StateHash
	wrong.Add("x", 1, 1)
	gone := []snapshot.Tombstone{{Num: 2, Key: plain(1).Key}}
	for name, c := range map[string]struct {
		d    snapshot.Delta
		want error
	}{
		"a later start":       {snapshot.Delta{Incarnation: 3, From: 11, To: 12, Deletes: gone}, table.ErrGap},
		"an earlier start":    {snapshot.Delta{Incarnation: 3, From: 9, To: 12, Deletes: gone}, table.ErrGap},
		"another incarnation": {snapshot.Delta{Incarnation: 4, From: 10, To: 12, Deletes: gone}, table.ErrGap},
		"another result":      {snapshot.Delta{Incarnation: 3, From: 10, To: 12, Deletes: gone, After: wrong}, table.ErrDrift},
	} {
		if err := tab.Apply(&c.d); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(contents(t, tab)) != 2 || tab.Cursor().Revision != 10 {
		t.Error("the table has changed")
	}
}

func TestApply_later_revision_and_other_number_stay(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	newer := plain(1)
	newer.Revision = 50
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 10}, newer, plain(2))
	older := plain(1)
	older.Revision, older.Destination = 11, "https://old.example"
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{older}, Deletes: []snapshot.Tombstone{{Num: 999, Key: plain(2).Key},
		{Num: 5, Key: "unknown"}}})
	if e, ok := tab.Lookup([]byte(newer.Key)); !ok || e.Revision() != 50 || e.Destination() != newer.Destination {
		t.Error("an older revision replaced a later one")
	}
	if _, ok := tab.Lookup([]byte(plain(2).Key)); !ok {
		t.Error("the deletion of another link deleted this one")
	}
	if tab.Cursor().Revision != 11 {
		t.Error("the cursor did not move")
	}
}

// Every delta sets all links to one revision. A reader that sees two revisions at once has seen half a change. Entries
// that a reader holds must not change with folds and loads.
func TestTable_readers_see_whole_states(t *testing.T) {
	t.Parallel()
	const links = 300
	tab := empty(t)
	state := func(revision uint64) []link.Record {
		records := make([]link.Record, links)
		for i := range records {
			records[i] = plain(i)
			records[i].Revision = revision
			records[i].Destination = fmt.Sprintf("https://example.com/%d", revision)
		}
		return records
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, state(1)...)

	ctx, stop := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	var lookups atomic.Int64
	for r := range 4 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(r), 0))
			var last uint64
			var held []table.Entry
			for ctx.Err() == nil {
				e, ok := tab.Lookup([]byte(plain(rng.IntN(links)).Key))
				if !ok {
					t.Error("a link was temporarily missing")
					return
				}
				if e.Revision() < last {
					t.Errorf("revision %d was seen after %d", e.Revision(), last)
					return
				}
				last = e.Revision()
				if held = append(held, e); len(held) == 64 {
					for i := range held {
						if held[i].Destination() != fmt.Sprintf("https://example.com/%d", held[i].Revision()) {
							t.Error("a held entry has changed")
							return
						}
					}
					held = held[:0]
				}
				lookups.Add(1)
			}
		})
	}
	var folding sync.WaitGroup
	folding.Go(func() {
		for ctx.Err() == nil {
			tab.Fold()
		}
	})
	for revision := uint64(2); revision < 150 || lookups.Load() < 5000; revision++ {
		if t.Failed() {
			break
		}
		if revision%40 == 0 {
			load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: revision}, state(revision)...)
			continue
		}
		apply(t, tab, snapshot.Delta{To: revision, Upserts: state(revision)})
	}
	stop()
	readers.Wait()
	folding.Wait()
	contents(t, tab)
}

func TestHotPath_does_not_allocate(t *testing.T) {
	tab := empty(t)
	r := everything()
	r.Key = "smart"
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 100}, plain(1), plain(2), r)
	changed := plain(2)
	changed.Revision = 101
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{changed}})
	slugs := [][]byte{[]byte(plain(1).Key), []byte(plain(2).Key), []byte("smart"), []byte("unknown")}
	var sum uint64
	var nobody rule.Facts = facts{}
	if n := testing.AllocsPerRun(2000, func() {
		for _, slug := range slugs {
			if e, ok := tab.Lookup(slug); ok {
				sum += e.Num() + uint64(len(e.Destination())) + uint64(e.Terms().ExpiresAt)
				if !e.Plain() {
					sum += tab.Compiled(&e).Record.Num + uint64(len(choose(tab, &e, nobody, sum).Target))
				}
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFold_beside_a_load_is_dropped(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	for round := range 20 {
		var records []link.Record
		for i := range 2000 {
			records = append(records, plain(i))
		}
		load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 5000}, records...)
		changed := plain(1)
		changed.Revision = 5001
		apply(t, tab, snapshot.Delta{Upserts: []link.Record{changed}})
		var fold sync.WaitGroup
		fold.Go(tab.Fold)
		last := plain(0)
		last.Revision = 9000
		load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 9000 + uint64(round)}, last)
		fold.Wait()
		if got := contents(t, tab); len(got) != 1 || got[last.Key].Revision != 9000 {
			t.Fatalf("%d links", len(got))
		}
	}
}

func TestFoldDue(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, plain(0))
	deadline := time.Now().Add(time.Minute)
	for i := 1; !tab.FoldDue(); {
		var d snapshot.Delta
		for range 1500 {
			r := plain(i)
			d.Upserts = append(d.Upserts, r)
			i++
		}
		apply(t, tab, d)
		if time.Now().After(deadline) {
			t.Fatal("never due")
		}
	}
	n := tab.Len()
	tab.Fold()
	if tab.FoldDue() || tab.Len() != n {
		t.Error("due after a fold, or links lost")
	}
	contents(t, tab)
}
