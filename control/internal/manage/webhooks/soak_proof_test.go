//go:build proof

package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A hundred receivers, some of them faulty in all ways, and 50 events per second: healthy receivers get each event once
// and quickly.
func TestMany_receivers_some_of_them_bad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.OpenPostgres(t), nil)
	var mu sync.Mutex
	flaps := map[string]int{}
	const hanging, resetting, endless, flapping = 0, 1, 2, 8
	w.answers(func(out http.ResponseWriter, q *http.Request) {
		var n int
		_, _ = fmt.Sscanf(q.URL.Path, "/%d", &n)
		switch {
		case n == hanging:
			<-q.Context().Done()
		case n == resetting:
			panic(http.ErrAbortHandler)
		case n == endless:
			for q.Context().Err() == nil {
				if _, err := out.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		case n < flapping:
			mu.Lock()
			defer mu.Unlock()
			if flaps[q.Header.Get("X-Webhook-Delivery-ID")]++; flaps[q.Header.Get("X-Webhook-Delivery-ID")] == 1 {
				out.WriteHeader(503)
			}
		}
	})
	var owners []auth.Principal
	var hooks []webhooks.Webhook
	for i := range 100 {
		p := w.user(fmt.Sprintf("u%d@example.com", i), auth.User)
		hook, _, err := w.service.Create(t.Context(), p, webhooks.Input{Name: ptr("n"), URL: ptr(fmt.Sprintf("%s/%d", w.URL, i)),
			Events: &[]string{webhooks.URLCreated}})
		testkit.Must(t, err)
		owners, hooks = append(owners, p), append(hooks, hook)
	}
	w.run()
	const events = 300
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range events {
		<-tick.C
		testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
			return webhooks.Emit(t.Context(), tx, webhooks.Event{Name: webhooks.URLCreated, Workspace: owners[i%100].UserNum,
				Data: time.Now().UnixMilli()})
		}))
	}
	healthy := func(i int) bool { return i == endless || i >= flapping }
	testkit.Eventually(t, "every delivery to a good receiver", func() bool {
		for i, hook := range hooks {
			if healthy(i) && w.backlog(hook.ID) > 0 {
				return false
			}
		}
		return true
	})
	var late []time.Duration
	ids := map[string]bool{}
	for i, hook := range hooks {
		for _, log := range w.log(hook.ID) {
			if !healthy(i) {
				continue
			}
			var e struct{ Data int64 }
			testkit.Must(t, json.Unmarshal([]byte(log.Payload), &e))
			late = append(late, time.Duration(log.SentAt-e.Data)*time.Millisecond)
			if !log.Success || ids[log.DeliveryID] {
				t.Errorf("%d: %+v", i, log)
			}
			ids[log.DeliveryID] = true
		}
	}
	slices.Sort(late)
	p95 := late[len(late)*95/100]
	t.Logf("%d deliveries to good receivers, half within %s, 95 of 100 within %s, all within %s", len(late), late[len(late)/2], p95,
		late[len(late)-1])
	if len(late) != events*93/100 || p95 > 2*time.Second {
		t.Fatalf("%d deliveries of %d", len(late), events*93/100)
	}
	w.advance(7 * time.Second) // failed deliveries are repeated
	for i := endless + 1; i < flapping; i++ {
		testkit.Eventually(t, "a flapping receiver's deliveries", func() bool { return w.backlog(hooks[i].ID) == 0 })
		testkit.Equal(t, w.figures(hooks[i].ID), `6 sent, 3 succeeded, 3 failed, ""`, "flapping receiver %d", i)
	}
}
