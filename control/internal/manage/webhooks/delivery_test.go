package webhooks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func hmacOf(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func TestDelivery_is_signed_byte_for_byte(t *testing.T) {
	t.Parallel()
	each := func(t *testing.T, secret *string) {
		w := newWorld(t, storetest.Open(t), nil)
		w.run()
		hook, shown, err := w.service.Create(t.Context(), w.ann, webhooks.Input{Name: ptr("n"), URL: ptr(w.URL + "/hook"),
			Events: &[]string{webhooks.URLCreated},
			Secret: secret, Headers: &map[string]string{"X-Custom": "a b", "Authorization": "Bearer t"}})
		testkit.Must(t, err)
		w.emit(webhooks.URLCreated, map[string]string{"title": "<a&b> ünï"})
		testkit.Eventually(t, "a delivery", func() bool { return len(w.log(hook.ID)) == 1 })
		got, log := w.at("/hook")[0], w.log(hook.ID)[0]
		if log.Payload != got.body || !log.Success || log.StatusCode != 200 || log.Attempt != 1 {
			t.Fatalf("log: %+v", log)
		}
		if !strings.Contains(got.body, `"data":{"title":"<a&b> ünï"}`) || strings.ContainsAny(got.body, "\n\t") {
			t.Fatalf("body: %s", got.body)
		}
		var envelope map[string]any
		testkit.Must(t, json.Unmarshal([]byte(got.body), &envelope))
		at, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(envelope["timestamp"]))
		if err != nil || time.Since(at).Abs() > time.Minute || len(envelope) != 3 || envelope["event"] != webhooks.URLCreated {
			t.Fatalf("envelope: %v, %v", envelope, err)
		}
		h := got.header
		stamp := h.Get("X-Webhook-Timestamp")
		for name, want := range map[string]string{
			"Content-Type": "application/json", "User-Agent": "Shortline-Webhook/1", "X-Webhook-Event": webhooks.URLCreated,
			"X-Webhook-Delivery-ID": log.DeliveryID, "X-Webhook-Attempt": "1", "webhook-id": log.DeliveryID, "webhook-timestamp": stamp,
			"X-Custom": "a b", "Authorization": "Bearer t", "Accept-Encoding": "identity",
			"X-Webhook-Signature": "sha256=" + hex.EncodeToString(hmacOf([]byte(shown), got.body)),
		} {
			testkit.Equal(t, h.Get(name), want, "%s", name)
		}
		key := []byte(shown)
		if secret == nil {
			if key, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(shown, "whsec_")); err != nil || len(key) != 32 {
				t.Fatalf("made secret %q: %v", shown, err)
			}
		}
		if want := "v1," + base64.StdEncoding.EncodeToString(hmacOf(key, log.DeliveryID+"."+stamp+"."+got.body)); h.Get(
			"webhook-signature") != want {
			t.Errorf("webhook-signature: %q, want %q", h.Get("webhook-signature"), want)
		}
		if w.figures(hook.ID) != `1 sent, 1 succeeded, 0 failed, ""` || w.backlog(hook.ID) != 0 {
			t.Fatal(w.figures(hook.ID))
		}
		// Without a secret there is no signature.
		_, err = w.service.Update(t.Context(), w.ann, hook.ID, webhooks.Input{Secret: ptr("")})
		testkit.Must(t, err)
		w.emit(webhooks.URLCreated, nil)
		testkit.Eventually(t, "an unsigned delivery", func() bool { return len(w.at("/hook")) == 2 })
		if h := w.at("/hook")[1].header; h.Get("X-Webhook-Signature") != "" || h.Get("webhook-signature") != "" {
			t.Fatalf("signed without a secret: %v", h)
		}
	}
	t.Run("given secret", func(t *testing.T) { t.Parallel(); each(t, ptr("my secret")) })
	t.Run("made secret", func(t *testing.T) { t.Parallel(); each(t, nil) })
}

