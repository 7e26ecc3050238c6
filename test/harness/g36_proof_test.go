//go:build proof

package harness_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG36 sends 5,000 visits a second for links with a limit to three edges. The edges share their counts, so together they
// may follow a link at most as often as its limit and the visits of one second. The bound also holds when an edge is killed,
// and when the control planes are.
func TestG36_edges_share_the_limits_of_links(t *testing.T) {
	const edges, rate = 3, 5000
	limit := int64(long(t, 15*time.Second).Seconds() * rate) // half of the visits in each run
	c := startChain(t, fleet.Config{Edges: edges, Controls: 2, Spread: true}, 0)
	links := map[string]client.Link{}
	for _, name := range []string{"steady", "killed", "cut"} {
		links[name] = c.api.Create(client.CreateLink{OriginalURL: "https://example.com/" + name, CustomSlug: client.Set("limit-" + name),
			MaxClicks: client.Set(int(limit))})
	}
	for _, e := range c.Edges {
		testkit.Eventually(t, e.Name+" has the links and contact", func() bool {
			status, _, err := follow(e.Addr, "limit-cut")
			return err == nil && status == http.StatusFound && e.Metric("shortline_edge_limit_exchanges_total") > 0
		})
	}
	granted := func() (n float64) {
		for _, e := range c.Edges {
			if all, err := e.Metrics(); err == nil {
				n += all["shortline_edge_limit_granted_total"]
			}
		}
		return n
	}
	// run sends visits for one link until it is used up everywhere, and disturbs when half of the limit is used.
	run := func(name string, disturb func()) *load.Result {
		before := granted()
		var run *load.Result
		crowd := newCrowd(t)
		run = crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: []string{"limit-" + name}, Clients: 4 * edges, Rate: rate}, func() {
			testkit.Eventually(t, "half of the limit is used", func() bool { return granted()-before > float64(limit)/2 })
			disturb()
			crowd.more(1) // after the disturbance
			for _, e := range c.Edges {
				answers(t, e, "limit-"+name, http.StatusGone, "")
			}
		})
		second := float64(run.Sent) / run.Took.Seconds()
		t.Logf("%s: limit %d at %.0f visits a second: %d followed (%+d, bound %+.0f); %v", name, limit, second, run.Acked, run.Acked-limit,
			second, run)
		if excess := run.Acked - limit; float64(excess) > second {
			t.Errorf("%s: %d more visits than the limit; the bound is %.0f", name, excess, second)
		}
		if run.Acked < limit-run.Broken-edges {
			t.Errorf("%s: only %d of %d visits were followed, with %d unanswered", name, run.Acked, limit, run.Broken)
		}
		if run.Other[http.StatusGone] == 0 || len(run.Other) > 1 {
			t.Errorf("%s: answers %v, want 410 after the limit", name, run.Other)
		}
		for _, e := range c.Edges {
			if status, _, err := follow(e.Addr, "limit-"+name); err != nil || status != http.StatusGone {
				t.Errorf("%s: %s answers %d %v after the limit", name, e.Name, status, err)
			}
		}
		return run
	}
	total := func(name string) (n int64) {
		out, err := c.Ask(fmt.Sprintf("SELECT coalesce(sum(clicks), 0) FROM limit_totals t JOIN urls u ON u.num = t.link WHERE u.id = '%s'",
			links[name].ID))
		testkit.Must(t, err)
		_, _ = fmt.Sscan(strings.TrimSpace(out), &n)
		return n
	}
	settled := func(name string, acked, broken int64) {
		t.Helper()
		testkit.Eventually(t, "the control planes know all clicks of "+name, func() bool {
			n := total(name)
			return n >= acked && n <= acked+broken
		})
		now, err := c.api.Links.Get(t.Context(), links[name].ID)
		testkit.Must(t, err)
		if now.Status != client.LinkStatusExhausted {
			t.Errorf("%s: the status is %s", name, now.Status)
		}
	}

	steady := run("steady", func() {})
	settled("steady", steady.Acked, steady.Broken)

	killed := run("killed", func() {
		c.Edges[1].Kill()
		fleet.Hold(300 * time.Millisecond)
		c.Edges[1].Start()
	})
	settled("killed", killed.Acked, killed.Broken)

	cut := run("cut", func() {
		for _, plane := range c.Controls {
			plane.Kill()
		}
		c.Edges[2].Kill()
		c.Edges[2].Start()
	})
	for _, plane := range c.Controls {
		plane.Start()
	}
	settled("cut", cut.Acked, cut.Broken)
}
