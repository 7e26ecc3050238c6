package report_test

import (
	"context"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// counting counts the queries that reach the click store.
type counting struct {
	analytics.Store
	asked atomic.Int64
	pause atomic.Pointer[func()] // called once within the query for a series, after it was answered
}

func (c *counting) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	c.asked.Add(1)
	lines, err := c.Store.Lines(ctx, q)
	if q.Every == 0 {
		return lines, err
	}
	if f := c.pause.Swap(nil); f != nil {
		(*f)()
	}
	return lines, err
}

// world has two users and an administrator, each with a link and clicks.
type world struct {
	*testing.T
	store  *store.Store
	clicks *counting
	cache  *report.Cache
	*report.Service
	who   [3]auth.Principal
	links [3]store.Link
	seq   uint64
	later atomic.Int64 // how far the clock is ahead
}

const (
	ann = iota
	bob
	root
)

func newWorld(t *testing.T, st *store.Store, cfg report.CacheConfig) *world {
	t.Helper()
	under, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	t.Cleanup(func() { under.Close() })
	w := &world{T: t, store: st, clicks: &counting{Store: under}}
	w.cache, err = report.NewCache(cfg)
	w.ok(err)
	t.Cleanup(w.cache.Close)
	w.Service = report.New(st, w.clicks, func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }).Caching(w.cache)
	w.ok(st.Tx(t.Context(), func(tx *store.Tx) error {
		for i, name := range []string{"ann", "bob", "root"} {
			role := auth.User
			if i == root {
				role = auth.Admin
			}
			u := store.User{ID: store.NewID(), Email: name + "@example.com", Role: string(role), Active: true}
			var err error
			if u.Num, err = tx.InsertUser(t.Context(), u); err != nil {
				return err
			}
			w.who[i] = auth.PrincipalOf(u)
			w.links[i] = store.Link{ID: store.NewID(), UserID: u.ID, Slug: name, Title: name, OriginalURL: "https://example.com",
				Active: true}
			if err := tx.InsertLinks(t.Context(), []*store.Link{&w.links[i]}); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range w.who {
		w.click(i, false)
	}
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

// click stores a click and notifies the cache, as ingest does.
func (w *world) click(whose int, bot bool) {
	w.Helper()
	w.seq++
	row := analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 1}, Seq: w.seq}, Time: time.Now().UnixMilli(),
		Link: w.links[whose].Num, Owner: w.who[whose].UserNum, IP: netip.MustParseAddr("192.0.2.1"), Bot: bot}
	rows := []analytics.Row{row}
	w.ok(w.clicks.Insert(w.Context(), analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: row.Lane, Seq: row.Seq}}}))
	w.cache.Clicked(rows)
}

// questions are all cached reports, by name.
func (w *world) questions(whose int, a report.Ask) map[string]func() error {
	p, id := w.who[whose], w.links[whose].ID
	bots := a
	bots.IncludeBots = true
	return map[string]func() error{
		"link":     func() error { _, _, err := w.Link(w.Context(), p, id, a); return err },
		"overview": func() error { _, err := w.Overview(w.Context(), p, a); return err },
		"bots":     func() error { _, err := w.LinkBots(w.Context(), p, id, a); return err },
		"all bots": func() error { _, err := w.AllBots(w.Context(), p, a); return err },
		"test":     func() error { _, err := w.Test(w.Context(), p, id, a); return err },
		"tests":    func() error { _, err := w.Tests(w.Context(), p, a); return err },
		"routing":  func() error { _, err := w.Routing(w.Context(), p, id, a); return err },
		"top":      func() error { _, err := w.TopLinks(w.Context(), p, bots); return err },
	}
}

// remembered repeats the request until the answer comes from the cache, which stores entries with a short delay.
func (w *world) remembered(ask func() error) {
	w.Helper()
	testkit.Eventually(w, "the answer is remembered", func() bool {
		before := w.clicks.asked.Load()
		w.ok(ask())
		return w.clicks.asked.Load() == before
	})
}

func (w *world) asks(what string, ask func() error, want bool) {
	w.Helper()
	before := w.clicks.asked.Load()
	w.ok(ask())
	if got := w.clicks.asked.Load() > before; got != want {
		w.Errorf("%s: asks the click store: %v, want %v", what, got, want)
	}
}

func TestCache_forgets_what_changed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, report.CacheConfig{})
		for name, ask := range w.questions(ann, report.Ask{}) {
			w.remembered(ask)
			w.click(bob, false)
			w.asks(name+" after a click on somebody else's link", ask, false)
			w.click(ann, false)
			w.asks(name+" after a click", ask, true)
			w.remembered(ask)
			w.click(ann, true)
			w.asks(name+" after a bot's click", ask, true)
			w.remembered(ask)
			w.ok(st.Tx(t.Context(), func(tx *store.Tx) error { return tx.Touch(t.Context(), w.links[ann].Num, "ann") }))
			w.asks(name+" after a link was edited", ask, true)
		}
		for name, ask := range w.questions(root, report.Ask{}) {
			w.remembered(ask)
			w.click(root, false)
			w.asks(name+" of the administrator after a click", ask, true)
		}
		all := w.questions(root, report.Ask{})["overview"]
		w.remembered(all)
		w.click(bob, false)
		w.asks("the administrator's overview after anybody's click", all, true)
	})
}

