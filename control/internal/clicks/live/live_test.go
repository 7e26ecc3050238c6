package live_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
)

// newFeed returns a running feed, a user with a link, and clicks on it.
func newFeed(t *testing.T, cfg live.Config) (f *live.Feed, ann auth.Principal, rows func(from, to uint64) []analytics.Row, clicks analytics.Store) {
	t.Helper()
	st := storetest.Open(t)
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clicks.Close() })
	u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
	l := store.Link{ID: store.NewID(), UserID: u.ID, Slug: "one", OriginalURL: "https://example.com", Active: true}
	if err := st.Tx(t.Context(), func(tx *store.Tx) (err error) {
		if u.Num, err = tx.InsertUser(t.Context(), u); err != nil {
			return err
		}
		ann = auth.PrincipalOf(u)
		return tx.InsertLinks(t.Context(), []*store.Link{&l})
	}); err != nil {
		t.Fatal(err)
	}
	f = live.New(cfg, st, clicks)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return f, ann, func(from, to uint64) (list []analytics.Row) {
		for seq := from; seq <= to; seq++ {
			list = append(list, analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 1}, Seq: seq}, Time: time.Now().UnixMilli() + int64(seq), Link: l.Num, Owner: ann.UserNum})
		}
		return list
	}, clicks
}

func subscribe(t *testing.T, f *live.Feed, p auth.Principal) *live.Subscription {
	t.Helper()
	s, err := f.Subscribe(t.Context(), p, live.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// take takes until it has at least n clicks or losses.
func take(t *testing.T, s *live.Subscription, n int) (ids []string, dropped uint64) {
	t.Helper()
	for deadline := time.After(10 * time.Second); len(ids)+int(dropped) < n; {
		select {
		case <-s.News():
			clicks, lost := s.Take()
			for _, c := range clicks {
				ids = append(ids, c.ID)
			}
			dropped += lost
		case <-deadline:
			t.Fatalf("%d clicks and %d losses, want %d in all", len(ids), dropped, n)
		}
	}
	return ids, dropped
}

func TestFeed_a_slow_reader_loses_the_oldest_and_holds_nobody_up(t *testing.T) {
	t.Parallel()
	f, ann, rows, _ := newFeed(t, live.Config{Buffer: 4})
	slow, quick := subscribe(t, f, ann), subscribe(t, f, ann)
	list := rows(1, 10)
	for i := range list {
		f.Stored(list[i : i+1])
		if ids, dropped := take(t, quick, 1); dropped != 0 || len(ids) != 1 || ids[0] != list[i].ID() {
			t.Fatalf("click %d: %v, %d dropped", i, ids, dropped)
		}
	}
	// The feed delivers one batch to all subscriptions before the next, so the slow one got at least nine by now.
	ids, dropped := take(t, slow, 10)
	if dropped != 6 || len(ids) != 4 {
		t.Fatalf("%d kept, %d dropped", len(ids), dropped)
	}
	for i, id := range ids {
		if id != list[6+i].ID() {
			t.Errorf("kept %v, want the newest", ids)
		}
	}
	if problems, err := testutil.CollectAndLint(f); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestFeed_polling_gives_each_click_once(t *testing.T) {
	t.Parallel()
	f, ann, rows, clicks := newFeed(t, live.Config{Poll: 5 * time.Millisecond})
	insert := func(list []analytics.Row) {
		t.Helper()
		if err := clicks.Insert(t.Context(), analytics.Batch{Rows: list}); err != nil {
			t.Fatal(err)
		}
	}
	insert(rows(1, 20))
	s := subscribe(t, f, ann)
	seen := map[string]bool{}
	for from := uint64(21); from <= 120; from += 10 {
		insert(rows(from, from+9))
		late := subscribe(t, f, ann) // shares the window
		late.Close()
		ids, dropped := take(t, s, 10)
		if dropped != 0 || len(ids) != 10 {
			t.Fatalf("%d clicks, %d dropped", len(ids), dropped)
		}
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%s comes twice", id)
			}
			seen[id] = true
		}
	}
}

func TestSubscribe_limits(t *testing.T) {
	t.Parallel()
	f, ann, _, _ := newFeed(t, live.Config{PerUser: 2, Total: 3})
	bob := auth.PrincipalOf(store.User{ID: "bob", Num: 99, Role: "USER"})
	first := subscribe(t, f, ann)
	subscribe(t, f, ann)
	refused := func(p auth.Principal) {
		t.Helper()
		var e *problem.Error
		if _, err := f.Subscribe(t.Context(), p, live.Ask{}); !errors.As(err, &e) || e.Kind != problem.TooMany {
			t.Fatalf("error %v", err)
		}
	}
	refused(ann)
	subscribe(t, f, bob)
	refused(bob)
	first.Close()
	first.Close()
	subscribe(t, f, ann)
	refused(ann)
}
