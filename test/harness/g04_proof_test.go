//go:build proof

package harness_test

import (
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG04 makes ingesters crash, leave, join and become zombies. A zombie is paused for longer than the session timeout
// of the group and then continues with its old batches, after all other ingesters were killed and restarted. What a
// zombie stores then must be duplicates of stored clicks.
func TestG04_consumers_die_and_come_back_as_zombies(t *testing.T) {
	t.Parallel()
	rounds := count(t, 12)
	const rebalance = 3500 * time.Millisecond // a member learns of a new group generation within its heartbeat interval
	c := startSpread(t, spread(t, fleet.Config{Edges: 1, Controls: 1, Ingesters: 2}), 10)
	ingesting := []*fleet.Node{c.Controls[0], c.Ingesters[0], c.Ingesters[1]}
	crowd := newCrowd(t)
	zombies, kills, left := 0, 0, 0
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 2000}, func() {
		for i := range rounds {
			crowd.more(1000)
			zombie := ingesting[1+i%2]
			others := []*fleet.Node{ingesting[0], ingesting[2-i%2]}
			zombie.Pause()
			// After 15 s the group gives its partitions to the others. The paused process does not know that.
			fleet.Hold(17 * time.Second)
			for range min(5, 2*rounds) {
				n := others[rand.IntN(len(others))]
				if err := n.Stop(); err != nil {
					t.Error(err)
				}
				fleet.Hold(rebalance)
				n.Start()
				fleet.Hold(rebalance)
				left++
			}
			for _, n := range others {
				n.Kill()
				n.Start()
				kills++
			}
			zombie.Resume()
			zombies++
			fleet.Hold(2 * time.Second) // the zombie writes
		}
	})
	assigned := regexp.MustCompile(`kafka partitions assigned" group=ingest generation=(\d+)`)
	generations := map[string]bool{}
	for _, n := range ingesting {
		for _, m := range assigned.FindAllStringSubmatch(n.Log(), -1) {
			generations[m[1]] = true
		}
	}
	t.Logf("%d zombies, %d kills, %d graceful restarts, %d group generations; load: %v", zombies, kills, left, len(generations), r)
	if len(generations) < left {
		t.Errorf("only %d group generations, so the faults hardly disturbed the group", len(generations))
	}
	c.verdict(crowd, r)
}
