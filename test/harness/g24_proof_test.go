//go:build proof

package harness_test

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG24 lets one caller send 50 requests a second to two control planes for DUR, up to a minute. Both share one limit
// of 100 a minute, and their headers count it down together, each number once. Two more requests are acceptable: a
// control plane that waits too long for the database counts alone.
func TestG24_limits_are_shared_by_replicas(t *testing.T) {
	const limit, perSecond = 100, 50
	asks := int(min(long(t, 59*time.Second), 59*time.Second).Seconds() * perSecond)
	c := startChain(t, fleet.Config{Edges: 1, Controls: 2, ControlEnv: []string{"RATE_LIMIT_DEFAULT=" + strconv.Itoa(limit)}}, 0)
	c.api.User("caller@example.com", "password-of-caller")
	caller := c.Controls[0].LoginAs(t, "caller@example.com", "password-of-caller")

	var mu sync.Mutex
	var left []int // X-RateLimit-Remaining of the accepted requests
	refused := 0
	ask := func(i int) {
		var meta client.Meta
		_, err := caller.At(c.Controls[i%2]).Links.List(t.Context(), client.ListLinksParams{}, client.Into(&meta))
		status, header := meta.Status, meta.Header
		mu.Lock()
		defer mu.Unlock()
		remaining, bad := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
		ends, bad2 := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
		until := time.Until(time.Unix(ends, 0))
		if bad != nil || bad2 != nil || header.Get("X-RateLimit-Limit") != strconv.Itoa(limit) || until < -10*time.Second || until > 61*
			time.Second {
			t.Errorf("%d %v with %v", status, err, header)
		}
		switch status {
		case http.StatusOK:
			left = append(left, remaining)
		case http.StatusTooManyRequests:
			refused++
			if again, err := strconv.Atoi(header.Get("Retry-After")); err != nil || again < 1 || again > 60 || remaining != 0 {
				t.Errorf("rejected with %d requests remaining and Retry-After %q", remaining, header.Get("Retry-After"))
			}
		default:
			t.Errorf("%d %v", status, err)
		}
	}
	var asking sync.WaitGroup
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range asks {
		asking.Go(func() { ask(i) })
		<-tick.C
	}
	asking.Wait()

	slices.Sort(left)
	accepted, numbers := len(left), len(slices.Compact(slices.Clone(left)))
	t.Logf("of %d requests at two replicas %d were accepted (limit %d) and %d rejected", asks, accepted, limit, refused)
	if accepted < limit || accepted > limit+2 || numbers < limit || accepted+refused != asks {
		t.Errorf("%d accepted and %d rejected of %d; remaining: %v", accepted, refused, asks, left)
	}
}
