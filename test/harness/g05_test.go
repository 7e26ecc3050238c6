package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG01to05 breaks everything between a visitor and a report, one fault after another in random order, under load. No
// click may be lost, duplicated or invented, and every report must agree with the rows.
func TestG01to05_the_whole_chain_through_every_fault(t *testing.T) {
	n := count(t, 10)
	c := startSpread(t, spread(t, fleet.Config{Edges: 2, Controls: 2, Ingesters: 1}), 20)
	crowd := newCrowd(t)
	var done map[string]int
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 1500}, func() {
		done = c.rounds(n, 400*time.Millisecond, c.everything())
		time.Sleep(500 * time.Millisecond)
	})
	t.Logf("%d faults %v; load: %v", n, done, r)
	c.verdict(crowd, r)
}
