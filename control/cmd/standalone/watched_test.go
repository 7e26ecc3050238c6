package main_test

import (
	"net/http"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// idle is how long a click waits for others while nobody looks at clicks.
const idle = 500 * time.Millisecond

// Clicks wait for others while nobody looks, and leave at once while somebody looks at a live feed or has asked for a report.
//
// A click that waits takes at least as long as idle on any machine. One that leaves at once may take longer on a slow machine, but not
// every time.
func TestA6_clicks_leave_at_once_while_somebody_looks(t *testing.T) {
	t.Parallel()
	p := start(t)
	admin := p.Login()
	link := admin.link(shortline.CreateLink{OriginalURL: "https://example.com/"})
	// took visits the link and returns how long the click needed until it was stored.
	took := func(stored func()) time.Duration {
		t.Helper()
		began := time.Now()
		if status, _ := p.follow(link.Slug, visitor); status != http.StatusFound {
			t.Fatalf("status %d", status)
		}
		stored()
		return time.Since(began)
	}
	measured := func() time.Duration {
		t.Helper()
		before := p.metric("shortline_ship_clicks_total")
		return took(func() {
			testkit.Eventually(t, "the click is stored", func() bool { return p.metric("shortline_ship_clicks_total") > before })
		})
	}
	for range 3 {
		if d := measured(); d < idle {
			t.Fatalf("a click was stored after %v although nobody looks", d)
		}
	}
	feed := listen(t, "feed", p.Addr, admin.token)
	feed.next("retry:")
	testkit.Eventually(t, "a live feed shows a click at once", func() bool { return took(func() { feed.next("data:") }) < idle })
	feed.leave()
	testkit.Eventually(t, "clicks wait again", func() bool { return measured() >= idle })
	testkit.Eventually(t, "a click is stored at once after a request for a report", func() bool {
		admin.reportTotal(link.ID)
		return measured() < idle
	})
}
