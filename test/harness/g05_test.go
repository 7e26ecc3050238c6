package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG01to05 breaks everything between a visitor and a report, one fault after another in random order, under load. No
// click may be lost, duplicated or invented, and every report must agree with the rows.
func TestG01to05_the_whole_chain_through_every_fault(t *testing.T) {
	t.Parallel()
	n := count(t, testkit.Size(10, 200))
	c := startSpread(t, spread(t, fleet.Config{Edges: 2, Controls: 2, Ingesters: 1}), 20)
	crowd := newCrowd(t)
	var done map[string]int
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: testkit.Size(600.0, 1500)}, func() {
		done = c.rounds(n, testkit.Size[time.Duration](100, 400)*time.Millisecond, c.everything())
		crowd.more(200)
	})
	t.Logf("%d faults %v; load: %v", n, done, r)
	c.verdict(crowd, r)
}
