package webhooks_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestMetrics_of_the_queue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		size, oldest := "shortline_webhooks_queue_deliveries", "shortline_webhooks_queue_oldest_seconds"
		if w.counterOf(size) != 0 || w.counterOf(oldest) != 0 {
			t.Errorf("an empty queue has %v of %v s", w.counterOf(size), w.counterOf(oldest))
		}
		hook := w.add("/hook", webhooks.URLCreated)
		w.emit(webhooks.URLCreated, 1, 2)
		w.advance(time.Hour)
		if n, age := w.counterOf(size), w.counterOf(oldest); n != 2 || age < 3600 || age > 3700 {
			t.Errorf("the queue has %v of %v s, want 2 of an hour", n, age)
		}
		no := false
		if _, err := w.service.Update(t.Context(), w.root, hook.ID, webhooks.Input{Active: &no}); err != nil {
			t.Fatal(err)
		}
		testkit.Equal(t, w.counterOf(size), 0, "deliveries that wait for a webhook that is off")
	})
}
