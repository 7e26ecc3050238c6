package links_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

type world struct {
	*testing.T
	store *store.Store
	links *links.Service
	ann   auth.Principal
}

func each(t *testing.T, f func(w *world)) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, s *store.Store) {
		f(newWorld(t, s, nil))
	})
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

func creation(slug string) links.Creation {
	to := "https://example.com/" + slug
	return links.Creation{Input: links.Input{OriginalURL: &to}, CustomSlug: slug}
}

// Of concurrent creations with the same slug, exactly one succeeds and the others fail with a conflict.
func TestCreate_a_slug_goes_to_one(t *testing.T) {
	each(t, func(w *world) {
		var got, conflicts atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				switch _, err := w.links.Create(w.Context(), w.ann, creation("wanted")); {
				case err == nil:
					got.Add(1)
				case problem.Is(err, problem.Conflict):
					conflicts.Add(1)
				default:
					w.Error(err)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 || conflicts.Load() != 7 {
			w.Errorf("%d creations succeeded, %d failed with a conflict", got.Load(), conflicts.Load())
		}
	})
}

// Concurrent bulk updates of the same links in opposite orders wait for each other and never fail.
func TestBulk_changes_at_once(t *testing.T) {
	each(t, func(w *world) {
		var ids []string
		for i := range 30 {
			u, err := w.links.Create(w.Context(), w.ann, creation(fmt.Sprintf("slug%d", i)))
			w.ok(err)
			ids = append(ids, u.ID)
		}
		reversed := slices.Clone(ids)
		slices.Reverse(reversed)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				list := [][]string{ids, reversed}[i%2]
				for j := range 5 {
					title := fmt.Sprint(i, j)
					if _, err := w.links.UpdateMany(w.Context(), w.ann, list,
						links.Input{Texts: map[string]string{"title": title}}); err != nil {
						w.Error(err)
					}
				}
			})
		}
		wg.Wait()
		// Each update ran as a whole, so all links are equal at the end.
		page, err := w.links.List(w.Context(), w.ann, links.Query{Limit: 100})
		w.ok(err)
		list := page.Links
		for _, u := range list {
			if u.Title != list[0].Title || u.Revision != list[0].Revision {
				w.Errorf("%s is %q at revision %d, %s is %q at %d", u.Slug, u.Title, u.Revision, list[0].Slug, list[0].Title,
					list[0].Revision)
			}
		}
	})
}

// Concurrent bulk creations of the same slugs in opposite orders create each slug once and never fail.
func TestBulk_creations_at_once(t *testing.T) {
	each(t, func(w *world) {
		var made, failed atomic.Int32
		var wg sync.WaitGroup
		for i := range 6 {
			var items []links.Creation
			for j := range 40 {
				items = append(items, creation(fmt.Sprintf("slug%d", j)))
			}
			if i%2 == 1 {
				slices.Reverse(items)
			}
			wg.Go(func() {
				good, bad, err := w.links.CreateMany(w.Context(), w.ann, items)
				if err != nil {
					w.Error(err)
				}
				made.Add(int32(len(good)))
				failed.Add(int32(len(bad)))
			})
		}
		wg.Wait()
		if made.Load() != 40 || failed.Load() != 200 {
			w.Errorf("%d made, %d failed", made.Load(), failed.Load())
		}
	})
}

// An update that runs during a deletion of the same link either succeeds first or finds no link.
func TestUpdate_while_deleted(t *testing.T) {
	each(t, func(w *world) {
		for i := range 10 {
			u, err := w.links.Create(w.Context(), w.ann, creation(fmt.Sprintf("slug%d", i)))
			w.ok(err)
			var wg sync.WaitGroup
			for j := range 3 {
				wg.Go(func() {
					title := fmt.Sprint(j)
					if _, err := w.links.Update(w.Context(), w.ann, u.ID,
						links.Input{Texts: map[string]string{"title": title}}); err != nil &&
						!problem.Is(err, problem.NotFound) {
						w.Error(err)
					}
				})
			}
			wg.Go(func() { // not w.ok: Fatal must not run outside the test's goroutine
				if err := w.links.Delete(w.Context(), w.ann, u.ID, false); err != nil {
					w.Error(err)
				}
			})
			wg.Wait()
		}
		if page, err := w.links.List(w.Context(), w.ann, links.Query{Limit: 1}); err != nil || page.Total != 0 {
			w.Errorf("%d links left, %v", page.Total, err)
		}
	})
}
