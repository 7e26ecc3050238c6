package convert_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// world is an Ingester with real stores and two workspaces.
type world struct {
	*testing.T
	store    *store.Store
	clicks   analytics.Store
	in       *convert.Ingester
	seen     observer
	ann, bob uint64
	link     uint64 // of ann
}

// observer keeps what it is told.
type observer struct {
	mu   sync.Mutex
	list []analytics.Conversion
	fail bool
}

func (o *observer) NoteConversions(_ context.Context, list []analytics.Conversion) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail {
		return errors.New("the observer fails")
	}
	o.list = append(o.list, list...)
	return nil
}

func each(t *testing.T, f func(w *world)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = clicks.Close() })
		w := &world{T: t, store: s, clicks: clicks}
		w.in = convert.NewIngester(convert.IngestConfig{Observer: &w.seen}, s, clicks)
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) (err error) {
			ann := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
			if w.ann, err = tx.InsertUser(t.Context(), ann); err != nil {
				return err
			}
			bob := store.User{ID: store.NewID(), Email: "bob@example.com", Role: "USER", Active: true}
			if w.bob, err = tx.InsertUser(t.Context(), bob); err != nil {
				return err
			}
			u := store.Link{ID: store.NewID(), UserID: ann.ID, Workspace: w.ann, Slug: "launch", OriginalURL: "https://example.com",
				Active:    true,
				CreatedAt: 1, UpdatedAt: 1}
			err = tx.InsertLinks(t.Context(), []*store.Link{&u})
			w.link = u.Num
			return err
		}))
		f(w)
	})
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

var lane = click.Lane{Edge: 7, Epoch: 1}

// A number (externalId) counts once within a workspace and a name, whichever click it comes with: in one batch, in later ones, and
// in those that come again after a failure.
func TestB3_a_number_counts_once(t *testing.T) {
	each(t, func(w *world) {
		if w.Name() == "TestB3_a_number_counts_once/postgres" {
			clicks, err := clickhouse.Open(w.Context(), clickhouse.Config{URL: clickhousetest.Database(w)})
			w.ok(err)
			w.Cleanup(func() { _ = clicks.Close() })
			w.clicks, w.in = clicks, convert.NewIngester(convert.IngestConfig{Observer: &w.seen}, w.store, clicks)
		}
		one, two, three := w.row(1), w.row(2), w.row(3)
		w.insert(one, two, three)
		order := func(r *analytics.Row, name, number string, browser bool) conversion.Conversion {
			c := w.of(r, name)
			c.ExternalID, c.Browser = number, browser
			return c
		}
		renewal := order(&two, "renewal", "1", false)
		renewal.Repeatable = true
		w.seen.fail = true
		if err := w.deliver(order(&one, "purchase", "1", false)); err == nil {
			w.Error("delivered without the observer")
		}
		w.seen.fail = false
		// The first click has the number, although its conversion is not stored.
		w.ok(w.deliver(order(&two, "purchase", "1", true), order(&one, "purchase", "1", false), renewal))
		w.ok(w.deliver(order(&three, "purchase", "1", false), order(&three, "purchase", "2", false)))
		renewal.Click = w.of(&three, "").Click
		w.ok(w.deliver(renewal, order(&one, "purchase", "1", false)))
		var got []string
		for _, c := range w.stored() {
			got = append(got, fmt.Sprint(c.Name, " ", c.ExternalID, " of ", c.Row.Seq))
		}
		slices.Sort(got)
		if want := []string{"purchase 1 of 1", "purchase 2 of 3", "renewal 1 of 2"}; !slices.Equal(got, want) {
			w.Errorf("stored %q, want %q", got, want)
		}
		if len(w.seen.list) != 3 {
			w.Errorf("%d conversions were observed", len(w.seen.list))
		}
	})
}

// row is a click of ann's link.
func (w *world) row(seq uint64) analytics.Row {
	at := time.Now().Add(-time.Minute).UnixMilli()
	return analytics.Row{Identity: analytics.Identity{Lane: lane, Seq: seq}, Time: at, Link: w.link, Owner: w.ann, Country: "DE"}
}

func (w *world) insert(rows ...analytics.Row) {
	w.Helper()
	w.ok(w.clicks.Insert(w.Context(), analytics.Batch{Rows: rows}))
}

// of is a conversion of a click.
func (w *world) of(r *analytics.Row, name string) conversion.Conversion {
	now := time.Now().UnixMilli()
	return conversion.Conversion{Click: conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Lane, r.Seq)},
		Workspace: w.ann,
		Name:      name, Value: 10_000, Currency: "EUR", OccurredAt: now, ReceivedAt: now}
}

