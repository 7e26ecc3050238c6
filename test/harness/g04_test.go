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
	generations := func() (sum float64) {
		for _, n := range ingesting {
			sum += max(0, n.Metric("shortline_kafkasource_generations_total"))
		}
		return sum
	}
	zombies := 0
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 2000}, func() {
		for i := range rounds {
			time.Sleep(time.Second)
			zombie := ingesting[1+i%2]
			zombie.Pause()
			// The group waits for 15 s; then the others have its partitions, and it does not know.
			time.Sleep(17 * time.Second)
			for _, n := range ingesting {
				if n != zombie {
					n.Kill()
					n.Start()
				}
			}
			zombie.Resume()
			zombies++
			time.Sleep(2 * time.Second)
		}
	})
	t.Logf("%d zombies, generations of those that live now %.0f; load: %v", zombies, generations(), r)
	c.verdict(crowd, r)
}
