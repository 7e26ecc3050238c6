package harness_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG12 changes links through the API under load and polls every edge until it serves the change, also over a slow network
// with repeated disconnects. An edge that reports the change's revision must serve the change at once. For a release, changes
// arrive within a second, or within three over the slow network, at RATE requests a second. The same holds for deleted and restored
// links and with the preference to wait, without load, when the edges are connected to another control plane than the user.
func TestG12_a_change_is_everywhere_within_a_second(t *testing.T) {
	lasts := long(t, testkit.Size(0, 5*time.Minute))
	if lasts == 0 {
		t.Parallel() // nothing is measured
	}
	c := startChain(t, fleet.Config{Edges: 3, Controls: 2}, 20)
	crowd := newCrowd(t)
	visits := rate(t, testkit.Size(300, 9000))
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 24, Rate: float64(visits)}, func() {
		makeChanges(c, lasts, "near").report("on a fast network", testkit.Size(0, time.Second))
		c.PlaneProxy.Set(faultproxy.Fault{Latency: 200 * time.Millisecond})
		over, cut := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(cut)
			for fleet.HoldUnless(over, 2*time.Second) {
				c.PlaneProxy.Cut()
			}
		}()
		far := makeChanges(c, lasts, "far")
		close(over)
		<-cut
		c.PlaneProxy.Set(faultproxy.Fault{})
		far.report("with 200 ms of latency and a disconnect every 2 s", testkit.Size(0, 3*time.Second))
	})
	t.Logf("load: %v", r)
	c.verdict(crowd, r)
	trash(c)
	preferWait(c)
}

// changes records the changes and the delays of the edges.
type changes struct {
	c *chain

	mu    sync.Mutex
	took  []time.Duration // delay until the slowest edge served the change
	early int64           // times that an edge reported the revision and served the old state
}

// report logs the delays, and checks them unless limit is 0.
func (ch *changes) report(where string, limit time.Duration) {
	t, took := ch.c.t, ch.took
	t.Helper()
	slices.Sort(took)
	p99 := percentile(took, 0.99)
	t.Logf("%s: delay of %d changes at the slowest of three edges: p50 %s p99 %s max %s; %d times an edge reported a revision without "+
		"serving its change",
		where, len(took), percentile(took, 0.5).Round(time.Millisecond), p99.Round(time.Millisecond),
		took[len(took)-1].Round(time.Millisecond),
		ch.early)
	if limit > 0 && p99 > limit {
		t.Errorf("%s: p99 of the delay is %v", where, p99)
	}
	if ch.early > 0 {
		t.Errorf("%s: edges reported revisions without serving their changes", where)
	}
}

// makeChanges runs four users who each change all about a link, again and again for a while: destination, status, test, weights and rules.
func makeChanges(c *chain, lasts time.Duration, name string) *changes {
	ch := &changes{c: c}
	var owners sync.WaitGroup
	end := time.Now().Add(lasts)
	for w := range 4 {
		owners.Go(func() {
			for n := 0; n == 0 || time.Now().Before(end); n++ {
				ch.life(fmt.Sprintf("%s-%d-%d", name, w, n))
			}
		})
	}
	owners.Wait()
	return ch
}

// life creates a link, changes everything about it, and deletes it.
func (ch *changes) life(slug string) {
	const a, b, variant, rule = "https://example.com/a", "https://example.com/b", "https://example.com/variant", "https://example.com/rule"
	api, ctx := ch.c.api, ch.c.t.Context()
	var meta client.Meta
	into := client.Into(&meta)
	step := func(what string, err error, then int, location string) {
		testkit.Must(ch.c.t, err)
		revision, err := strconv.ParseInt(meta.Header.Get("X-Config-Revision"), 10, 64)
		if err != nil {
			ch.c.t.Errorf("%s: the answer has no revision: %v", what, err)
		}
		took, early := everywhere(ch.c, slug, revision, then, location)
		ch.mu.Lock()
		ch.took, ch.early = append(ch.took, took), ch.early+early
		ch.mu.Unlock()
	}
	link, err := api.Links.Create(ctx, client.CreateLink{OriginalURL: a, CustomSlug: client.Set(slug)}, into)
	step("create", err, http.StatusFound, a)
	change := func(what string, body client.UpdateLink, then int, location string) {
		_, err := api.Links.Update(ctx, link.ID, body, into)
		step(what, err, then, location)
	}
	change("destination", client.UpdateLink{OriginalURL: client.Set(b)}, http.StatusFound, b)
	change("pause", client.UpdateLink{Status: client.Set(client.LinkStatusInactive)}, http.StatusGone, "")
	change("resume", client.UpdateLink{Status: client.Set(client.LinkStatusActive)}, http.StatusFound, b)

	// the first variant starts the test
	test, err := api.Variants.Create(ctx, link.ID, client.CreateVariant{Name: "A", TargetURL: variant, Weight: client.Set(100)}, into)
	step("variant", err, http.StatusFound, variant)
	change("end the test", client.UpdateLink{IsABTesting: client.Set(false)}, http.StatusFound, b)
	change("begin the test", client.UpdateLink{IsABTesting: client.Set(true)}, http.StatusFound, variant)
	_, err = api.Variants.Update(ctx, link.ID, test.ID, client.UpdateVariant{Weight: client.Set(0)}, into)
	step("weight", err, http.StatusFound, b)

	_, err = api.Rules.UpdateSettings(ctx, link.ID, client.UpdateRoutingSettings{IsSmartRouting: client.Set(true)}, into)
	step("follow rules", err, http.StatusFound, b)
	ruled, err := api.Rules.Create(ctx, link.ID, client.CreateRule{Name: "everybody", TargetURL: rule, Conditions: everybody}, into)
	step("rule", err, http.StatusFound, rule)
	_, err = api.Rules.Update(ctx, link.ID, ruled.ID, client.UpdateRule{TargetURL: client.Set(rule + "/changed")}, into)
	step("rule's destination", err, http.StatusFound, rule+"/changed")
	step("delete", api.Links.Delete(ctx, link.ID, client.DeleteLinkParams{}, into), http.StatusNotFound, "")
}

// everywhere waits until every edge gives the expected answer. It returns the delay of the slowest edge, and how many
// answers were wrong although the edge had the revision.
func everywhere(c *chain, slug string, revision int64, status int, location string) (took time.Duration, early int64) {
	c.t.Helper()
	began := time.Now()
	for _, e := range c.Edges {
		testkit.Eventually(c.t, fmt.Sprintf("%s answers %d %s for %s", e.Name, status, location, slug), func() bool {
			has := e.Metric("shortline_edge_revision") // read before the link is requested
			got, to, err := follow(e.Addr, slug)
			served := err == nil && got == status && to == location
			if err == nil && !served && has >= float64(revision) {
				early++
			}
			return served
		})
	}
	return time.Since(began), early
}
