package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG04 lets ingesters die, come back, and turn into zombies: stopped for longer than the group waits for them, then
// going on with what they had in hand. What they store then is what others have stored.
func TestG04_consumers_die_and_come_back_as_zombies(t *testing.T) {
	rounds := count(t, 1)
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1, Ingesters: 2}, 10)
	ingesting := []*fleet.Node{c.Controls[0], c.Ingesters[0], c.Ingesters[1]}
	crowd := newCrowd(t)
	zombies, joined := 0, 0.0 // how often one was given partitions, as far as it lived to tell
	note := func(n *fleet.Node) { joined += max(0, n.Metric("shortline_kafkasource_generations_total")) }
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 2000}, func() {
		for i := range rounds {
			time.Sleep(time.Second)
			zombie := ingesting[1+i%2]
			zombie.Pause()
			// The group waits for 15 s; then the others have its partitions, and it does not know.
			time.Sleep(17 * time.Second)
			for _, n := range ingesting {
				if n != zombie {
					note(n)
					n.Kill()
					n.Start()
				}
			}
			zombie.Resume()
			zombies++
			time.Sleep(2 * time.Second)
		}
	})
	for _, n := range ingesting {
		note(n)
	}
	t.Logf("%d zombies, %d kills, partitions assigned %.0f times; load: %v", zombies, rounds*(len(ingesting)-1), joined, r)
	c.verdict(crowd, r)
}
