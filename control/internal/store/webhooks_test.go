package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func addWebhook(t *testing.T, s *store.Store, w store.Webhook) store.Webhook {
	t.Helper()
	w.ID, w.CreatedAt, w.UpdatedAt = store.NewID(), store.Now(), store.Now()
	inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertWebhook(ctx, &w) })
	return w
}

func addDelivery(t *testing.T, s *store.Store, webhookID, eventID string, due int64) store.Delivery {
	t.Helper()
	d := store.Delivery{ID: webhookID + eventID, WebhookID: webhookID, EventID: eventID, Event: "url.created", Payload: `{"a":"<&>"}`,
		DueAt: due, CreatedAt: due}
	inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertDeliveries(ctx, []store.Delivery{d}) })
	return d
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "ADMIN"), addUser(t, s, "bob@example.com", "USER")
		first := addWebhook(t, s, store.Webhook{UserID: ann.ID, Workspace: ann.Num, Name: "First", URL: "https://example.com/a%b",
			Secret:  "s",
			Headers: "h", Events: []string{"url.created", "url.clicked"}, Active: true})
		second := addWebhook(t, s, store.Webhook{UserID: bob.ID, Workspace: bob.Num, Name: "Second", URL: "https://example.com/",
			Events: []string{"url.clicked"}, EveryLink: true})
		got, err := s.WebhookByID(ctx, first.ID)
		testkit.Must(t, err)
		if fmt.Sprint(got) != fmt.Sprint(first) {
			t.Fatalf("read %+v, wrote %+v", got, first)
		}
		if _, err := s.WebhookByID(ctx, "none"); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		for _, q := range []struct {
			workspace uint64
			search    string
			want      []string
		}{{0, "", []string{second.ID, first.ID}}, {ann.Num, "", []string{first.ID}}, {0, "FIRST", []string{first.ID}},
			{0, "a%b", []string{first.ID}}, {0, "a_b", nil}, {bob.Num, "first", nil}} {
			list, total, err := s.Webhooks(ctx, q.workspace, q.search, 10, 0)
			testkit.Must(t, err)
			var ids []string
			for _, w := range list {
				ids = append(ids, w.ID)
			}
			if !slices.Equal(ids, q.want) || total != len(q.want) {
				t.Errorf("%+v: %v of %d", q, ids, total)
			}
		}
		second.Name, second.URL, second.Secret, second.Headers, second.Events, second.EveryLink, second.Active, second.UpdatedAt = "X",
			"https://x", "t", "i", []string{"url.deleted"}, false, true, 5
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.UpdateWebhook(ctx, &second); err != nil {
				return err
			}
			for _, id := range []string{second.ID, "none"} {
				there, err := tx.NoteAttempts(ctx, id, store.Attempts{Succeeded: 2, Failed: 1, LastAt: 7, LastError: "oh"})
				if err != nil || there != (id == second.ID) {
					return fmt.Errorf("%s is there: %v, %v", id, there, err)
				}
			}
			return nil
		})
		second.Sent, second.Succeeded, second.Failed, second.LastSentAt, second.LastError = 3, 2, 1, 7, "oh"
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			got, err := tx.LockWebhook(ctx, second.ID)
			if err == nil && fmt.Sprint(got) != fmt.Sprint(second) {
				err = fmt.Errorf("read %+v, wrote %+v", got, second)
			}
			return err
		})
		if n, err := s.CountWebhooks(ctx, bob.Num); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		addDelivery(t, s, second.ID, "1", 1)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.InsertWebhookLog(ctx, &store.WebhookLog{ID: "l", WebhookID: second.ID}); err != nil {
				return err
			}
			return tx.DeleteWebhook(ctx, second.ID)
		})
		var left int
		testkit.Must(t, s.Row(ctx, `SELECT (SELECT count(*) FROM webhook_logs) + (SELECT count(*) FROM webhook_deliveries)`).Scan(&left))
		testkit.Equal(t, left, 0, "rows left of a deleted webhook")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return dropUser(ctx, tx, ann.ID) })
		if _, err := s.WebhookByID(ctx, first.ID); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("a deleted user's webhook: %v", err)
		}
	})
}

func TestSubscriptions_see_all_only_while_the_owner_is_an_active_admin(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "ADMIN"), addUser(t, s, "bob@example.com", "USER")
		all := addWebhook(t, s, store.Webhook{UserID: ann.ID, Events: []string{"url.created"}, Active: true, EveryLink: true})
		addWebhook(t, s, store.Webhook{UserID: ann.ID, Events: []string{"url.created"}, EveryLink: true}) // inactive
		own := addWebhook(t, s, store.Webhook{UserID: bob.ID, Events: []string{"url.created", "url.deleted"}, Active: true})
		check := func(workspace uint64, want ...store.Subscription) {
			t.Helper()
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				got, err := tx.SubscriptionsOn(ctx, []uint64{workspace})
				if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
					err = fmt.Errorf("got %v, want %v", got, want)
				}
				return err
			})
		}
		a := store.Subscription{WebhookID: all.ID, Workspace: ann.Num, Events: all.Events, EveryLink: true}
		b := store.Subscription{WebhookID: own.ID, Workspace: bob.Num, Events: own.Events}
		check(bob.Num, a, b)
		check(ann.Num, a)
		check(1<<40, a)
		change := func(u store.User) {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, u) })
		}
		count := func(want int) {
			t.Helper()
			if list, err := s.Subscriptions(ctx); err != nil || len(list) != want {
				t.Fatalf("%v %v", list, err)
			}
		}
		demoted, deactivated := ann, ann
		demoted.Role, deactivated.Active = "USER", false
		a.EveryLink = false
		change(demoted)
		check(ann.Num, a)
		count(2)
		change(deactivated)
		check(ann.Num)
		count(1)
	})
}

