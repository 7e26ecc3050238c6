//go:build proof

package harness_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG05_clickhouse kills ClickHouse during inserts, drops its replies, and pauses it for half a minute. Inserts with
// an unknown outcome are judged before they are repeated. The clock of one edge is a month behind, so most inserts
// affect two partitions, and a killed server may have stored only one of them. The test ends after N faults or after
// DUR. If there are several servers, each fault is of one of them, when all are in sync.
func TestG05_clickhouse_killed_in_inserts(t *testing.T) {
	t.Parallel()
	faults := count(t, 500)
	// Reports cover the last 30 days. On the last two days of a month both clocks are in the same month.
	day := time.Now().UTC().Day()
	back := -time.Duration(min(day, 29)) * 24 * time.Hour
	c, taps := startTapped(t, fleet.Config{Edges: 2, Controls: 1, Clocks: []time.Duration{0, back}}, 20)
	var found insertOutcomes
	var tap *insertTap // of the engine that fails
	var engine *fleet.Engine
	judge := func() {
		d, err := tap.judge(t.Context(), engine.Store)
		testkit.Must(t, err)
		found.none, found.partial, found.full, found.rows = found.none+d.none, found.partial+d.partial, found.full+d.full, found.rows+d.rows
	}
	begun := func() {
		select {
		case <-tap.begun: // the value may be from an earlier insert
		default:
		}
		testkit.Eventually(t, "an insert begins", func() bool { return len(tap.begun) > 0 })
		<-tap.begun
	}
	kills, lost, stops := 0, 0, 0
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 800}, func() {
		for i, end := 0, time.Now().Add(long(t, time.Hour)); i < faults && time.Now().Before(end); i++ {
			at := rand.IntN(len(taps))
			tap, engine = taps[at], c.Engines[at]
			begun()
			switch {
			case i%100 == 11:
				engine.Pause()
				fleet.Hold(31 * time.Second)
				engine.Resume()
				stops++
			case i%6 == 5:
				tap.open(engine.Store.URL, 1)
				begun()
				pause(300 * time.Millisecond)
				tap.hold()
				judge()
				tap.open(engine.Store.URL, 0)
				lost++
			default:
				fleet.Hold(rand.N(12 * time.Millisecond)) // a random moment of the insert
				engine.Kill()
				tap.hold()
				engine.Start()
				judge()
				tap.open(engine.Store.URL, 0)
				kills++
			}
			if i%50 == 49 {
				t.Logf("%s after %d faults, inserts with an unknown outcome: %+v", time.Now().Format("15:04:05"), i+1, found)
			}
		}
	})
	inserts := 0
	for _, tap := range taps {
		inserts += tap.inserts()
	}
	t.Logf("%d kills, %d periods of lost replies, %d pauses of 31 s; %d inserts, %d with an unknown outcome and %d rows: the server stored "+
		"none of %d, part of %d, all of %d; load: %v",
		kills, lost, stops, inserts, found.none+found.partial+found.full, found.rows, found.none, found.partial, found.full, r)
	c.verdict(crowd, r)
	// With a few kills, the kinds that occur are random.
	few, some := kills < 50, kills < 200 || day >= 30
	if found.none+found.full == 0 || !few && (found.none == 0 || found.full == 0) || !some && found.partial == 0 {
		t.Errorf("inserts with an unknown outcome did not cover every case: %+v", found)
	}
}

// startTapped is startSpread with a tap before each engine.
func startTapped(t *testing.T, cfg fleet.Config, links int) (*chain, []*insertTap) {
	t.Helper()
	cfg = spread(t, cfg)
	var taps []*insertTap
	for range len(cfg.Shards) + 1 {
		tap := newInsertTap()
		t.Cleanup(tap.close)
		taps, cfg.StoreAddrs = append(taps, tap), append(cfg.StoreAddrs, tap.addr())
	}
	cfg.First = func(f *fleet.Fleet) {
		for i, e := range f.Engines {
			taps[i].open(e.Store.URL, 0)
		}
	}
	return startSpread(t, cfg, links), taps
}
