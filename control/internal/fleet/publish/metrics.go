package publish

import (
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/metric"
)

// counts holds the counters since the start.
type counts struct {
	held   atomic.Int64
	failed atomic.Uint64 // builds
	took   atomic.Int64  // ns, of successful builds
}

func (c *counts) built(err error, took time.Duration) {
	if err != nil {
		c.failed.Add(1)
		return
	}
	c.took.Add(int64(took))
}

func (c *counts) metrics() metric.Set {
	return metric.Set{
		metric.Gauge("shortline_publish_held_requests", "Requests for link changes that are held now.", c.held.Load),
		metric.Total("shortline_publish_documents_seconds_total", "Time spent building full documents.", func() float64 {
			return time.Duration(c.took.Load()).Seconds()
		}),
		metric.Total("shortline_publish_errors_total", "Failed builds of full documents.", c.failed.Load),
	}
}
