package webhooks_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// health describes how long a webhook has been failing, and what waits for it.
func (w *world) health(id string) string {
	w.t.Helper()
	hook, err := w.service.Get(w.t.Context(), w.ann, id)
	testkit.Must(w.t, err)
	return fmt.Sprintf("%d in a row, since %v, %d waiting, next %v", hook.Streak, hook.FailingSince > 0, hook.Waiting, hook.NextAt > 0)
}

func TestHealth_counts_failures_since_the_last_success(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hook := w.add("/hook", webhooks.URLCreated)
		is := func(want string) {
			t.Helper()
			testkit.Equal(t, w.health(hook.ID), want, "health")
		}
		is("0 in a row, since false, 0 waiting, next false")
		w.status(http.StatusTeapot) // is not repeated
		var first int64
		for i := range 3 {
			_, err := w.service.Test(t.Context(), w.ann, hook.ID)
			testkit.Must(t, err)
			now, err := w.service.Get(t.Context(), w.ann, hook.ID)
			testkit.Must(t, err)
			if i == 0 {
				first = now.FailingSince
			}
			if now.Streak != int64(i+1) || now.FailingSince != first || first == 0 {
				t.Fatalf("after %d failures: %d since %d, the first at %d", i+1, now.Streak, now.FailingSince, first)
			}
		}
		w.status(http.StatusOK)
		_, err := w.service.Test(t.Context(), w.ann, hook.ID)
		testkit.Must(t, err)
		is("0 in a row, since false, 0 waiting, next false")

		// A failure that is repeated later tells when.
		w.status(http.StatusInternalServerError)
		w.run()
		w.emit(webhooks.URLCreated, "a", "b")
		testkit.Eventually(t, "two failures", func() bool {
			return len(w.log(hook.ID)) == 6 && w.health(hook.ID) == "2 in a row, since true, 2 waiting, next true"
		})
		list, _, err := w.service.List(t.Context(), w.ann, "", 10, 0)
		testkit.Must(t, err)
		if list[0].Streak != 2 || list[0].Waiting != 2 || list[0].NextAt == 0 {
			t.Errorf("in the list: %+v", list[0])
		}
	})
}

// A list shows what waits for each webhook, as the webhook itself does.
func TestHealth_in_a_list(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hooks := []webhooks.Webhook{w.add("/hook", webhooks.URLCreated), w.add("/other", webhooks.URLDeleted),
			w.add("/third", webhooks.URLCreated, webhooks.URLDeleted)}
		w.emit(webhooks.URLCreated, "a", "b")
		w.emit(webhooks.URLDeleted, "c")
		list, _, err := w.service.List(t.Context(), w.ann, "", 10, 0)
		testkit.Must(t, err)
		waiting := map[string]int{}
		for _, one := range list {
			waiting[one.ID] = one.Waiting
			alone, err := w.service.Get(t.Context(), w.ann, one.ID)
			testkit.Must(t, err)
			if one.Waiting != alone.Waiting || one.NextAt != alone.NextAt {
				t.Errorf("%d deliveries wait until %d in the list, and %d until %d alone", one.Waiting, one.NextAt, alone.Waiting,
					alone.NextAt)
			}
		}
		if want := map[string]int{hooks[0].ID: 2, hooks[1].ID: 1, hooks[2].ID: 3}; !maps.Equal(waiting, want) {
			t.Errorf("waiting: %v, want %v", waiting, want)
		}
	})
}

// The order of the attempts decides, and not the order in which they end.
func TestAttempts_are_added_up_in_order(t *testing.T) {
	t.Parallel()
	var sum store.Attempts
	for _, l := range []store.WebhookLog{{SentAt: 1, Error: "a"}, {SentAt: 2, Success: true}, {SentAt: 3, Error: "b"},
		{SentAt: 4, Error: "c"}} {
		sum.Append(&l)
	}
	if want := (store.Attempts{Succeeded: 1, Failed: 3, LastAt: 4, LastError: "c", Streak: 2, FailingSince: 3}); sum != want {
		t.Errorf("%+v", sum)
	}
}

