package edge_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// heard is a control plane that records the last report and the origin of the last batch.
type heard struct {
	*control
	report atomic.Pointer[snapshot.Status]
	origin atomic.Pointer[click.Origin]
}

func (c *heard) Report(_ context.Context, s snapshot.Status) (a snapshot.Answer, err error) {
	c.report.Store(&s)
	return a, nil
}

func (c *heard) Deliver(ctx context.Context, b *click.Batch) error {
	o := b.Origin
	c.origin.Store(&o)
	return c.control.Deliver(ctx, b)
}

// The name and region of an edge are in its reports, on its clicks, and in its metrics.
func TestOps7_Edge_says_where_it_is(t *testing.T) {
	t.Parallel()
	c := &heard{control: newControl()}
	c.put(link.Record{Num: 1, Key: "abc", Destination: "https://example.com/1"})
	cfg := config(t)
	cfg.Name, cfg.Region = "fra-1", "eu-central"
	registry := prometheus.NewPedanticRegistry()
	e, stop := run(t, cfg, edge.Deps{Links: c, Sink: c, Reports: c, Registry: registry})
	testkit.Eventually(t, "the link", func() bool { code, _ := status(t, e, "/abc"); return code == 302 })
	testkit.Eventually(t, "a batch with its origin", func() bool {
		o := c.origin.Load()
		return o != nil && *o == click.Origin{Edge: "fra-1", Region: "eu-central"}
	})
	testkit.Eventually(t, "a report", func() bool {
		s := c.report.Load()
		return s != nil && s.Name == "fra-1" && s.Region == "eu-central"
	})
	m := samples(t, registry, "shortline_edge_info")[""]
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	if m.GetGauge().GetValue() != 1 || labels["edge"] != "fra-1" || labels["region"] != "eu-central" {
		t.Errorf("shortline_edge_info: %v", m)
	}
	stop()

	cfg.Name, cfg.Region = "two words", strings.Repeat("x", 65)
	err := cfg.Validate()
	if err == nil || !strings.Contains(err.Error(), "EDGE_NAME") || !strings.Contains(err.Error(), "REGION") {
		t.Errorf("bad names: %v", err)
	}
}

// Each problem of the spools names the setting that causes it, once.
func TestA11_problems_of_spools_name_their_setting(t *testing.T) {
	cfg := edge.Config{DataDir: t.TempDir(), SpoolSync: "often", ShipDelay: time.Hour, ConversionCapBytes: 1, SpoolLanes: 5000}
	var of []string
	for line := range strings.Lines(cfg.Validate().Error()) {
		if setting, what, _ := strings.Cut(line, ": "); strings.Contains(what, "spool") || strings.Contains(what, "linger") ||
			strings.Contains(what, "often") {
			of = append(of, setting)
		}
	}
	if got := strings.Join(of, " "); got != "SPOOL_SYNC SHIP_DELAY CONVERSION_SPOOL_CAP_BYTES SPOOL_CAP_BYTES, SPOOL_LANES" {
		t.Errorf("problems of %s", got)
	}
}
