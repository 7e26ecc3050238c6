//go:build proof

package harness_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/truth"
)

// TestG14 opens many slow connections: five that send a byte a second for each two that never read and each two that
// are silent. Other visitors must be served as before, and slow connections must be closed. CLIENTS is the number of other visitors, who
// keep their connections.
func TestG14_slow_clients(t *testing.T) {
	n := count(t, 2000)
	dripping := 5 * n / 2
	p, slugs := published(t, 100)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	c := newCrowd(t)
	fast := number(t, "CLIENTS", 8)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: fast, Rate: float64(max(500, fast/5))}
	before := c.during(cfg, func() { fleet.Hold(max(2*time.Second, time.Duration(fast)*time.Millisecond)) })
	memory := e.Memory()

	slow := newSlowClients(t, e.Addr, n)
	testkit.Eventually(t, "95 % of the slow clients are connected", func() bool {
		return e.Metric("shortline_edge_connections") >= 0.95*float64(dripping+2*n)
	})
	during := c.during(cfg, func() { fleet.Hold(long(t, 30*time.Second)) })
	files, grown := e.Files(), e.Memory()-memory
	t.Logf("memory of the edge: heap in use %.0f MiB, stacks %.0f MiB", e.Metric("go_memstats_heap_inuse_bytes")/mebibyte,
		e.Metric("go_memstats_stack_inuse_bytes")/mebibyte)
	cut, longest := slow.stop()
	t.Logf("alone: %v", before)
	t.Logf("load beside %d, %d and %d slow clients: %v", dripping, n, n, during)
	t.Logf("%d of the requests from %d byte-a-second clients were closed, after %.1f s at most; %d files open, memory %+d MiB", cut,
		dripping, float64(longest)/1000, files, grown/mebibyte)
	unharmed(t, "beside slow clients", during)
	if p99 := during.Slow.Quantile(0.99); p99 > max(2*before.Slow.Quantile(0.99), 20*time.Millisecond) {
		t.Errorf("the p99 of visitors is %v beside slow clients", p99)
	}
	if cut < int64(dripping) || longest > 9000 {
		t.Errorf("%d of the requests from %d byte-a-second clients were closed, after %d ms at most", cut, dripping, longest)
	}
	if grown > 128*mebibyte {
		t.Errorf("memory grew by %d MiB", grown/mebibyte)
	}
	testkit.Eventually(t, "no connection is left", func() bool { return e.Metric("shortline_edge_connections") == 0 })
}

// TestG15 requests N distinct links that do not exist. Memory must stay bounded, the control plane must get no request,
// and no click may be recorded.
func TestG15_unknown_links(t *testing.T) {
	n := count(t, 10_000_000)
	p, slugs := published(t, 1000)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	missed := func() int { return int(e.Metric(`shortline_edge_answers_total{outcome="not_found"}`)) }
	var scanned int64
	scan := func(n int) { // each link once, without a record
		ctx, cancel := context.WithCancel(t.Context())
		want := missed() + n
		go func() {
			defer cancel()
			reaches(t, "the edge answers requests for unknown links", want, missed)
		}()
		salt := rand.Uint32()
		r := load.Run(ctx, load.Config{Addrs: f.EdgeAddrs(), Clients: 4, Slug: func(id truth.ID) string {
			return fmt.Sprintf("u%08x%x-%012x", salt, id.Client, id.N)
		}})
		if len(r.Other) != 1 || r.Broken+r.Refused+r.Acked > 0 {
			t.Errorf("unknown links: %v", r)
		}
		scanned += r.Other[http.StatusNotFound]
	}
	c := newCrowd(t)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 2, Rate: 200}
	before := c.during(cfg, func() { fleet.Hold(2 * time.Second) })
	memory, asked := e.Memory(), p.Requests()
	began := time.Now()
	r := c.during(cfg, func() { scan(n) })
	grown := e.Memory() - memory
	t.Logf("%d unknown links in %s; memory %+.1f MiB; %d requests to the control plane (long polls)", n,
		time.Since(began).Round(time.Millisecond), float64(grown)/mebibyte, p.Requests()-asked)
	t.Logf("load before: %v; load during the requests for unknown links: %v", before, r)
	if n := missed(); int64(n) != scanned {
		t.Errorf("%d answers counted as not found, want %d", n, scanned)
	}
	if grown > 32*mebibyte {
		t.Errorf("memory grew by %d MiB", grown/mebibyte)
	}
	if more := p.Requests() - asked; more > 2+int(time.Since(began)/(10*time.Second)) {
		t.Errorf("%d requests to the control plane", more)
	}
	if kept := e.Metric("shortline_spool_clicks_appended_total"); int64(kept) != before.Acked+r.Acked {
		t.Errorf("%.0f clicks were recorded for %d redirects", kept, before.Acked+r.Acked)
	}
	inTopic(t, f, c)
}