func TestDeliveries_are_claimed_once(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "USER")
		w := addWebhook(t, s, store.Webhook{UserID: u.ID, Active: true})
		idle := addWebhook(t, s, store.Webhook{UserID: u.ID})
		for i := range 20 {
			addDelivery(t, s, w.ID, fmt.Sprintf("%02d", i), 100)
		}
		addDelivery(t, s, w.ID, "00", 100) // repeated: skipped
		addDelivery(t, s, w.ID, "later", 500)
		addDelivery(t, s, idle.ID, "00", 100)
		for now, want := range map[int64][]string{99: {}, 100: {w.ID}} {
			due, err := s.DueWebhooks(ctx, now)
			testkit.Must(t, err)
			var ids []string
			for _, one := range due {
				if ids = append(ids, one.ID); one.Workspace != u.Num {
					t.Errorf("%+v", one)
				}
			}
			if !slices.Equal(ids, want) {
				t.Fatalf("due at %d: %v", now, due)
			}
		}
		if n, err := s.Backlog(ctx, w.ID, 1000); err != nil || n != 21 {
			t.Fatalf("backlog %d, %v", n, err)
		}
		if n, err := s.Backlog(ctx, w.ID, 5); err != nil || n != 5 {
			t.Fatalf("backlog up to 5: %d, %v", n, err)
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		got := map[string]int{}
		for i := range 4 {
			wg.Go(func() {
				for {
					n := 0
					err := s.Tx(ctx, func(tx *store.Tx) error {
						list, err := tx.ClaimDeliveries(ctx, w.ID, 100, 200, fmt.Sprint("lease", i), 3)
						mu.Lock()
						defer mu.Unlock()
						n = len(list)
						for _, d := range list {
							if d.DueAt != 200 || d.Lease != fmt.Sprint("lease", i) || d.Payload != `{"a":"<&>"}` {
								t.Errorf("%+v", d)
							}
							got[d.EventID]++
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
					if n == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		if len(got) != 20 {
			t.Fatalf("%d claimed: %v", len(got), got)
		}
		for id, n := range got {
			if n != 1 {
				t.Errorf("%s was claimed %d times", id, n)
			}
		}
	})
}

func TestDeliveries_leases(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "USER")
		w := addWebhook(t, s, store.Webhook{UserID: u.ID, Active: true})
		d := addDelivery(t, s, w.ID, "e", 100)
		claim := func(now int64, lease string) (list []store.Delivery) {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
				list, err = tx.ClaimDeliveries(ctx, w.ID, now, now+50, lease, 10)
				return err
			})
			return list
		}
		if len(claim(100, "one")) != 1 || len(claim(149, "two")) != 0 || len(claim(150, "two")) != 1 {
			t.Fatal("a delivery is free when its lease has ended, and not before")
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.FinishDelivery(ctx, d.ID, "one"), tx.PostponeDelivery(ctx, d.ID, "one", 9, 9))
		})
		if n, _ := s.Backlog(ctx, w.ID, 10); n != 1 || len(claim(10, "three")) != 0 {
			t.Fatal("an ended lease still counts")
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.PostponeDelivery(ctx, d.ID, "two", 2, 300) })
		if list := claim(300, "three"); len(list) != 1 || list[0].Attempts != 2 {
			t.Fatalf("postponed: %+v", list)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ReleaseDeliveries(ctx, 310) })
		if n := len(claim(310, "four")); (n == 1) == s.Shared() {
			t.Fatalf("released: %d", n)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.FinishDelivery(ctx, d.ID, "three"), tx.FinishDelivery(ctx, d.ID, "four"))
		})
		if n, _ := s.Backlog(ctx, w.ID, 10); n != 0 {
			t.Fatal("finished, and still there")
		}
	})
}

