package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests. Neither routes nor users are labels.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_api_requests_total", Help: "API requests by method and status.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "shortline_api_request_duration_seconds", Help: "How long API requests took, by method.", Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method"}),
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the API's metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) note(method string, status int, took time.Duration) {
	switch method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default:
		method = "other" // a caller can make up any
	}
	m.requests.WithLabelValues(method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(method).Observe(took.Seconds())
}