func TestDelivery_goes_to_whom_it_concerns(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		bob := w.user("bob@example.com", "USER")
		add := func(path string, in webhooks.Input) {
			in.Name, in.URL = ptr("n"), ptr(w.URL+path)
			owner := w.ann
			switch {
			case strings.HasPrefix(path, "/bob"):
				owner = bob
			case strings.HasPrefix(path, "/root"):
				owner = w.root
			}
			_, _, err := w.service.Create(ctx, owner, in)
			testkit.Must(t, err)
		}
		both := &[]string{webhooks.URLCreated, webhooks.URLDeleted}
		add("/ann", webhooks.Input{Events: both})
		add("/ann-deleted", webhooks.Input{Events: &[]string{webhooks.URLDeleted}})
		add("/ann-off", webhooks.Input{Events: both, Active: ptr(false)})
		add("/bob", webhooks.Input{Events: both})
		add("/root", webhooks.Input{Events: both})
		add("/root-all", webhooks.Input{Events: both, Scope: ptr(webhooks.ScopeAll)})
		w.emit(webhooks.URLCreated, 1, 2)
		w.emit(webhooks.URLDeleted, 3)
		w.run()
		testkit.Eventually(t, "seven deliveries", func() bool { return len(w.at("")) == 7 })
		for path, want := range map[string]int{"/ann": 3, "/ann-deleted": 1, "/ann-off": 0, "/bob": 0, "/root": 0, "/root-all": 3} {
			testkit.Equal(t, len(w.at(path)), want, "deliveries to %s", path)
		}
		// Changes of two owners' links in one transaction are separate, and a former ADMIN no longer gets events of all
		// links.
		testkit.Must(t, w.store.Tx(ctx, func(tx *store.Tx) error {
			root, err := tx.UserByID(ctx, w.root.UserID)
			testkit.Must(t, err)
			root.Role = "USER"
			testkit.Must(t, tx.UpdateUser(ctx, root))
			return webhooks.Emit(ctx, tx, webhooks.Event{Name: webhooks.URLDeleted, Workspace: w.ann.UserNum},
				webhooks.Event{Name: webhooks.URLCreated, Workspace: bob.UserNum})
		}))
		testkit.Eventually(t, "three more", func() bool { return len(w.at("")) == 10 })
		for path, want := range map[string]int{"/ann": 4, "/ann-deleted": 2, "/bob": 1, "/root-all": 3} {
			testkit.Equal(t, len(w.at(path)), want, "deliveries to %s", path)
		}
		err := w.store.Tx(ctx, func(tx *store.Tx) error {
			testkit.Must(t, webhooks.Emit(ctx, tx, webhooks.Event{Name: webhooks.URLCreated, Workspace: bob.UserNum}))
			return context.Canceled
		})
		if err == nil {
			t.Fatal("committed")
		}
		w.emit(webhooks.URLDeleted, 4)
		testkit.Eventually(t, "the next delivery", func() bool { return len(w.at("/ann")) == 5 })
		testkit.Equal(t, len(w.at("/bob")), 1, "deliveries after a rolled back event")
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	t.Run("after 5, 25 and 125 seconds with the same id, then given up", func(t *testing.T) {
		each(t, func(t *testing.T, w *world) {
			hook := w.add("/hook", webhooks.URLCreated)
			w.status(500)
			w.emit(webhooks.URLCreated, 1)
			w.run()
			for i, wait := range []time.Duration{0, 5 * time.Second, 25 * time.Second, 125 * time.Second} {
				w.advance(wait * 7 / 10)
				if wait > 0 {
					due, err := w.store.DueWebhooks(t.Context(), w.cfg.Now().UnixMilli())
					testkit.Must(t, err)
					testkit.Equal(t, len(due), 0, "webhooks due before the time of attempt %d", i+1)
				}
				w.advance(wait * 6 / 10)
				testkit.Eventually(t, fmt.Sprintf("attempt %d", i+1), func() bool { return len(w.log(hook.ID)) == i+1 })
			}
			testkit.Equal(t, w.backlog(hook.ID), 0, "deliveries waiting after the last attempt")
			for i, q := range w.at("/hook") {
				if q.header.Get("X-Webhook-Attempt") != fmt.Sprint(i+1) ||
					q.header.Get("webhook-id") != w.at("/hook")[0].header.Get("webhook-id") ||
					q.body != w.at("/hook")[0].body {
					t.Errorf("attempt %d: %v", i+1, q.header)
				}
			}
			if want := `4 sent, 0 succeeded, 4 failed, "The receiver answered 500 Internal Server Error."`; w.figures(hook.ID) != want {
				t.Fatal(w.figures(hook.ID))
			}
		})
	})
	for status, again := range map[int]bool{400: false, 401: false, 404: false, 410: false, 422: false, 302: true, 408: true, 409: true,
		425: true, 429: true, 500: true, 503: true} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			w := small(t)
			hook := w.add("/hook", webhooks.URLCreated)
			w.answers(func(out http.ResponseWriter, _ *http.Request) {
				out.Header().Set("Location", w.URL+"/elsewhere")
				out.WriteHeader(status)
			})
			w.emit(webhooks.URLCreated, 1)
			w.run()
			testkit.Eventually(t, "an attempt", func() bool { return len(w.log(hook.ID)) == 1 })
			if (w.backlog(hook.ID) == 1) != again {
				t.Fatalf("again: %v, want %v", !again, again)
			}
			testkit.Equal(t, len(w.at("/elsewhere")), 0, "requests at the target of a redirect")
		})
	}
	t.Run("success ends them", func(t *testing.T) {
		w := small(t)
		hook := w.add("/hook", webhooks.URLCreated)
		w.status(503)
		w.emit(webhooks.URLCreated, 1)
		w.run()
		testkit.Eventually(t, "a failed attempt", func() bool { return len(w.log(hook.ID)) == 1 })
		w.status(204)
		w.advance(7 * time.Second)
		testkit.Eventually(t, "a good one", func() bool { return len(w.log(hook.ID)) == 2 })
		if w.figures(hook.ID) != `2 sent, 1 succeeded, 1 failed, ""` || w.backlog(hook.ID) != 0 {
			t.Fatal(w.figures(hook.ID))
		}
	})
	for text, want := range map[string][2]time.Duration{
		"60": {60 * time.Second, 60 * time.Second}, "1": {4 * time.Second, 6 * time.Second}, "86400": {10 * time.Minute, 10 * time.Minute},
		"soon": {4 * time.Second, 6 * time.Second},
		"date": {58 * time.Second, 61 * time.Second},
	} {
		t.Run("Retry-After "+text, func(t *testing.T) {
			w := small(t)
			hook := w.add("/hook", webhooks.URLCreated)
			w.answers(func(out http.ResponseWriter, _ *http.Request) {
				value := text
				if text == "date" {
					value = time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
				}
				out.Header().Set("Retry-After", value)
				out.WriteHeader(429)
			})
			w.emit(webhooks.URLCreated, 1)
			w.run()
			testkit.Eventually(t, "an attempt", func() bool { return len(w.log(hook.ID)) == 1 })
			var due int64
			testkit.Must(t, w.store.Row(t.Context(), `SELECT due_at FROM webhook_deliveries`).Scan(&due))
			wait := time.Duration(due-w.log(hook.ID)[0].SentAt) * time.Millisecond
			if wait < want[0] || wait > want[1]+2*time.Second {
				t.Fatalf("waits %s, want %s to %s", wait, want[0], want[1])
			}
		})
	}
}