// deliver passes conversions to the Ingester in one batch.
func (w *world) deliver(list ...conversion.Conversion) error {
	return w.in.Deliver(w.Context(), batchOf(list))
}

func (w *world) stored() (list []analytics.Conversion) {
	w.Helper()
	w.ok(w.clicks.EachConversion(w.Context(), analytics.Scope{}, "", 1000, func(c *analytics.Conversion) error {
		list = append(list, *c)
		return nil
	}))
	return list
}

func TestIngester_stores_each_conversion_once(t *testing.T) {
	each(t, func(w *world) {
		r := w.row(1)
		w.insert(r)
		c := w.of(&r, "purchase")
		w.ok(w.deliver(c, c))
		w.ok(w.deliver(c))
		list := w.stored()
		if len(list) != 1 || !list[0].Attributed || list[0].Row.Country != "DE" || list[0].Value != 10_000 {
			w.Fatalf("stored %+v", list)
		}
		if len(w.seen.list) != 1 || w.seen.list[0].Key() != list[0].Key() || !w.seen.list[0].Attributed {
			w.Errorf("the observer saw %+v", w.seen.list)
		}
		goals, err := w.store.GoalsOf(w.Context(), []uint64{w.link})
		w.ok(err)
		if len(goals) != 1 || goals[0].Name != "purchase" {
			w.Errorf("goals %+v", goals)
		}
	})
}

// A conversion is stored only after the observer has it, and comes again until then.
func TestIngester_waits_for_the_observer(t *testing.T) {
	each(t, func(w *world) {
		r := w.row(1)
		w.insert(r)
		w.seen.fail = true
		if err := w.deliver(w.of(&r, "purchase")); err == nil || len(w.stored()) != 0 {
			w.Errorf("delivered with %v, stored %d", err, len(w.stored()))
		}
		w.seen.fail = false
		w.ok(w.deliver(w.of(&r, "purchase")))
		if len(w.stored()) != 1 || len(w.seen.list) != 1 {
			w.Errorf("stored %d, observed %d", len(w.stored()), len(w.seen.list))
		}
	})
}

// Edges cannot know whose link it is, and how many names it has.
func TestIngester_drops_what_browsers_may_not_send(t *testing.T) {
	each(t, func(w *world) {
		r := w.row(1)
		w.insert(r)
		foreign, fine, gone := w.of(&r, "a"), w.of(&r, "b"), w.of(&r, "c")
		foreign.Workspace, foreign.Browser, fine.Browser = w.bob, true, true
		gone.Click.Link, gone.Browser = 12345, true
		w.ok(w.deliver(foreign, fine, gone))
		if list := w.stored(); len(list) != 1 || list[0].Name != "b" {
			w.Errorf("stored %+v", list)
		}
		var many []conversion.Conversion
		for i := range conversion.MaxGoals + 5 {
			c := w.of(&r, "goal "+string(rune('A'+i)))
			c.Browser = true
			many = append(many, c)
		}
		w.ok(w.deliver(many...))
		if n := len(w.stored()); n != conversion.MaxGoals {
			w.Errorf("%d conversions of other names, want %d", n, conversion.MaxGoals)
		}
	})
}

// A conversion of the API was accepted, so it stays although its link was deleted since.
func TestIngester_keeps_what_the_API_accepted(t *testing.T) {
	each(t, func(w *world) {
		r := w.row(1)
		r.Link = 4711
		w.ok(w.deliver(w.of(&r, "purchase")))
		if list := w.stored(); len(list) != 1 || list[0].Attributed || list[0].Row.Owner != w.ann {
			w.Errorf("stored %+v", list)
		}
	})
}

// A click that arrives after its conversion is found later.
func TestIngester_attributes_late_clicks(t *testing.T) {
	each(t, func(w *world) {
		testkit.Run(w, w.in.Run)
		late, lost := w.row(1), w.row(2)
		w.ok(w.deliver(w.of(&late, "purchase"), w.of(&lost, "purchase")))
		w.insert(late)
		testkit.Eventually(w.T, "the late click to be found", func() bool {
			attributed := 0
			for _, c := range w.stored() {
				if c.Attributed && c.Row.Country == "DE" && c.Row.Seq == 1 {
					attributed++
				}
			}
			return attributed == 1
		})
		if n := len(w.stored()); n != 2 {
			w.Errorf("%d conversions, want 2", n)
		}
	})
}
