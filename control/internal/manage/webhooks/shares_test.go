package webhooks_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Two users with a hundred hanging webhooks each have more deliveries than there are slots. The deliveries of a third
// user still arrive, and so do those of the first user to another host.
func TestLow_HangingWebhooksStarveNobody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, func(c *webhooks.Config) { c.Timeout = 10 * time.Minute }) // hanging attempts last longer than the test
		hanging, release := newReceiver(t), make(chan struct{})
		t.Cleanup(func() { close(release) })
		hanging.answers(func(_ http.ResponseWriter, q *http.Request) {
			select {
			case <-release:
			case <-q.Context().Done():
			}
		})
		add := func(p auth.Principal, url string) webhooks.Webhook {
			hook, _, err := w.service.Create(t.Context(), p,
				webhooks.Input{Name: ptr("n"), URL: ptr(url), Events: &[]string{webhooks.URLCreated}})
			testkit.Must(t, err)
			return hook
		}
		emit := func(p auth.Principal, n int) {
			var events []webhooks.Event
			for i := range n {
				events = append(events, webhooks.Event{Name: webhooks.URLCreated, Workspace: p.UserNum, Data: i})
			}
			testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error { return webhooks.Emit(t.Context(), tx, events...) }))
		}
		bob, carol := w.user("bob@example.com", auth.User), w.user("carol@example.com", auth.User)
		for i := range 99 {
			add(w.ann, fmt.Sprintf("%s/ann/%d", hanging.URL, i))
			add(bob, fmt.Sprintf("%s/bob/%d", hanging.URL, i))
		}
		add(bob, hanging.URL+"/bob/99")
		emit(w.ann, 8)
		emit(bob, 8)
		w.run()
		// All slots are assigned before the first of these requests is sent.
		testkit.Eventually(t, "many hanging deliveries", func() bool { return len(hanging.at("")) >= 150 })

		other, third := add(w.ann, w.URL+"/other"), add(carol, w.URL+"/third")
		emit(w.ann, 20)
		emit(carol, 50)
		testkit.Eventually(t, "the third user's deliveries arrive", func() bool {
			return len(w.at("/third")) == 50 && w.backlog(third.ID) == 0
		})
		testkit.Eventually(t, "deliveries to the first user's other host arrive", func() bool {
			return len(w.at("/other")) == 20 && w.backlog(other.ID) == 0
		})
		if n := w.counterOf("shortline_webhooks_in_flight"); n < 150 || n >= 512 {
			t.Errorf("%v deliveries are under way, want the hanging ones and some free slots", n)
		}
	})
}