func TestDelivery_survives_a_process_that_dies_in_the_middle(t *testing.T) {
	t.Parallel()
	open := map[string]func(t *testing.T) func() *store.Store{
		"sqlite": func(t *testing.T) func() *store.Store {
			url := storetest.SQLiteURL(t)
			return func() *store.Store {
				st, err := store.Open(t.Context(), store.Config{URL: url})
				testkit.Must(t, err)
				return st
			}
		},
		"postgres": func(t *testing.T) func() *store.Store {
			url := storetest.PostgresURL(t)
			return func() *store.Store {
				st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 4})
				testkit.Must(t, err)
				return st
			}
		},
	}
	for name, opener := range open {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := opener(t)
			first := open()
			w := newWorld(t, first, nil)
			hook := w.add("/hook", webhooks.URLCreated)
			release := make(chan struct{})
			w.answers(func(http.ResponseWriter, *http.Request) { <-release })
			w.emit(webhooks.URLCreated, 1)
			for i := range 10 {
				w.emit(webhooks.URLCreated, i)
			}
			stop := w.run()
			testkit.Eventually(t, "attempts under way", func() bool { return len(w.at("/hook")) == 4 })
			testkit.Must(t, first.Close()) // it can no longer record anything, as if it had crashed
			close(release)
			stop()
			w.answers(nil)

			w.store = open()
			defer w.store.Close()
			w.cfg.Registry = nil
			w.advance(40 * time.Second) // leases expire
			again, err := webhooks.New(w.cfg, w.store)
			testkit.Must(t, err)
			w.service = again
			w.run()
			testkit.Eventually(t, "all deliveries", func() bool { return len(w.log(hook.ID)) == 11 && w.backlog(hook.ID) == 0 })
			ids := map[string]int{}
			for _, q := range w.at("/hook") {
				ids[q.header.Get("X-Webhook-Delivery-ID")]++
			}
			if len(ids) != 11 || len(w.at("/hook")) != 15 {
				t.Fatalf("%d ids in %d requests, want 11 in 15: what was under way is sent again with its own id", len(ids),
					len(w.at("/hook")))
			}
		})
	}
}

