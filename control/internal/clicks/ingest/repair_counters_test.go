package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// addLinks adds links without clicks. Their numbers are higher than that of the world's link.
func (w *world) addLinks(n int) []*store.Link {
	w.t.Helper()
	list := make([]*store.Link, n)
	for i := range list {
		list[i] = &store.Link{ID: store.NewID(), UserID: w.link.UserID, Slug: fmt.Sprintf("more%d", i), OriginalURL: "https://example.com",
			Active: true, CreatedAt: 1, UpdatedAt: 1}
	}
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error { return tx.InsertLinks(w.t.Context(), list) }))
	return list
}

// lookElsewhere lets the comparison of all counters continue behind the world's link.
func (w *world) lookElsewhere() {
	w.t.Helper()
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error { return tx.SetComparedTo(w.t.Context(), 0, w.link.Num+1) }))
}

func (w *world) uncounted() []store.UncountedHour {
	w.t.Helper()
	list, err := w.store.Uncounted(context.Background(), 0)
	w.ok(err)
	return list
}

func TestCounters_of_a_killed_process_are_corrected(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.addLinks(3)
		w.lookElsewhere()
		killed, _ := w.start(ingest.Config{}, w.clicks, false) // it never counts
		w.ok(killed.Deliver(t.Context(), w.batch(click.Lane{Edge: 9}, 1, 7, nil)))
		if n := len(w.uncounted()); n != 1 {
			t.Fatalf("%d hours recorded, want that of the clicks", n)
		}
		_, stop := w.start(ingest.Config{CompareLinks: 1}, w.clicks, true)
		testkit.Eventually(t, "the clicks of the killed process are counted", func() bool { return w.clickCount() == 7 })
		stop()
		// The other process may still live, so its hours stay for some time.
		list := w.uncounted()
		if len(list) != 1 {
			t.Fatalf("%d hours recorded after they were counted, want 1", len(list))
		}
		list[0].Seen = time.Now().Add(-time.Hour).UnixMilli()
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) error {
			if err := tx.AddUncounted(t.Context(), list[0].Writer, list[0].Seen, []int64{list[0].Hour}); err != nil {
				return err
			}
			return tx.SetClickCounts(t.Context(), []store.Counted{{Num: w.link.Num, Count: 3, Was: 7}}, store.Replace)
		}))
		_, stop = w.start(ingest.Config{CompareLinks: 1}, w.clicks, true)
		testkit.Eventually(t, "the hour of a process that has ended is counted and removed", func() bool {
			return w.clickCount() == 7 && len(w.uncounted()) == 0
		})
		stop()
	})
}

func TestHours_are_removed_when_their_clicks_are_counted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		in, stop := w.start(ingest.Config{}, w.clicks, true)
		w.ok(in.Deliver(t.Context(), w.batch(click.Lane{Edge: 9}, 1, 5, func(e *click.Event) {
			e.Time += int64(e.Seq) * time.Hour.Milliseconds()
		})))
		testkit.Equal(t, len(w.uncounted()), 5, "hours recorded")
		stop()
		if w.clickCount() != 5 || len(w.uncounted()) > 0 {
			t.Errorf("%d clicks counted and %d hours recorded after the end, want 5 and none", w.clickCount(), len(w.uncounted()))
		}
		in, _ = w.start(ingest.Config{}, w.clicks, false)
		w.ok(in.Deliver(t.Context(), w.batch(click.Lane{Edge: 9}, 6, 5, func(e *click.Event) { e.UserAgent = robot })))
		testkit.Equal(t, len(w.uncounted()), 0, "hours recorded for clicks of bots, which no counter includes")
	})
}

func TestCounters_are_compared_in_turn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		links := append([]*store.Link{&w.link}, w.addLinks(6)...)
		var wrong []store.Counted
		for i, l := range links {
			wrong = append(wrong, store.Counted{Num: l.Num, Count: int64(10 + i)})
		}
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) error { return tx.SetClickCounts(t.Context(), wrong, store.Raise) }))
		w.lookElsewhere()
		w.start(ingest.Config{CompareLinks: 2, RepairEvery: time.Millisecond}, w.clicks, true)
		testkit.Eventually(t, "all counters are corrected", func() bool {
			for _, l := range links {
				now, err := s.LinkByID(context.Background(), l.ID)
				if err != nil || now.ClickCount != 0 {
					return false
				}
			}
			return true
		})
	})
}

// Two processes count the same link; the one that counted first writes last.
func TestCounters_do_not_fall_when_writes_overtake_each_other(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		set := func(c store.Counted, change store.CounterChange) {
			w.ok(s.Tx(t.Context(), func(tx *store.Tx) error { return tx.SetClickCounts(t.Context(), []store.Counted{c}, change) }))
		}
		set(store.Counted{Num: w.link.Num, Count: 11}, store.Raise)
		set(store.Counted{Num: w.link.Num, Count: 10}, store.Raise)
		set(store.Counted{Num: w.link.Num, Count: 9, Was: 10}, store.Replace)
		testkit.Equal(t, w.clickCount(), 11, "the counter")
	})
}
