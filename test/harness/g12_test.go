package harness_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG12 changes links through the API while visitors come, and asks every edge until it behaves accordingly: within a
// second, or within three across a slow network that is cut again and again.
func TestG12_a_change_is_everywhere_within_a_second(t *testing.T) {
	lasts := long(t, 4*time.Second)
	c := startChain(t, fleet.Config{Edges: 3, Controls: 1}, 20)
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 6, Rate: 600}, func() {
		near := changes(c, lasts, "near")
		report(t, "on a sound network", near, time.Second)
		c.PlaneProxy.Set(faultproxy.Fault{Latency: 200 * time.Millisecond})
		over, cut := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(cut)
			for {
				select {
				case <-over:
					return
				case <-time.After(2 * time.Second):
					c.PlaneProxy.Cut()
				}
			}
		}()
		far := changes(c, lasts, "far")
		close(over)
		<-cut
		c.PlaneProxy.Set(faultproxy.Fault{})
		report(t, "200 ms away and cut every 2 s", far, 3*time.Second)
	})
	c.verdict(crowd, r)
}

func report(t *testing.T, where string, took []time.Duration, limit time.Duration) {
	t.Helper()
	slices.Sort(took)
	p99 := percentile(took, 0.99)
	t.Logf("%s: %d changes at the slowest of three edges: p50 %s p99 %s max %s", where, len(took), percentile(took, 0.5).Round(time.Millisecond), p99.Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	if p99 > limit {
		t.Errorf("%s: p99 of a change is %v", where, p99)
	}
}

// changes lets four owners change links for a while, and returns how long each change took to be everywhere.
func changes(c *chain, lasts time.Duration, name string) (all []time.Duration) {
	var mu sync.Mutex
	var owners sync.WaitGroup
	end := time.Now().Add(lasts)
	for w := range 4 {
		owners.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				slug := fmt.Sprintf("%s-%d-%d", name, w, n)
				l := c.api.Create("https://example.com/a", map[string]any{"customSlug": slug})
				took := []time.Duration{everywhere(c, slug, http.StatusFound, "https://example.com/a")}
				step := func(change map[string]any, status int, location string) {
					c.api.Must("PATCH", "/api/urls/"+l.ID, change, 200, nil)
					took = append(took, everywhere(c, slug, status, location))
				}
				step(map[string]any{"originalUrl": "https://example.com/b"}, http.StatusFound, "https://example.com/b")
				step(map[string]any{"status": "INACTIVE"}, http.StatusGone, "")
				step(map[string]any{"status": "ACTIVE"}, http.StatusFound, "https://example.com/b")
				c.api.Must("DELETE", "/api/urls/"+l.ID, nil, 204, nil)
				took = append(took, everywhere(c, slug, http.StatusNotFound, ""))
				mu.Lock()
				all = append(all, took...)
				mu.Unlock()
			}
		})
	}
	owners.Wait()
	return all
}

// everywhere waits until every edge answers so, and returns how long the slowest took. A change that is missed fails
// the test after half a minute.
func everywhere(c *chain, slug string, status int, location string) time.Duration {
	began := time.Now()
	for _, e := range c.Edges {
		for {
			got, to, err := follow(e.Addr, slug)
			if err == nil && got == status && to == location {
				break
			}
			if time.Since(began) > 30*time.Second {
				c.t.Errorf("%s answers %d %q %v for %s after 30 s, want %d %q", e.Name, got, to, err, slug, status, location)
				return time.Since(began)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return time.Since(began)
}