func TestStop_cuts_off_a_hanging_receiver_and_loses_nothing(t *testing.T) {
	w := small(t)
	hook := w.add("/hook", webhooks.URLCreated)
	w.answers(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	w.emit(webhooks.URLCreated, 1)
	w.cfg.Timeout = time.Minute
	w.cfg.Registry = nil
	patient, err := webhooks.New(w.cfg, w.store)
	testkit.Must(t, err)
	stop := testkit.Run(t, patient.Run)
	testkit.Eventually(t, "an attempt under way", func() bool { return len(w.at("/hook")) == 1 })
	began := time.Now()
	stop()
	testkit.Within(t, 8*time.Second, began, "stopping while a receiver is silent")
	if len(w.log(hook.ID)) != 0 || w.backlog(hook.ID) != 1 {
		t.Fatal("a cut off attempt counts as one")
	}
	w.answers(nil)
	w.run()
	testkit.Eventually(t, "the delivery", func() bool { return len(w.log(hook.ID)) == 1 && w.log(hook.ID)[0].Success })
}

func TestHanging_receiver_slows_only_itself(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hanging := w.add("/hanging", webhooks.URLCreated)
		w.answers(func(_ http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/hanging" {
				<-q.Context().Done()
			}
		})
		var healthy []webhooks.Webhook
		for i := range 5 {
			healthy = append(healthy, w.add(fmt.Sprintf("/healthy%d", i), webhooks.URLCreated))
		}
		data := make([]any, 40)
		w.run()
		start := time.Now()
		w.emit(webhooks.URLCreated, data...)
		for _, hook := range healthy {
			testkit.Eventually(t, "all deliveries to a healthy receiver", func() bool { return w.backlog(hook.ID) == 0 })
		}
		t.Logf("200 deliveries took %s beside a hanging receiver", time.Since(start))
		if n := len(w.at("/hanging")); n > 4 && time.Since(start) < 5*time.Second {
			t.Fatalf("%d attempts at once at one receiver", n)
		}
		testkit.Equal(t, w.backlog(hanging.ID), 40, "deliveries waiting for the hanging receiver")
		// Each attempt fails with the timeout.
		testkit.Eventually(t, "a timeout", func() bool { return len(w.log(hanging.ID)) > 0 })
		if log := w.log(hanging.ID)[0]; log.Error != "The receiver did not answer within 5s." || log.Success || log.StatusCode != 0 {
			t.Fatalf("%+v", log)
		}
	})
}

func TestTwo_processes_share_the_work(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.OpenPostgres(t), nil)
	hook := w.add("/hook", webhooks.URLCreated)
	w.emit(webhooks.URLCreated, make([]any, 200)...)
	w.cfg.Registry = nil
	other, err := webhooks.New(w.cfg, w.store)
	testkit.Must(t, err)
	w.run()
	testkit.Run(t, other.Run)
	testkit.Eventually(t, "all deliveries", func() bool { return w.backlog(hook.ID) == 0 })
	ids := map[string]bool{}
	for _, q := range w.at("/hook") {
		ids[q.header.Get("X-Webhook-Delivery-ID")] = true
	}
	if len(ids) != 200 || len(w.at("/hook")) != 200 {
		t.Fatalf("%d deliveries in %d requests", len(ids), len(w.at("/hook")))
	}
}

func TestAnswers_are_kept_in_part(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		check  func(log store.WebhookLog) bool
	}{
		"long": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("ä", 5000)) }, func(l store.WebhookLog) bool {
			return l.Success && l.Response == strings.Repeat("ä", 1000)
		}},
		"endless": {func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		}, func(l store.WebhookLog) bool { return l.Success && l.Response == "" }},
		"bytes": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("a\x00\x1b[31m\xff\r\nb\t\u0085c"))
		}, func(l store.WebhookLog) bool {
			return l.Success && l.Response == "a[31m\uFFFD\nb\tc"
		}},
		"reset": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(l store.WebhookLog) bool {
			return !l.Success && l.StatusCode == 0 && strings.HasPrefix(l.Error, "The request failed:")
		}},
		"stalls in the body": {func(w http.ResponseWriter, q *http.Request) {
			fmt.Fprint(w, "partial")
			w.(http.Flusher).Flush()
			<-q.Context().Done()
			// With TLS, the end of a response could still arrive between close_notify and the end of the connection.
			panic(http.ErrAbortHandler)
		}, func(l store.WebhookLog) bool {
			return !l.Success && l.StatusCode == 200 && strings.HasPrefix(l.Error, "The receiver did not answer within")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storetest.Open(t), func(c *webhooks.Config) { c.Timeout = 2 * time.Second })
			hook := w.add("/hook", webhooks.URLCreated)
			w.answers(c.answer)
			log, err := w.service.Test(t.Context(), w.ann, hook.ID)
			testkit.Must(t, err)
			if !c.check(log) {
				t.Fatalf("%+v", log)
			}
		})
	}
}

