package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestDashboards_are_generated(t *testing.T) {
	t.Parallel()
	folder := testkit.Source(t, "deploy/grafana/dashboards")
	var want []string
	for _, d := range allDashboards() {
		want = append(want, d.file)
		b, err := d.json()
		testkit.Must(t, err)
		got, err := os.ReadFile(filepath.Join(folder, d.file))
		testkit.Must(t, err)
		if !bytes.Equal(got, b) {
			t.Errorf("%s differs from its definition; run `go run .` in deploy/grafana/generate", d.file)
		}
	}
	files, err := os.ReadDir(folder)
	testkit.Must(t, err)
	for _, f := range files {
		if !slices.Contains(want, f.Name()) {
			t.Errorf("no dashboard is defined for %s", f.Name())
		}
	}
}

// The dashboard of health needs Prometheus only, and has what an operator would otherwise not see.
func TestA9_health_needs_metrics_only(t *testing.T) {
	t.Parallel()
	d := health()
	if !slices.Equal(d.sources, []source{metrics}) {
		t.Errorf("data sources %v", d.sources)
	}
	asked := ""
	for _, p := range d.panels {
		for _, q := range p.ask {
			if q.from != metrics {
				t.Errorf("%s asks %s", p.title, q.from.label)
			}
			asked += q.text + "\n"
		}
	}
	for _, name := range []string{
		"up{", "ALERTS{", "shortline_disk_free_bytes", "shortline_memory_limit_bytes", "shortline_click_shard_up", "shortline_mail_waiting",
		"shortline_mail_oldest_waiting_seconds", "shortline_edge_tls_rejected_total", "shortline_edge_tls_unanswered",
		"shortline_certificates_missing",
		"shortline_certificate_expiry_timestamp_seconds", "shortline_certificate_orders_total", "shortline_rollup_waiting_slots",
		"shortline_agent_clock_ahead_seconds", "shortline_control_clock_ahead_seconds",
	} {
		if !strings.Contains(asked, name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}
