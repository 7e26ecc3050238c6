//go:build proof

package harness_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG47 runs an installation with two shards. Clocks are ten minutes ahead at a control plane, an edge, and the second ClickHouse
// server, and ten minutes behind at an ingester and an edge. N faults hit processes with wrong clocks and ClickHouse servers. Each
// process must say that its clock differs. Every answered visit is stored once, and no report ever has fewer clicks than before.
func TestG47_clocks_are_ten_minutes_apart(t *testing.T) {
	t.Parallel()
	const off = 10 * time.Minute
	clocks := []time.Duration{off, -off, 0}
	c := startSpread(t, fleet.Config{
		Edges: 2, Controls: 1, Ingesters: 2, Shards: []string{"b"}, EdgeEnv: []string{"SHIP_DELAY=100ms"},
		Clocks: []time.Duration{-off, off}, ControlClocks: clocks,
	}, 4)
	// The version of a click is all that a server takes from its own clock.
	if _, err := c.Engines[1].Store.Ask(t.Context(),
		"ALTER TABLE clicks MODIFY COLUMN keep DEFAULT toUInt32(4294967295 - toUnixTimestamp(now() + 600))"); err != nil {
		t.Fatal(err)
	}
	nodes := c.writers()
	for i, n := range nodes {
		testkit.Eventually(t, n.Name+" compares its clock", func() bool {
			ahead := n.Metric(`shortline_control_clock_ahead_seconds{server="database"}`)
			return ahead != -1 && (time.Duration(ahead*float64(time.Second))-clocks[i]).Abs() < 3*time.Second
		})
		if said := strings.Contains(n.Log(), `"msg":"clocks differ","server":"database"`); said != (clocks[i] != 0) {
			t.Errorf("%s, whose clock is off by %v, says that clocks differ: %v", n.Name, clocks[i], said)
		}
	}

	crowd := newCrowd(t)
	var asked, refused int
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: float64(rate(t, 200))}, func() {
		crowd.more(400)
		asked, refused = c.neverLess(func() {
			for i := range count(t, 10) {
				p := c.anyEngine().Process
				if i%2 == 1 {
					p = nodes[rand.IntN(2)].Process
				}
				t.Logf("kill %s", p.Name)
				c.killAndRestart(p, 3*time.Second)()
			}
		})
	})
	t.Logf("%d reports, of which %d got 503; load: %v", asked, refused, r)
	c.verdict(crowd, r)
}
