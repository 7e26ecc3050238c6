package harness_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

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
	var link, test, ruled struct{ ID string }
	step := func(method, path string, body any, status int, out any, then int, location string) {
		header := ch.c.api.Must(method, path, body, status, out)
		revision, err := strconv.ParseInt(header.Get("X-Config-Revision"), 10, 64)
		if err != nil {
			ch.c.t.Errorf("%s %s: the answer has no revision: %v", method, path, err)
		}
		took, early := everywhere(ch.c, slug, revision, then, location)
		ch.mu.Lock()
		ch.took, ch.early = append(ch.took, took), ch.early+early
		ch.mu.Unlock()
	}
	type fields = map[string]any
	step("POST", "/api/urls", fields{"originalUrl": a, "customSlug": slug}, 201, &link, http.StatusFound, a)
	path := "/api/urls/" + link.ID
	step("PATCH", path, fields{"originalUrl": b}, 200, nil, http.StatusFound, b)
	step("PATCH", path, fields{"status": "INACTIVE"}, 200, nil, http.StatusGone, "")
	step("PATCH", path, fields{"status": "ACTIVE"}, 200, nil, http.StatusFound, b)

	// the first variant starts the test
	step("POST", path+"/variants", fields{"name": "A", "targetUrl": variant, "weight": 100}, 201, &test, http.StatusFound, variant)
	step("PATCH", path, fields{"isABTesting": false}, 200, nil, http.StatusFound, b)
	step("PATCH", path, fields{"isABTesting": true}, 200, nil, http.StatusFound, variant)
	step("PUT", path+"/variants/"+test.ID, fields{"weight": 0}, 200, nil, http.StatusFound, b)

	step("PATCH", path+"/routing-rules/settings", fields{"isSmartRouting": true}, 200, nil, http.StatusFound, b)
	step("POST", path+"/routing-rules", fields{"name": "everybody", "targetUrl": rule, "conditions": everybody}, 201, &ruled,
		http.StatusFound, rule)
	step("PUT", path+"/routing-rules/"+ruled.ID, fields{"targetUrl": rule + "/changed"}, 200, nil, http.StatusFound, rule+"/changed")
	step("DELETE", path, nil, 204, nil, http.StatusNotFound, "")
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