func TestCache_answers_are_right_and_one_user_s(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), report.CacheConfig{})
	w.click(ann, true)
	w.click(ann, true)
	total := func(whose int, a report.Ask) int64 {
		o, err := w.Overview(t.Context(), w.who[whose], a)
		w.ok(err)
		return o.TotalClicks
	}
	bots := report.Ask{IncludeBots: true}
	day := report.Ask{Range: report.Range{Start: "2026-01-01", End: "2026-01-01"}}
	for range 3 {
		for _, c := range []struct {
			whose int
			a     report.Ask
			want  int64
		}{{ann, report.Ask{}, 1}, {bob, report.Ask{}, 1}, {root, report.Ask{}, 3}, {ann, bots, 3}, {bob, bots, 1}, {root, bots, 5},
			{ann, day, 0}} {
			if got := total(c.whose, c.a); got != c.want {
				t.Errorf("user %d, %+v: %d clicks, want %d", c.whose, c.a, got, c.want)
			}
			w.remembered(func() error { total(c.whose, c.a); return nil })
		}
	}
	w.remembered(w.questions(root, report.Ask{})["link"])
	if _, _, err := w.Link(t.Context(), w.who[bob], w.links[ann].ID, report.Ask{}); err == nil {
		t.Error("a user gets the report on somebody else's link")
	}
	registry := prometheus.NewPedanticRegistry()
	w.ok(registry.Register(w.cache))
	if families, err := registry.Gather(); err != nil || len(families) != 1 || len(families[0].GetMetric()) != 3 {
		t.Errorf("metrics: %v, %v", families, err)
	}
}

func TestCache_a_click_during_the_making_is_not_forgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), report.CacheConfig{})
	late := func() { w.click(ann, false) }
	w.clicks.pause.Store(&late)
	for i, want := range []int64{1, 2} { // the series has the total, and is read before the click
		r, _, err := w.Link(t.Context(), w.who[ann], w.links[ann].ID, report.Ask{})
		w.ok(err)
		if r.TotalClicks != want {
			t.Fatalf("answer %d: %d clicks, want %d", i, r.TotalClicks, want)
		}
	}
}

func TestCache_shared_is_never_older_than_its_bound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), report.CacheConfig{TTL: time.Hour, Shared: true})
	ask := w.questions(ann, report.Ask{})["overview"]
	w.remembered(ask)
	// Another process stores a click, and this one is not notified.
	w.ok(w.clicks.Store.Insert(t.Context(),
		analytics.Batch{Rows: []analytics.Row{{Identity: analytics.Identity{Lane: click.Lane{Edge: 5}, Seq: 1},
			Time: time.Now().UnixMilli(),
			Link: w.links[ann].Num, Owner: w.who[ann].UserNum}}}))
	w.later.Store(int64(report.SharedTTL))
	o, err := w.Overview(t.Context(), w.who[ann], report.Ask{})
	if w.ok(err); o.TotalClicks != 2 {
		t.Errorf("%d clicks, want 2", o.TotalClicks)
	}
}

func TestNewCache_refuses_nonsense(t *testing.T) {
	t.Parallel()
	if _, err := report.NewCache(report.CacheConfig{TTL: -1}); err == nil {
		t.Error("a negative lifetime is accepted")
	}
}

// A click that names a former owner of its link outdates the reports of the present one, also if the cache learns of the
// move from no report.
func TestCache_late_click_of_a_moved_link(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, report.CacheConfig{})
		total := func(who int) int64 {
			t.Helper()
			o, err := w.Overview(t.Context(), w.who[who], report.Ask{})
			w.ok(err)
			return o.TotalClicks
		}
		move := func(to int) {
			t.Helper()
			w.ok(st.Tx(t.Context(), func(tx *store.Tx) error {
				return tx.MoveLinks(t.Context(), []uint64{w.links[ann].Num}, w.who[to].Workspace.Num, 1)
			}))
		}
		move(bob)
		for i := range int64(3) {
			for range 2 {
				if a, b := total(ann), total(bob); a != 0 || b != 2+i {
					t.Errorf("ann has %d clicks, bob %d, want 0 and %d", a, b, 2+i)
				}
			}
			w.click(ann, false) // names ann
		}
		total(ann)
		total(bob)
		move(ann)
		w.click(ann, false)
		if a, b := total(ann), total(bob); a != 5 || b != 1 {
			t.Errorf("ann has %d clicks, bob %d, want 5 and 1", a, b)
		}
	})
}
