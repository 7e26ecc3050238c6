package metric_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestSet(t *testing.T) {
	t.Parallel()
	var done, failed atomic.Uint64
	var last atomic.Int64
	set := metric.Set{
		metric.Total("jobs_total", "Jobs.", done.Load, "result", "done"),
		metric.Total("jobs_total", "Jobs.", failed.Load, "result", "failed"),
		metric.Gauge("jobs", "Jobs now.", func() int { return 3 }),
		metric.Time("jobs_last_timestamp_seconds", "Time of the last job.", last.Load),
	}
	registry := prometheus.NewRegistry()
	testkit.Must(t, registry.Register(set))
	done.Store(7) // read on each scrape
	last.Store(1500)
	const want = `# HELP jobs Jobs now.
# TYPE jobs gauge
jobs 3
# HELP jobs_last_timestamp_seconds Time of the last job.
# TYPE jobs_last_timestamp_seconds gauge
jobs_last_timestamp_seconds 1.5
# HELP jobs_total Jobs.
# TYPE jobs_total counter
jobs_total{result="done"} 7
jobs_total{result="failed"} 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
