package links_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/webhooks/webhooktest"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// subscribed makes a webhook for the events of time, and returns a function that lists what it has got, sorted.
func (w *world) subscribed() (got func() string) {
	w.Helper()
	webhooktest.CheckAll(w, w.store)
	hook := store.Webhook{ID: store.NewID(), UserID: w.ann.UserID, Workspace: w.ann.Workspace.Num, Name: "h", URL: "https://example.com/",
		Events: []string{"link.started", "link.expired", "link.exhausted"}, Active: true}
	w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error { return tx.InsertWebhook(w.Context(), &hook) }))
	return func() string {
		w.Helper()
		list, err := store.All(w.Context(), w.store.Conn, func(row interface{ Scan(...any) error }) (s string, err error) {
			var event, payload string
			err = row.Scan(&event, &payload)
			_, slug, _ := strings.Cut(payload, `"slug":"`)
			slug, _, _ = strings.Cut(slug, `"`)
			return strings.TrimPrefix(event, "link.") + " " + slug, err
		}, `SELECT event, payload FROM webhook_deliveries`)
		w.ok(err)
		slices.Sort(list)
		return strings.Join(list, ", ")
	}
}

// Webhooks are told once that a link has started, ended or had all its clicks, also if somebody has moved its start or end. Ends in
// the past that links are made with are not told.
func TestTellDue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Now()
		w := newWorld(t, s, func() time.Time { return now })
		got, hour := w.subscribed(), time.Hour.Milliseconds()
		at := func(hours int64) *int64 { ms := now.UnixMilli() + hours*hour; return &ms }
		make := func(slug string, in links.Input) store.Link {
			t.Helper()
			c := creation(slug)
			c.StartsAt, c.ExpiresAt, c.MaxClicks = in.StartsAt, in.ExpiresAt, in.MaxClicks
			u, err := w.links.Create(t.Context(), w.ann, c)
			testkit.Must(t, err)
			return u
		}
		two := int64(2)
		make("plain", links.Input{})
		make("both", links.Input{StartsAt: at(1), ExpiresAt: at(3)})
		later := make("later", links.Input{ExpiresAt: at(1)})
		gone := make("gone", links.Input{ExpiresAt: at(1)})
		sooner := make("sooner", links.Input{StartsAt: at(5), ExpiresAt: at(9)})
		limited := make("limited", links.Input{MaxClicks: &two})
		exec := func(statement string, args ...any) {
			t.Helper()
			testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error { return tx.Do(t.Context(), statement, args...) }))
		}
		exec(`UPDATE urls SET expires_at = ? WHERE num = ?`, *at(4), later.Num)
		exec(`UPDATE urls SET starts_at = NULL, expires_at = ? WHERE num = ?`, *at(-1), sooner.Num) // by its owner, early
		testkit.Must(t, w.links.Delete(t.Context(), w.ann, gone.ID, false))
		exec(`UPDATE urls SET exhausted_at = ? WHERE num = ?`, now.UnixMilli(), limited.Num)
		exec(`UPDATE urls SET exhausted_at = NULL WHERE num = ?`, limited.Num)
		now = now.Add(time.Minute)
		testkit.Must(t, w.links.TellDue(t.Context()))
		testkit.Equal(t, got(), "expired sooner, started sooner", "events at once")

		exec(`UPDATE urls SET exhausted_at = ? WHERE num = ?`, now.UnixMilli(), limited.Num)
		now = now.Add(2 * time.Hour)
		testkit.Must(t, w.links.TellDue(t.Context()))
		testkit.Equal(t, got(), "exhausted limited, expired sooner, started both, started sooner", "events after two hours")
		now = now.Add(24 * time.Hour)
		for range 3 {
			testkit.Must(t, w.links.TellDue(t.Context()))
		}
		testkit.Equal(t, got(), "exhausted limited, expired both, expired later, expired sooner, started both, started sooner",
			"events after a day")
	})
}

// Many processes tell at once, and each of them is interrupted again and again. Every event is told once.
func TestTellDue_by_many_that_are_interrupted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const many = 1000
		now := time.Now()
		w := newWorld(t, s, func() time.Time { return now })
		got := w.subscribed()
		testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error {
			var list []*store.Link
			for i := range many {
				list = append(list, &store.Link{ID: store.NewID(), UserID: w.ann.UserID, Workspace: w.ann.Workspace.Num,
					Slug: fmt.Sprintf("slug%04d", i), OriginalURL: "https://example.com", Active: true,
					ExpiresAt: now.Add(time.Hour).UnixMilli(), CreatedAt: 1, UpdatedAt: 1})
			}
			return tx.InsertLinks(t.Context(), list)
		}))
		now = now.Add(2 * time.Hour)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for n := range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+(i*7+n*13)%40)*time.Millisecond)
					_ = w.links.TellDue(ctx) // may fail: it is interrupted
					cancel()
				}
			})
		}
		wg.Wait()
		testkit.Must(t, w.links.TellDue(t.Context()))
		events := strings.Split(got(), ", ")
		testkit.Equal(t, len(events), many, "events")
		testkit.Equal(t, len(store.Distinct(events)), many, "different events")
	})
}

func newWorld(t *testing.T, s *store.Store, now func() time.Time) *world {
	t.Helper()
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	testkit.Must(t, err)
	w := &world{T: t, store: s, links: links.New(links.Config{BaseURL: "https://sho.rt", Now: now}, s, passwords)}
	u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
	w.ok(s.Tx(t.Context(), func(tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(t.Context(), u)
		return err
	}))
	w.ann = auth.PrincipalOf(u)
	return w
}