func TestRetryFailed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		hook, other := w.add("/hook", webhooks.URLCreated), w.add("/other", webhooks.URLCreated)
		w.status(http.StatusTeapot) // is not repeated by itself
		w.run()
		w.emit(webhooks.URLCreated, "a", "b", "c")
		testkit.Eventually(t, "failures", func() bool { return len(w.log(hook.ID)) == 3 && len(w.log(other.ID)) == 3 })
		_, err := w.service.Test(ctx, w.ann, hook.ID)
		testkit.Must(t, err)
		// One of them succeeds by hand and is left out.
		w.status(http.StatusOK)
		_, err = w.service.Retry(ctx, w.ann, hook.ID, w.log(hook.ID)[0].ID)
		testkit.Must(t, err)
		failed := map[string]bool{w.log(hook.ID)[1].DeliveryID: true, w.log(hook.ID)[2].DeliveryID: true}

		_, err = w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{Active: ptr(false)})
		testkit.Must(t, err)
		if _, err := w.service.RetryFailed(ctx, w.ann, hook.ID); !problem.Is(err, problem.Conflict) {
			t.Fatalf("disabled: %v", err)
		}
		_, err = w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{Active: ptr(true)})
		testkit.Must(t, err)
		n, err := w.service.RetryFailed(ctx, w.ann, hook.ID)
		testkit.Must(t, err)
		if n != 2 {
			t.Fatalf("%d are repeated", n)
		}
		testkit.Eventually(t, "two more attempts", func() bool { return len(w.log(hook.ID)) == 7 })
		for _, l := range w.log(hook.ID)[5:] {
			if !l.Success || l.Attempt != 2 || !failed[l.DeliveryID] {
				t.Errorf("%+v", l)
			}
		}
		if n, err := w.service.RetryFailed(ctx, w.ann, hook.ID); err != nil || n != 0 {
			t.Errorf("a second call repeats %d, %v", n, err)
		}
		testkit.Equal(t, len(w.log(other.ID)), 3, "attempts at another webhook")
		var entries int
		testkit.Must(t, w.store.Row(ctx, `SELECT count(*) FROM audit_logs WHERE action = 'WEBHOOK_RESENT' AND entity_id = ?`, hook.ID).
			Scan(&entries))
		testkit.Equal(t, entries, 1, "entries in the audit log")
	})
}

// A delivery that waits for its next automatic attempt is not repeated, and the backlog limits how many are.
func TestRetryFailed_keeps_what_waits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hook := w.add("/hook", webhooks.URLCreated)
		w.status(http.StatusInternalServerError)
		stop := w.run()
		w.emit(webhooks.URLCreated, "a")
		testkit.Eventually(t, "a failure", func() bool {
			return len(w.log(hook.ID)) == 1 && w.health(hook.ID) == "1 in a row, since true, 1 waiting, next true"
		})
		if n, err := w.service.RetryFailed(t.Context(), w.ann, hook.ID); err != nil || n != 0 {
			t.Fatalf("%d are repeated, %v", n, err)
		}
		// After the last automatic attempt it can be repeated.
		for range 3 {
			w.advance(5 * time.Minute)
		}
		testkit.Eventually(t, "all attempts", func() bool {
			w.advance(5 * time.Minute)
			return len(w.log(hook.ID)) == 4 && w.backlog(hook.ID) == 0
		})
		stop()
		if n, err := w.service.RetryFailed(t.Context(), w.ann, hook.ID); err != nil || n != 1 {
			t.Fatalf("%d are repeated, %v", n, err)
		}
	})
}

func TestLogs_filter(t *testing.T) {
	w := small(t)
	hook := w.add("/hook", webhooks.URLCreated)
	_, err := w.service.Test(t.Context(), w.ann, hook.ID)
	testkit.Must(t, err)
	for _, tt := range []struct {
		filter webhooks.LogFilter
		want   int
	}{{webhooks.LogFilter{}, 1}, {webhooks.LogFilter{Status: "success"}, 1}, {webhooks.LogFilter{Status: "failed"}, 0},
		{webhooks.LogFilter{Event: "webhook.test"}, 1}, {webhooks.LogFilter{Event: webhooks.URLCreated}, 0}} {
		if list, total, err := w.service.Logs(t.Context(), w.ann, hook.ID, tt.filter, 10, 0); err != nil || len(list) != tt.want ||
			total != tt.want {
			t.Errorf("%+v: %d of %d, %v", tt.filter, len(list), total, err)
		}
	}
	days, err := w.service.Days(t.Context(), w.ann, hook.ID)
	testkit.Must(t, err)
	if last := days[len(days)-1]; len(days) != 14 || last.Succeeded != 1 || last.Failed != 0 || days[0].Succeeded != 0 {
		t.Errorf("days: %+v", days)
	}
	for _, f := range []webhooks.LogFilter{{Status: "ok"}, {Event: "url.broken"}, {DeliveryID: "not an id"}} {
		if _, _, err := w.service.Logs(t.Context(), w.ann, hook.ID, f, 10, 0); !problem.Is(err, problem.Invalid) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
