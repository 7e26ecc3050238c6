//go:build proof

package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// alone kills everything behind the edges, sends requests, restarts the edges in that state, sends requests again, and
// restarts everything. Every click since the start must arrive once and in order.
func (in *installation) alone(t *testing.T) {
	lasts := long(t, 10*time.Minute)
	in.api = in.Controls[0].Login(t)
	slugs := in.served(50)
	in.Shipped()
	behind := []*fleet.Process{in.Controls[0].Process, in.Controls[1].Process, in.Postgres, in.Kafka, in.ClickHouse}
	warm := in.crowd.start(load.Config{Addrs: in.EdgeAddrs(), Slugs: slugs, Clients: 6, Rate: 300})
	in.crowd.more(200)
	for _, p := range behind {
		p.Kill()
	}
	fleet.Hold(lasts / 4)
	before := in.memory()
	fleet.Hold(lasts / 4)
	first, after := warm(), in.memory()
	t.Logf("everything but the edges is down, before their restart: %v", first)
	if n := failures(first); n != 0 {
		t.Errorf("%d requests of visitors failed: %v", n, first)
	}
	for i, e := range in.Edges {
		// The Go runtime's own figure. The rest of the process's memory is pages of the spool, which the kernel can
		// reclaim.
		t.Logf("%s: %.1f MiB of memory at half time, %.1f MiB at the end", e.Name, before[i]/mebibyte, after[i]/mebibyte)
		if grown := after[i] - before[i]; grown > 32*mebibyte {
			t.Errorf("the memory of %s has grown by %.1f MiB", e.Name, grown/mebibyte)
		}
	}
	for _, e := range in.Edges {
		e.Kill()
	}
	for _, e := range in.Edges {
		t.Logf("%s: cold start in %s", e.Name, ms(e.Start()))
	}
	cold := in.crowd.start(load.Config{Addrs: in.EdgeAddrs(), Slugs: slugs, Clients: 6, Rate: 300})
	fleet.Hold(lasts / 2)
	second := cold()
	t.Logf("everything but the edges is down, after their restart: %v", second)
	if n := failures(second); n != 0 {
		t.Errorf("%d requests of visitors failed: %v", n, second)
	}
	waiting := 0.0
	for _, e := range in.Edges {
		waiting += e.Metric("shortline_spool_clicks_pending")
	}
	// Clicks of the first second may have been shipped before Kafka ended.
	if waiting < float64(second.Acked) {
		t.Errorf("%.0f clicks wait in the spools, want at least %d: answered clicks are missing", waiting, second.Acked)
	}
	began := time.Now()
	for i := len(behind) - 1; i >= 0; i-- {
		behind[i].Start()
	}
	t.Logf("all programs were ready again after %s", ms(time.Since(began)))
	began = time.Now()
	in.exact(t)
	t.Logf("%.0f waiting clicks stored in %s", waiting, ms(time.Since(began)))
	if account := inTopic(t, in.Fleet, in.crowd); account.Backward != 0 || account.Lost != 0 || account.Moved != 0 {
		t.Errorf("the topic is not in order: %v", account)
	}
	in.allAgree(t)
}

// memory returns the memory of the Go runtime in each edge, in bytes.
func (in *installation) memory() (all []float64) {
	for _, e := range in.Edges {
		all = append(all, e.Metric("go_memstats_heap_inuse_bytes")+e.Metric("go_memstats_stack_inuse_bytes"))
	}
	return all
}
