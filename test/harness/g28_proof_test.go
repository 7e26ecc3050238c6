//go:build proof

package harness_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG28_soak runs the whole installation under load for DUR, with a random fault every 20 seconds. No click may be
// lost or duplicated, and reports must agree with the rows. Goroutines and open files of surviving processes must stay
// flat, and so must the anonymous memory of each process after its warm-up.
func TestG28_soak(t *testing.T) {
	lasts := long(t, 15*time.Minute)
	every := min(20*time.Second, lasts/4)
	c := startSpread(t, spread(t, fleet.Config{Edges: 2, Controls: 2, Ingesters: 1}), 50)
	crowd := newCrowd(t)
	type sample struct {
		at                        time.Time
		memory, goroutines, files float64
	}
	first, last := map[string]sample{}, map[string]sample{}
	look := func(into map[string]sample) {
		for _, n := range c.Nodes() {
			m, err := n.Metrics()
			if err != nil {
				continue
			}
			into[n.Name] = sample{time.Now(), float64(n.Memory()), m["go_goroutines"], float64(n.Files())}
		}
	}
	memory := memories{warm: min(time.Minute, lasts/6)}
	faults := 0
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 1000}, func() {
		end := time.Now().Add(lasts)
		fleet.Hold(every / 2)
		look(first)
		memory.look(c.Nodes())
		all := c.everything()
		for time.Now().Before(end) {
			next := time.Now().Add(every)
			f := all[rand.IntN(len(all))]
			t.Logf("%s %s", time.Now().Format("15:04:05"), f.name)
			f.do()
			faults++
			if time.Until(end) < every {
				next = end
			}
			for time.Until(next) > 0 {
				memory.look(c.Nodes())
				fleet.Hold(min(every/4, time.Until(next)))
			}
		}
	})
	reaches(t, "ClickHouse has all clicks", int(r.Acked), func() int { return clicks(t, c.Everything()) })
	look(last)
	memory.look(c.Nodes())
	t.Logf("%v, %d faults; load: %v", lasts, faults, r)
	for _, n := range c.Nodes() {
		a, b := first[n.Name], last[n.Name]
		t.Logf("%s: %d starts, memory %.0f → %.0f MiB, goroutines %.0f → %.0f, files %.0f → %.0f", n.Name, n.Starts,
			a.memory/mebibyte, b.memory/mebibyte, a.goroutines, b.goroutines, a.files, b.files)
		if n.Starts > 1 {
			continue // the process was restarted, so the figures are not comparable
		}
		// A margin for caches that fill and connections that open.
		if b.goroutines > 2*a.goroutines+50 || b.files > 2*a.files+50 {
			t.Errorf("%s: goroutines %.0f → %.0f, files %.0f → %.0f", n.Name, a.goroutines, b.goroutines, a.files, b.files)
		}
	}
	memory.flat(t)
	c.verdict(crowd, r)
}