func TestWebhookLogs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "USER")
		w := addWebhook(t, s, store.Webhook{UserID: u.ID, Active: true})
		full := store.WebhookLog{ID: "1", WebhookID: w.ID, DeliveryID: "d", Event: "url.created", Payload: "{}", Success: true,
			StatusCode: 204,
			Response:   "r", Error: "e", Duration: 3, Attempt: 2, SentAt: 10}
		bare := store.WebhookLog{ID: "2", WebhookID: w.ID, DeliveryID: "d", Attempt: 1, SentAt: 5}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.InsertWebhookLog(ctx, &full), tx.InsertWebhookLog(ctx, &bare))
		})
		list, total, err := s.WebhookLogs(ctx, w.ID, store.WebhookLogFilter{Limit: 10})
		testkit.Must(t, err)
		if total != 2 || !slices.Equal(list, []store.WebhookLog{full, bare}) {
			t.Fatalf("%+v", list)
		}
		if list, total, err = s.WebhookLogs(ctx, w.ID, store.WebhookLogFilter{Limit: 1, Offset: 1}); err != nil || total != 2 ||
			!slices.Equal(list, []store.WebhookLog{bare}) {
			t.Fatalf("second page: %+v %v", list, err)
		}
		for _, tt := range []struct {
			filter store.WebhookLogFilter
			want   []store.WebhookLog
		}{
			{store.WebhookLogFilter{Failed: true}, []store.WebhookLog{bare}},
			{store.WebhookLogFilter{Succeeded: true}, []store.WebhookLog{full}},
			{store.WebhookLogFilter{Event: "url.created"}, []store.WebhookLog{full}},
			{store.WebhookLogFilter{Event: "url.created", Failed: true}, nil},
			{store.WebhookLogFilter{DeliveryID: "d", Failed: true}, []store.WebhookLog{bare}},
			{store.WebhookLogFilter{DeliveryID: "other"}, nil},
		} {
			tt.filter.Limit = 10
			if list, total, err := s.WebhookLogs(ctx, w.ID, tt.filter); err != nil || total != len(tt.want) ||
				!slices.Equal(list, tt.want) {
				t.Errorf("%+v: %+v of %d, %v", tt.filter, list, total, err)
			}
		}
		if days, err := s.WebhookDays(ctx, w.ID, 6); err != nil || !slices.Equal(days, []store.WebhookDay{{At: 0, Succeeded: 1}}) {
			t.Errorf("days: %+v, %v", days, err)
		}
		if days, err := s.WebhookDays(ctx, w.ID, 0); err != nil || !slices.Equal(days, []store.WebhookDay{{Succeeded: 1, Failed: 1}}) {
			t.Errorf("days: %+v, %v", days, err)
		}
		if got, err := s.WebhookLogByID(ctx, w.ID, "1"); err != nil || got != full {
			t.Fatalf("%+v %v", got, err)
		}
		if _, err := s.WebhookLogByID(ctx, "another", "1"); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		for id, want := range map[string]int{"d": 2, "none": 0} {
			if n, err := s.LastAttempt(ctx, id); err != nil || n != want {
				t.Fatalf("last attempt of %s: %d %v", id, n, err)
			}
		}
		if got, err := s.AttemptedDeliveries(ctx, []string{"d", "x"}); err != nil || len(got) != 1 || !got["d"] {
			t.Fatalf("%v %v", got, err)
		}
		addDelivery(t, s, w.ID, "old", 5)
		addDelivery(t, s, w.ID, "new", 10)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			logs, deliveries, err := tx.PruneWebhooks(ctx, 10, 100)
			if err == nil && (logs != 1 || deliveries != 1) {
				err = fmt.Errorf("pruned %d and %d", logs, deliveries)
			}
			return err
		})
		if _, total, _ = s.WebhookLogs(ctx, w.ID, store.WebhookLogFilter{Limit: 10}); total != 1 {
			t.Fatalf("%d attempts are left", total)
		}
	})
}

func TestLookups_of_clicked_things(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "USER")
		link := store.Link{ID: store.NewID(), UserID: u.ID, Slug: "slug", OriginalURL: "https://example.com", CreatedAt: 1, UpdatedAt: 1}
		rule := store.Rule{ID: store.NewID(), URLID: link.ID, Name: "n", TargetURL: "https://t", Conditions: "{}", CreatedAt: 1,
			UpdatedAt: 1}
		variant := store.Variant{ID: store.NewID(), URLID: link.ID, Name: "v", TargetURL: "https://v", CreatedAt: 1, UpdatedAt: 1}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.InsertLinks(ctx, []*store.Link{&link}), tx.InsertRule(ctx, &rule), tx.InsertVariant(ctx, &variant))
		})
		urls, err := s.LinksByNum(ctx, []uint64{link.Num, 999})
		testkit.Must(t, err)
		if got := urls[link.Num]; len(urls) != 1 || got.ID != link.ID || got.Slug != "slug" || got.OriginalURL != link.OriginalURL {
			t.Fatalf("%v", urls)
		}
		variants, err := s.VariantsByID(ctx, []string{variant.ID, "none"})
		testkit.Must(t, err)
		if len(variants) != 1 || variants[variant.ID] != variant {
			t.Fatalf("%v", variants)
		}
		rules, err := s.RulesByID(ctx, []string{rule.ID, "none"})
		testkit.Must(t, err)
		if len(rules) != 1 || rules[rule.ID] != rule {
			t.Fatalf("%v", rules)
		}
	})
}
