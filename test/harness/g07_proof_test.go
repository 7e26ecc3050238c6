//go:build proof

package harness_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/topic"
	"github.com/shortline/shortline/test/harness/truth"
)

// TestG07 gives an edge a disk that is too small while Kafka is down, and later more space. Redirects must continue,
// and the number of missing clicks must equal the number that the edge reports as dropped.
func TestG07_disk_full(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount a small disk")
	}
	t.Parallel()
	full := long(t, 30*time.Second)
	p, slugs := published(t, 100)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	testkit.Must(t, e.Stop())
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Fatalf("mount %v: %v: %s", args, err, out)
		}
	}
	// Space for one file of 64 MiB. The four lanes would reserve two each.
	mount("-t", "tmpfs", "-o", "size=80m", "tmpfs", e.Dir)
	t.Cleanup(func() {
		e.Kill()
		if out, err := exec.Command("umount", "-l", e.Dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	f.KafkaProxy.Set(faultproxy.Fault{Refuse: true})
	e.Start()

	c := newCrowd(t)
	// These clicks take a kilobyte each, so that the disk fills soon.
	large := "&utm_source=" + strings.Repeat("s", 240) + "&utm_medium=" + strings.Repeat("m", 240) + "&utm_campaign=" +
		strings.Repeat("c", 240) + "&utm_term=" + strings.Repeat("t", 240)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 16, Query: large}
	r := c.during(cfg, func() {
		testkit.Eventually(t, "the disk is full", func() bool { return e.Metric("shortline_spool_clicks_dropped_total") > 0 })
		fleet.Hold(full)
	})
	dropped := e.Metric("shortline_spool_clicks_dropped_total")
	shedding := e.Metric("shortline_spool_shedding")
	mount("-o", "remount,size=3g", e.Dir)
	testkit.Eventually(t, "the edge stops shedding after the disk has grown", func() bool {
		return e.Metric("shortline_spool_shedding") == 0
	})
	cfg.Rate = 2000
	after := c.during(cfg, func() { c.more(4000) })
	f.KafkaProxy.Set(faultproxy.Fault{})
	f.Shipped()
	final := e.Metric("shortline_spool_clicks_dropped_total")
	t.Logf("full disk: %v; %.0f dropped, shedding %v; larger disk: %v; %.0f dropped in total", r, dropped, shedding == 1, after, final)
	if dropped <= 0 || shedding != 1 || int64(dropped) == r.Acked {
		t.Error("no clicks or all clicks were dropped, so the disk was not full for a part of the run")
	}
	for _, run := range []*load.Result{r, after} {
		if len(run.Other) > 0 || run.Broken > 0 {
			t.Errorf("redirects failed: %v", run)
		}
	}
	if e.Starts != 2 || e.Metric("shortline_edge_panics_total") != 0 {
		t.Errorf("%d starts and %v panics, want 2 and 0", e.Starts, e.Metric("shortline_edge_panics_total"))
	}
	account, err := topic.Read(t.Context(), f.Brokers(), fleet.Topic)
	testkit.Must(t, err)
	v, err := truth.Judge(c.file(), account.Contents())
	testkit.Must(t, err)
	t.Logf("topic: %v; %v", account, v)
	if v.Lost != int(final) || account.Lost != int(final) || account.Missing != 0 || v.Twice != 0 || v.Ghosts != 0 {
		t.Errorf("acked %d − stored %d = %d, loss markers contain %d, the edge counted %.0f", v.Acked, v.Stored, v.Acked-v.Stored,
			account.Lost, final)
	}
}
