//go:build proof

package harness_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/topic"
	"github.com/shortline/shortline/test/harness/truth"
)

// reaches returns how far the clicks of a region reach.
func (c *chain) reaches(region string) client.RegionReach {
	c.t.Helper()
	list, err := c.api.Edges.List(c.t.Context())
	testkit.Must(c.t, err)
	for _, r := range list.Regions {
		if r.Region == region {
			return r
		}
	}
	return client.RegionReach{}
}

// TestG43 runs a region, with a broker and an edge of its own, behind a slow and lossy link, and cuts the link for DUR while
// visitors come in both regions. The region goes on redirecting. Clicks of the other region are not delayed. The API says how
// far each region reaches. After the cut, every answered visit of both regions is stored exactly once. RATE visits a second
// come in the far region, and HOME_RATE (else as many) in the other.
func TestG43_a_region_is_cut_off(t *testing.T) {
	if err := fleet.Namespaces(); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	cut, perSecond := long(t, 5*time.Minute), rate(t, 1000)
	home := number(t, "HOME_RATE", perSecond)
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1, Ingesters: 1, Regions: []string{"far"}, EdgeEnv: []string{"SHIP_DELAY=100ms"}},
		5)
	far := c.Regions[0]
	testkit.Eventually(t, "the far edge serves all links", func() bool { return far.Edge.Metric("shortline_edge_links") == 5 })
	far.Slow(fmt.Sprintf("%dkbit", max(800, perSecond)), "10ms") // two consumer groups read all clicks, and have to catch up

	crowd := newCrowd(t)
	before, after := 4*time.Second, 4*time.Second
	visits := far.Visit(c.slugs, perSecond, 1000, before+cut+after, crowd.log.Path())
	var worst, reported time.Duration
	var known time.Time
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: float64(home)}, func() {
		testkit.Eventually(t, "clicks of both regions are stored", func() bool {
			lines, err := c.Store.Ask(t.Context(), "SELECT uniqExact(edge_region) FROM clicks")
			return err == nil && len(lines) == 1 && lines[0] == "2"
		})
		testkit.Eventually(t, "both regions are complete up to now", func() bool {
			return c.reaches("far").CompleteUntil != nil && c.reaches("home").CompleteUntil != nil
		})
		far.Cut()
		at := time.Now()
		for time.Since(at) < cut {
			fleet.Hold(time.Second)
			n, err := c.Store.Ask(t.Context(), "SELECT toUnixTimestamp64Milli(max(ts)) FROM clicks WHERE edge_region = ''")
			if err == nil && len(n) == 1 {
				worst = max(worst, time.Since(milli(t, n[0])))
			}
		}
		if now := c.reaches("far"); now.CompleteUntil == nil || now.CompleteUntil.After(at.Add(2*time.Second)) {
			t.Errorf("after a cut of %v, the region is said to be complete until %v; the cut began at %v", cut, now.CompleteUntil, at)
		} else {
			known, reported = *now.CompleteUntil, time.Duration(now.LagSeconds*float64(time.Second))
		}
		far.Join()
	})
	summary, dropped := visits(), far.Dropped()
	t.Logf("cut for %v at %d visits a second, and %d in the other region: %v", cut, perSecond, home, r)
	t.Logf("far: %s", summary)
	t.Logf("newest click of home was at most %v old during the cut; far was said to be complete until %v, a lag of %v; the link dropped %d "+
		"packets", worst.Round(time.Millisecond), known.Format(time.TimeOnly), reported.Round(time.Second), dropped)
	if !strings.Contains(summary, "map[], 0 without an answer, 0 connection failures") || len(r.Other)+int(r.Broken+r.Refused) > 0 {
		t.Error("visitors were not all redirected")
	}
	if dropped == 0 {
		t.Error("the link has dropped no packets, so it was not lossy")
	}
	if worst > 10*time.Second {
		t.Errorf("clicks of home were stored %v late while the other region was cut off", worst)
	}
	c.bothStored(crowd)
	if !t.Failed() {
		testkit.Eventually(t, "the far region is complete again", func() bool {
			now := c.reaches("far")
			return now.CompleteUntil != nil && now.CompleteUntil.After(known) && now.LagSeconds < 60
		})
	}
}

func milli(t *testing.T, text string) time.Time {
	t.Helper()
	ms, err := strconv.ParseInt(text, 10, 64)
	testkit.Must(t, err)
	return time.UnixMilli(ms)
}

// bothStored waits until every answered visit of all regions is stored. It compares the store and the
// topics with the record.
func (c *chain) bothStored(crowd *crowd) {
	c.t.Helper()
	log := crowd.file()
	acked := 0
	for e, err := range truth.Read(log) {
		testkit.Must(c.t, err)
		if e.Status == 302 {
			acked++
		}
	}
	began := time.Now()
	c.Shipped()
	reaches(c.t, "all answered visits are stored", acked, func() int { return clicks(c.t, c.Everything()) })
	contents, err := c.Store.Contents(c.t.Context())
	testkit.Must(c.t, err)
	v, err := truth.Judge(log, contents)
	exact(c.t, "ClickHouse", v, err)
	c.t.Logf("all are stored %v after the load", time.Since(began).Round(100*time.Millisecond))
	far, err := topic.Read(c.t.Context(), c.Regions[0].Brokers(), fleet.Topic)
	testkit.Must(c.t, err)
	c.t.Logf("topic of far: %v", far)
	c.reported()
}