func TestPrune_after_30_days(t *testing.T) {
	w := small(t)
	hook := w.add("/hook", webhooks.URLCreated)
	_, err := w.service.Test(t.Context(), w.ann, hook.ID)
	testkit.Must(t, err)
	stop := w.run()
	testkit.Eventually(t, "a turn", func() bool { return w.counterOf("shortline_webhooks_last_success_timestamp_seconds") > 0 })
	stop()
	testkit.Equal(t, len(w.log(hook.ID)), 1, "new entries after a turn")
	w.advance(31 * 24 * time.Hour)
	w.run()
	testkit.Eventually(t, "the old entry to go", func() bool { return len(w.log(hook.ID)) == 0 })
}

func TestInactive_webhooks_wait(t *testing.T) {
	w := small(t)
	hook := w.add("/hook", webhooks.URLCreated)
	w.emit(webhooks.URLCreated, 1)
	_, err := w.service.Update(t.Context(), w.ann, hook.ID, webhooks.Input{Active: ptr(false)})
	testkit.Must(t, err)
	other := w.add("/other", webhooks.URLDeleted)
	w.emit(webhooks.URLDeleted, 1)
	w.run()
	testkit.Eventually(t, "the other delivery", func() bool { return len(w.log(other.ID)) == 1 })
	if len(w.at("/hook")) != 0 || w.backlog(hook.ID) != 1 {
		t.Fatal("an inactive webhook was sent to, or its delivery was lost")
	}
	_, err = w.service.Update(t.Context(), w.ann, hook.ID, webhooks.Input{Active: ptr(true)})
	testkit.Must(t, err)
	testkit.Eventually(t, "the delivery", func() bool {
		return slices.ContainsFunc(w.log(hook.ID), func(l store.WebhookLog) bool { return l.Success })
	})
}

// Deliveries that wait for the webhook of a deactivated user are held until the user is active again. Events of that time are never
// sent.
func TestDeactivated_users_get_no_deliveries(t *testing.T) {
	w := small(t)
	hook := w.add("/hook", webhooks.URLCreated)
	all, _, err := w.service.Create(t.Context(), w.root, webhooks.Input{Name: ptr("all"), URL: ptr(w.URL + "/all"),
		Events: &[]string{webhooks.URLCreated}, Scope: ptr(webhooks.ScopeAll)})
	testkit.Must(t, err)
	active := func(active bool) {
		testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE users SET active = ? WHERE id = ?`, active, w.ann.UserID)
			return err
		}))
	}
	w.status(500)
	w.run()
	w.emit(webhooks.URLCreated, "before")
	testkit.Eventually(t, "a failed attempt at each", func() bool { return len(w.log(hook.ID)) == 1 && len(w.log(all.ID)) == 1 })
	active(false)
	w.answers(nil)
	w.advance(time.Minute) // the second attempts are due
	w.emit(webhooks.URLCreated, "meanwhile")
	testkit.Eventually(t, "the administrator's webhook has both", func() bool { return len(w.at("/all")) == 3 && w.backlog(all.ID) == 0 })
	if len(w.at("/hook")) != 1 || w.backlog(hook.ID) != 1 {
		t.Errorf("%d deliveries to a deactivated user, %d wait", len(w.at("/hook")), w.backlog(hook.ID))
	}
	if _, err := w.service.Retry(t.Context(), w.root, hook.ID, w.log(hook.ID)[0].ID); !problem.Is(err, problem.Conflict) {
		t.Errorf("a retry by hand: %v", err)
	}
	active(true)
	testkit.Eventually(t, "the held delivery is sent", func() bool { return len(w.at("/hook")) == 2 && w.backlog(hook.ID) == 0 })
	w.advance(time.Hour)
	w.emit(webhooks.URLCreated, "after")
	testkit.Eventually(t, "new events are sent", func() bool { return len(w.at("/hook")) == 3 })
}
