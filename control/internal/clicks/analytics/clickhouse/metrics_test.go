package clickhouse_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The server says how full its disks are, and a server that is gone breaks no scrape.
func TestA9_disks_of_the_server_are_measured(t *testing.T) {
	t.Parallel()
	s := open(t, clickhouse.Config{URL: pool.Database(t)})
	registry := prometheus.NewRegistry()
	testkit.Must(t, registry.Register(s))
	gauges := func() map[string]float64 {
		t.Helper()
		families, err := registry.Gather()
		testkit.Must(t, err)
		out := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "disk" {
						out[f.GetName()+" "+l.GetValue()] = m.GetGauge().GetValue()
					}
				}
			}
		}
		return out
	}
	var got map[string]float64
	testkit.Eventually(t, "a scrape to which the server answers in time", func() bool {
		got = gauges()
		return len(got) > 0
	})
	free, size := got["shortline_clickhouse_disk_free_bytes default"], got["shortline_clickhouse_disk_size_bytes default"]
	if free <= 0 || size < free {
		t.Errorf("%v free of %v: %v", free, size, got)
	}
	testkit.Must(t, s.Close())
	if got := gauges(); len(got) != 0 {
		t.Errorf("after the connection was closed: %v", got)
	}
}
