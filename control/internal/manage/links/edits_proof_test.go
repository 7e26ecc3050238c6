//go:build proof

package links_test

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// An edit of 100,000 links ends within ten minutes, in steps that leave the database to others, and needs no memory that grows with the
// links. It publishes its figures.
func TestEdits_of_100_000_links(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const n = links.MaxEdited
		service, p := manyLinks(t, s, n)
		for _, c := range []struct {
			name   string
			change links.Change
		}{
			{"a tag", links.Change{Tags: []string{"spring"}}},
			{"a campaign", links.Change{UTM: map[string]string{"utmCampaign": "summer"}}},
			{"a part of destinations", links.Change{Find: "https://example.com/", With: "https://www.example.com/"}},
		} {
			e := startEdit(t, service, p, c.change)
			began, used, peak, steps := time.Now(), processor(t), uint64(0), []time.Duration{}
			for more := true; more; {
				from := time.Now()
				var err error
				more, err = service.NextEdit(t.Context())
				testkit.Must(t, err)
				steps = append(steps, time.Since(from))
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			took, cpu := time.Since(began), processor(t)-used
			e, err := service.Edit(t.Context(), p, e.ID)
			testkit.Must(t, err)
			if e.Status != store.EditDone || e.Changed != n {
				t.Fatalf("%+v", e)
			}
			t.Logf("%s: %s, %s of a processor, %.0f links a second, 25 steps of 200 at most %s, heap at most %d MiB", c.name,
				took.Round(time.Second), cpu.Round(time.Millisecond), n/took.Seconds(), slices.Max(steps).Round(time.Millisecond), peak>>20)
			testkit.Within(t, 10*time.Minute, began, "an edit of 100,000 links")
		}
	})
}

func startEdit(t *testing.T, service *links.Service, p auth.Principal, c links.Change) store.LinkEdit {
	t.Helper()
	from := time.Now()
	dry, err := service.PreviewEdit(t.Context(), p, links.Choice{Query: &links.Query{}}, c)
	testkit.Must(t, err)
	looked := time.Since(from)
	from = time.Now()
	e, err := service.StartEdit(t.Context(), p, links.Choice{Query: &links.Query{}}, c)
	testkit.Must(t, err)
	t.Logf("a dry run of %d links: %s; the start: %s", dry.Total, looked.Round(time.Millisecond), time.Since(from).Round(time.Millisecond))
	return e
}

func manyLinks(t *testing.T, s *store.Store, n int) (*links.Service, auth.Principal) {
	t.Helper()
	owner := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
	testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) (err error) {
		owner.Num, err = tx.InsertUser(t.Context(), owner)
		return err
	}))
	p := auth.PrincipalOf(owner)
	for from := 0; from < n; from += 10_000 {
		testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error {
			list := make([]*store.Link, 10_000)
			for i := range list {
				list[i] = &store.Link{ID: store.NewID(), UserID: owner.ID, Workspace: p.Workspace.Num,
					Slug: fmt.Sprintf("slug%06d", from+i), Active: true,
					OriginalURL: fmt.Sprintf("https://example.com/%d", from+i), CreatedAt: store.Now(), UpdatedAt: store.Now()}
			}
			return tx.InsertLinks(t.Context(), list)
		}))
	}
	return links.New(links.Config{BaseURL: "https://sho.rt"}, s, nil), p
}

// processor returns the time of processors that this process has used.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	testkit.Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
