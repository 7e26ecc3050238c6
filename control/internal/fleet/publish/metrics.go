package publish

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counts holds the counters since the start.
type counts struct {
	held           atomic.Int64
	builds, failed atomic.Uint64
	took           atomic.Int64 // ns, of successful builds
}

func (c *counts) built(err error, took time.Duration) {
	if err != nil {
		c.failed.Add(1)
		return
	}
	c.builds.Add(1)
	c.took.Add(int64(took))
}

var (
	heldDesc   = prometheus.NewDesc("shortline_publish_held_requests", "Requests for link changes that are held now.", nil, nil)
	buildsDesc = prometheus.NewDesc("shortline_publish_documents_total", "Full documents built.", nil, nil)
	tookDesc   = prometheus.NewDesc("shortline_publish_documents_seconds_total", "Time spent building them.", nil, nil)
	failedDesc = prometheus.NewDesc("shortline_publish_errors_total", "Failed builds of full documents.", nil, nil)
)

// Describe implements prometheus.Collector.
func (p *Publisher) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heldDesc, buildsDesc, tookDesc, failedDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (p *Publisher) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	total := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v)
	}
	c := &p.counts
	gauge(heldDesc, float64(c.held.Load()))
	total(buildsDesc, float64(c.builds.Load()))
	total(tookDesc, time.Duration(c.took.Load()).Seconds())
	total(failedDesc, float64(c.failed.Load()))
}
