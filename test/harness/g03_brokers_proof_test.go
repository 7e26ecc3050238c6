//go:build proof

package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG03_brokers kills brokers of a cluster of three, N times or until DUR is over. It kills a broker that leads
// partitions and waits until others lead them. It also kills two of the three at once: then no click is acknowledged,
// and clicks wait at the edges. No click may be lost or duplicated, and redirects continue.
func TestG03_brokers_of_a_cluster_die(t *testing.T) {
	t.Parallel()
	rounds := count(t, 20)
	seen := func(f *fleet.Fleet) topicLayout {
		l, err := findLayout(t.Context(), f.Brokers(), fleet.Topic)
		if err != nil {
			return topicLayout{}
		}
		return *l
	}
	c := startChain(t, fleet.Config{Edges: 2, Controls: 1, Ingesters: 1, Brokers: 3, First: func(f *fleet.Fleet) {
		// The topic gets as many replicas as there are brokers.
		testkit.Eventually(t, "the cluster has three brokers", func() bool { l := seen(f); return l.brokers == 3 })
	}}, 10)
	whole := func() {
		testkit.Eventually(t, "every partition has three in-sync replicas", func() bool { l := seen(c.Fleet); return l.whole(3) })
	}
	whole()
	waiting := func() (sum float64) {
		for _, e := range c.Edges {
			sum += max(0, e.Metric("shortline_spool_clicks_pending"))
		}
		return sum
	}
	const rate = 600
	kills, outages, moved := 0, 0, 0
	var peak float64
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: rate}, func() {
		for i, end := 0, time.Now().Add(long(t, time.Hour)); i < rounds && time.Now().Before(end); i++ {
			pause(time.Second)
			victim, now := 0, seen(c.Fleet)
			for b := range c.Cluster {
				if now.led(b+1) > now.led(victim+1) {
					victim = b
				}
			}
			had := now.led(victim + 1)
			c.Cluster[victim].Kill()
			kills++
			testkit.Eventually(t, "other brokers lead the partitions of the dead broker", func() bool {
				l := seen(c.Fleet)
				return len(l.partitions) > 0 && l.led(victim+1) == 0 && l.led(-1) == 0
			})
			moved += had
			pause(time.Second)
			if i%5 == 1 { // kill a second broker
				other := c.Cluster[(victim+1)%3]
				other.Kill()
				kills++
				pause(2 * time.Second) // requests in flight finish
				before := waiting()
				fleet.Hold(6 * time.Second) // the load goes on
				after := waiting()
				peak = max(peak, after)
				if grown := after - before; grown < 6*rate/4 {
					t.Errorf("with one broker of three, only %.0f more clicks wait after 6 s, so Kafka still acknowledges clicks", grown)
				}
				other.Start()
				outages++
			}
			c.Cluster[victim].Start()
			whole()
		}
		pause(time.Second)
	})
	t.Logf("%d brokers killed, %d partitions with a new leader, %d periods with one broker of three and at most %.0f waiting clicks; load: %v",
		kills, moved, outages, peak, r)
	if moved == 0 || outages == 0 {
		t.Error("the kills had no effect")
	}
	unharmed(t, "while brokers were killed", r)
	c.verdict(crowd, r)
}
