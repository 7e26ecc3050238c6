package webhooks_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// signedBy tests with which of the secrets, by name, a request is signed: in our header, and in that of Standard Webhooks.
func signedBy(r request, secrets map[string]string) (ours string, standard []string) {
	signed := r.header.Get("webhook-id") + "." + r.header.Get("webhook-timestamp") + "." + r.body
	for name, secret := range secrets {
		if r.header.Get("X-Webhook-Signature") == "sha256="+hex.EncodeToString(hmacOf([]byte(secret), r.body)) {
			ours = name
		}
	}
	for _, signature := range strings.Fields(r.header.Get("webhook-signature")) {
		for name, secret := range secrets {
			key := []byte(secret)
			if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
				key, _ = base64.StdEncoding.DecodeString(encoded)
			}
			if signature == "v1,"+base64.StdEncoding.EncodeToString(hmacOf(key, signed)) {
				standard = append(standard, name)
			}
		}
	}
	return ours, standard
}

// During a rotation, deliveries have the signatures of both secrets. Its end can be moved, and it can be ended at once.
func TestRotate_signs_with_both_secrets_for_a_while(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		hook := w.add("/hook", webhooks.URLCreated)
		secrets := map[string]string{"first": "secret"}
		is := func(ours string, standard ...string) {
			t.Helper()
			before := len(w.at("/hook"))
			_, err := w.service.Test(ctx, w.ann, hook.ID)
			testkit.Must(t, err)
			got, list := signedBy(w.at("/hook")[before], secrets)
			testkit.Equal(t, got, ours, "our signature")
			testkit.Equal(t, strings.Join(list, " "), strings.Join(standard, " "), "signatures of Standard Webhooks")
		}
		rotate := func(name string, seconds int64) webhooks.Webhook {
			t.Helper()
			now, secret, err := w.service.Rotate(ctx, w.ann, hook.ID, nil, seconds)
			testkit.Must(t, err)
			secrets[name] = secret
			return now
		}
		until := func(at int64) error {
			_, err := w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{OldUntil: &at})
			return err
		}
		is("first", "first")
		if err := until(time.Now().Add(time.Hour).UnixMilli()); !problem.Is(err, problem.Invalid) {
			t.Errorf("the end of an old secret that does not exist: %v", err)
		}
		now := rotate("second", 3600)
		if left := now.OldUntil - time.Now().UnixMilli(); left < 3_500_000 || left > 3_600_000 {
			t.Errorf("the old secret ends in %d ms", left)
		}
		is("first", "second", "first")
		w.advance(time.Hour)
		is("second", "second")

		rotate("third", 3600)
		testkit.Must(t, until(time.Now().Add(49*time.Hour).UnixMilli()))
		w.advance(24 * time.Hour)
		is("second", "third", "second")
		testkit.Must(t, until(0))
		is("third", "third")

		rotate("fourth", 3600)
		rotate("fifth", 3600) // ends the third
		is("fourth", "fifth", "fourth")
		rotate("sixth", 0)
		is("sixth", "sixth")
		rotate("seventh", 3600)
		_, err := w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{Secret: ptr("given")})
		testkit.Must(t, err)
		secrets["given"] = "given"
		is("given", "given")
		if got, err := w.service.Get(ctx, w.ann, hook.ID); err != nil || got.OldUntil != 0 {
			t.Errorf("after a new secret: until %d, %v", got.OldUntil, err)
		}
	})
}

// A rotation is refused with a wrong overlap, a secret that is too long, for others, and for another version. It seals both secrets.
func TestRotate_is_checked_and_sealed(t *testing.T) {
	w := small(t)
	ctx := t.Context()
	hook := w.add("/hook", webhooks.URLCreated)
	for _, seconds := range []int64{-1, 30*24*3600 + 1} {
		if _, _, err := w.service.Rotate(ctx, w.ann, hook.ID, nil, seconds); !problem.Is(err, problem.Invalid) {
			t.Errorf("%d seconds: %v", seconds, err)
		}
	}
	if _, _, err := w.service.Rotate(ctx, w.ann, hook.ID, ptr(strings.Repeat("x", 256)), 0); !problem.Is(err, problem.Invalid) {
		t.Errorf("a long secret: %v", err)
	}
	if _, _, err := w.service.Rotate(ctx, w.user("bob@example.com", "USER"), hook.ID, nil, 0); !problem.Is(err, problem.NotFound) {
		t.Errorf("another user: %v", err)
	}
	stale, err := version.Parse([]string{`"x"`})
	testkit.Must(t, err)
	if _, _, err := w.service.Rotate(version.With(ctx, stale), w.ann, hook.ID, nil, 0); !problem.Is(err, problem.Stale) {
		t.Errorf("another version: %v", err)
	}
	_, _, err = w.service.Rotate(ctx, w.ann, hook.ID, ptr("canary two"), 60)
	testkit.Must(t, err)
	row, err := w.store.WebhookByID(ctx, hook.ID)
	testkit.Must(t, err)
	if row.Secret == "" || row.OldSecret == "" || row.Secret == row.OldSecret || strings.Contains(row.Secret+row.OldSecret, "canary") {
		t.Errorf("stored secrets %q and %q", row.Secret, row.OldSecret)
	}
}

