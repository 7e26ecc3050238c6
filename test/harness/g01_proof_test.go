//go:build proof

package harness_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG01 kills edges under full load at random moments. Every redirect that a client read completely must be in the
// topic exactly once. Redirects of the second edge wait for the disk, together with others of the same turn of its loop.
func TestG01_kill_9_of_edges_at_full_load(t *testing.T) {
	kills := count(t, 300)
	p, slugs := published(t, links(t, 1_000_000))
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p, EdgeOwn: func(i int) []string {
		return []string{"SPOOL_SYNC=" + []string{"interval", "always"}[i]}
	}})
	c := newCrowd(t)
	var restarts []time.Duration
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 8}, func() {
		for i := range kills {
			fleet.Hold(200*time.Millisecond + rand.N(600*time.Millisecond)) // a random moment of the load
			e := f.Edges[i%len(f.Edges)]
			e.Kill()
			restarts = append(restarts, e.Start())
		}
		c.more(1000)
	})
	slices.Sort(restarts)
	t.Logf("%d kills, %d links, load: %v; restart to ready p50 %s p99 %s", kills, len(slugs), r,
		percentile(restarts, 0.5).Round(time.Millisecond), percentile(restarts, 0.99).Round(time.Millisecond))
	if p99 := percentile(restarts, 0.99); kills >= 100 && p99 > 2*time.Second {
		t.Errorf("p99 of the restart times is %v, want at most 2s", p99)
	}
	if r.Broken == 0 {
		t.Error("no kill interrupted a request, so the experiment proves nothing")
	}
	for status, n := range r.Other {
		t.Errorf("%d answers have the status %d", n, status)
	}
	inTopic(t, f, c)
}
