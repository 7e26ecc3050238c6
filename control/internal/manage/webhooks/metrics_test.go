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
		// A scrape misses the queue if the database is slow.
		testkit.Eventually(t, "a queue of two deliveries that have waited for an hour", func() bool {
			age := w.counterOf(oldest)
			return w.counterOf(size) == 2 && age >= 3600 && age <= 3700
		})
		no := false
		if _, err := w.service.Update(t.Context(), w.root, hook.ID, webhooks.Input{Active: &no}); err != nil {
			t.Fatal(err)
		}
		testkit.Equal(t, w.counterOf(size), 0, "deliveries that wait for a webhook that is off")
	})
}
