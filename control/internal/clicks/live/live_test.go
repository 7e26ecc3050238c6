package live_test

import (
	"errors"
	"fmt"
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
	"github.com/shortline/shortline/shared/testing/testkit"
)

// newFeed returns a running feed, a user with a link, and clicks on it.
func newFeed(t *testing.T, cfg live.Config) (f *live.Feed, ann auth.Principal, rows func(from, to uint64) []analytics.Row,
	clicks analytics.Store) {
	t.Helper()
	f, ann, rows, clicks, _ = newFeedOf(t, cfg)
	return f, ann, rows, clicks
}

func newFeedOf(t *testing.T, cfg live.Config) (f *live.Feed, ann auth.Principal, rows func(from, to uint64) []analytics.Row,
	clicks analytics.Store, st *store.Store) {
	t.Helper()
	st = storetest.Open(t)
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = clicks.Close() })
	u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
	l := store.Link{ID: store.NewID(), UserID: u.ID, Slug: "one", OriginalURL: "https://example.com", Active: true}
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) (err error) {
		if u.Num, err = tx.InsertUser(t.Context(), u); err != nil {
			return err
		}
		ann = auth.PrincipalOf(u)
		return tx.InsertLinks(t.Context(), []*store.Link{&l})
	}))
	f = live.New(cfg, st, clicks)
	testkit.Run(t, f.Run)
	return f, ann, func(from, to uint64) (list []analytics.Row) {
		for seq := from; seq <= to; seq++ {
			list = append(list, analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 1}, Seq: seq},
				Time: time.Now().UnixMilli() +
					int64(seq), Link: l.Num, Owner: ann.UserNum})
		}
		return list
	}, clicks, st
}

func subscribe(t *testing.T, f *live.Feed, p auth.Principal) *live.Subscription {
	t.Helper()
	s, err := f.Subscribe(t.Context(), p, live.Ask{})
	testkit.Must(t, err)
	t.Cleanup(s.Close)
	return s
}

// take takes until it has at least n clicks or losses.
func take(t *testing.T, s *live.Subscription, n int) (ids []string, dropped uint64) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("%d clicks and losses", n), func() bool {
		select {
		case <-s.News():
			events, lost := s.Take()
			for _, c := range events {
				ids = append(ids, c.ID)
			}
			dropped += lost
		default:
		}
		return len(ids)+int(dropped) >= n
	})
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
		testkit.Must(t, clicks.Insert(t.Context(), analytics.Batch{Rows: list}))
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

// A moved link's clicks go to the feeds of its new workspace only, even if they still name the old one. This holds for a
// feed of one link too, and whether clicks come from ingest or from polling.
func TestFeed_follows_a_moved_link(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]live.Config{"stored": {}, "polled": {Poll: 5 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ann, rows, clicks, st := newFeedOf(t, cfg)
			var bob auth.Principal
			testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) (err error) {
				u := store.User{ID: store.NewID(), Email: "bob@example.com", Role: "USER", Active: true}
				u.Num, err = tx.InsertUser(t.Context(), u)
				bob = auth.PrincipalOf(u)
				return err
			}))
			arrive := func(list []analytics.Row) {
				t.Helper()
				testkit.Must(t, clicks.Insert(t.Context(), analytics.Batch{Rows: list}))
				f.Stored(list)
			}
			move := func(to auth.Principal) {
				t.Helper()
				testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
					return tx.MoveLinks(t.Context(), []uint64{1}, to.Workspace.Num, 1)
				}))
			}
			one, err := st.LinksByNum(t.Context(), []uint64{1})
			testkit.Must(t, err)
			annsLink, err := f.Subscribe(t.Context(), ann, live.Ask{URLID: one[1].ID})
			testkit.Must(t, err)
			t.Cleanup(annsLink.Close)
			anns, bobs := subscribe(t, f, ann), subscribe(t, f, bob)
			before := rows(1, 3)
			arrive(before)
			take(t, anns, 3)
			take(t, annsLink, 3)
			move(bob)
			first := map[string]bool{}
			for _, r := range before {
				first[r.ID()] = true
			}
			arrive(rows(4, 6)) // they name ann
			got := map[string]bool{}
			testkit.Eventually(t, "three clicks reach the new workspace", func() bool {
				ids, _ := take(t, bobs, 1)
				for _, id := range ids {
					if !first[id] {
						got[id] = true
					}
				}
				return len(got) >= 3
			})
			for name, s := range map[string]*live.Subscription{"workspace": anns, "link": annsLink} {
				if list, _ := s.Take(); len(list) > 0 {
					t.Errorf("the feed of the old %s got %d clicks after the move", name, len(list))
				}
			}
			move(ann)
			late := rows(7, 9)
			for i := range late {
				late[i].Owner = bob.Workspace.Num
			}
			bobs.Take()
			arrive(late)
			take(t, anns, 3)
			take(t, annsLink, 3)
			if list, _ := bobs.Take(); len(list) > 0 {
				t.Errorf("%d clicks after the move back", len(list))
			}
		})
	}
}

func TestA6_Watched_while_there_is_a_subscription(t *testing.T) {
	t.Parallel()
	f, ann, _, _ := newFeed(t, live.Config{})
	before := f.Watched()
	one, two := subscribe(t, f, ann), subscribe(t, f, ann)
	both := f.Watched()
	one.Close()
	last := f.Watched()
	two.Close()
	if before || !both || !last || f.Watched() {
		t.Errorf("watched: %v, %v with two, %v with one, %v after them", before, both, last, f.Watched())
	}
}