// With long retries, a delivery is attempted for three days. Then the webhook is paused, and its owner can turn it on again.
func TestLong_retries_and_pause(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		hook := w.add("/hook", webhooks.URLCreated)
		_, err := w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{Long: ptr(true)})
		testkit.Must(t, err)
		w.status(http.StatusInternalServerError)
		start := w.cfg.Now()
		w.run()
		w.emit(webhooks.URLCreated, "a")
		for n := 1; n < 12; n++ {
			testkit.Eventually(t, "an attempt", func() bool { return len(w.log(hook.ID)) == n })
			now, err := w.service.Get(ctx, w.ann, hook.ID)
			testkit.Must(t, err)
			if !now.Active || now.NextAt == 0 {
				t.Fatalf("after %d attempts: active %v, next %d", n, now.Active, now.NextAt)
			}
			w.advance(time.Duration(now.NextAt-w.cfg.Now().UnixMilli()) * time.Millisecond)
		}
		testkit.Eventually(t, "the pause", func() bool {
			now, err := w.service.Get(ctx, w.ann, hook.ID)
			testkit.Must(t, err)
			return !now.Active
		})
		now, err := w.service.Get(ctx, w.ann, hook.ID)
		testkit.Must(t, err)
		testkit.Equal(t, now.Paused, "FAILING", "reason")
		testkit.Equal(t, now.Streak, int64(12), "attempts in a row")
		testkit.Equal(t, w.backlog(hook.ID), 0, "deliveries that wait")
		if took := w.cfg.Now().Sub(start); took < 72*time.Hour || took > 84*time.Hour {
			t.Errorf("the attempts took %v", took)
		}
		now, err = w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{Active: ptr(true)})
		testkit.Must(t, err)
		if now.Paused != "" || now.Streak != 0 || now.FailingSince != 0 {
			t.Errorf("turned on again: %q, %d failures since %d", now.Paused, now.Streak, now.FailingSince)
		}
	})
}

// A webhook without long retries is paused, too, when nothing was delivered for three days, but not after a few failures in a long time,
// and a success begins a new count.
func TestPause_of_a_webhook_that_fails_for_days(t *testing.T) {
	w := small(t)
	ctx := t.Context()
	hook := w.add("/hook", webhooks.URLCreated)
	w.run()
	active := func() bool {
		now, err := w.service.Get(ctx, w.ann, hook.ID)
		testkit.Must(t, err)
		return now.Active
	}
	attempts := 0
	fail := func(times int) {
		t.Helper()
		for range times {
			w.status(http.StatusNotFound) // is not repeated
			w.emit(webhooks.URLCreated, "a")
			attempts++
			testkit.Eventually(t, "an attempt", func() bool { return len(w.log(hook.ID)) == attempts && w.backlog(hook.ID) == 0 })
		}
	}
	fail(11)
	w.advance(73 * time.Hour)
	if !active() {
		t.Fatal("paused before a delivery failed after three days")
	}
	w.status(http.StatusOK)
	w.emit(webhooks.URLCreated, "a")
	attempts++
	testkit.Eventually(t, "a success", func() bool { return len(w.log(hook.ID)) == attempts })
	fail(12)
	w.advance(71 * time.Hour)
	if fail(1); !active() {
		t.Fatal("paused within three days")
	}
	w.advance(2 * time.Hour)
	if fail(1); active() {
		t.Fatal("still active after three days of failures")
	}
	w.emit(webhooks.URLCreated, "b")
	testkit.Equal(t, w.backlog(hook.ID), 0, "deliveries for a paused webhook")
}
