package main_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/edge"
)

// After a deletion, visitors get 404 at three edges within a second, and the slug can be used again at once. A restored
// link needs another slug then.
func TestFleet_trash(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var edges []*edge.Edge
	for range 3 {
		e, stop := f.edge(t.TempDir())
		t.Cleanup(stop)
		edges = append(edges, e)
	}
	manage := links.New(links.Config{BaseURL: "https://sho.rt"}, f.store, nil)
	user, err := f.store.UserByID(t.Context(), "user")
	f.ok(err)
	p := auth.Principal{UserID: user.ID, UserNum: user.Num, Role: auth.User, Workspace: auth.Workspace{Num: user.Num, Personal: true, Role: auth.Owner}}
	// serve waits until every edge answers a visit with a status, and returns the longest time.
	serve := func(slug string, status int) time.Duration {
		t.Helper()
		began, took := time.Now(), make([]time.Duration, len(edges))
		var all sync.WaitGroup
		for i, e := range edges {
			all.Go(func() {
				for got := 0; got != status; time.Sleep(time.Millisecond) {
					got = f.visit(e, slug)
					if took[i] = time.Since(began); took[i] > 30*time.Second {
						t.Errorf("edge %d answers /%s with %d, want %d", i, slug, got, status)
						return
					}
				}
			})
		}
		all.Wait()
		return slices.Max(took)
	}
	var gone []time.Duration
	for range 20 {
		u := f.create("again")
		serve("again", http.StatusFound)
		f.ok(manage.Delete(t.Context(), p, u.ID, false))
		gone = append(gone, serve("again", http.StatusNotFound))
		other := f.create("again")
		serve("again", http.StatusFound)
		if _, err := manage.Restore(t.Context(), p, u.ID, links.Restoration{}); !problem.Is(err, problem.Conflict) {
			t.Errorf("a slug that was taken: %v", err)
		}
		back, err := manage.Restore(t.Context(), p, u.ID, links.Restoration{Slug: "back"})
		f.ok(err)
		if back.Num != u.Num {
			t.Errorf("the restored link has number %d, had %d", back.Num, u.Num)
		}
		serve("back", http.StatusFound)
		for _, id := range []string{u.ID, other.ID} {
			f.ok(manage.Delete(t.Context(), p, id, true))
		}
		serve("back", http.StatusNotFound)
		serve("again", http.StatusNotFound)
	}
	slices.Sort(gone)
	t.Logf("404 at three edges after %v (median), %v at most", gone[len(gone)/2], gone[len(gone)-1])
	if gone[len(gone)-1] > time.Second {
		t.Errorf("404 at three edges after %v", gone[len(gone)-1])
	}
}
