package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests by the declared route, never by path. Users are no labels.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	limited  *prometheus.CounterVec
	awaited  *prometheus.CounterVec
}

// newMetrics registers with the registry, unless that is nil.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_api_requests_total", Help: "API requests by route and class of status (2xx); the route is other where none was declared.",
		}, []string{"method", "route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "shortline_api_request_duration_seconds", Help: "How long API requests took, by route.", Buckets: []float64{.0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "shortline_api_requests_in_flight", Help: "API requests under way."}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_api_rate_limited_total", Help: "API requests refused as too many, by the limit that they hit.",
		}, []string{"limit"}),
	}
	m.awaited = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "shortline_api_edge_waits_total",
		Help: "Answers to changes that waited for edges: applied if all edges had the change in time, late if some had not, failed if that could not be found out.",
	}, []string{"outcome"})
	for _, outcome := range []string{waitApplied, waitLate, waitFailed} {
		m.awaited.WithLabelValues(outcome)
	}
	for _, name := range limitNames {
		m.limited.WithLabelValues(name)
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.inFlight, m.limited, m.awaited} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the API's metrics: %w", err)
		}
	}
	return m, nil
}

// note counts one request; e is nil where a caller made the route or the method up.
func (m *metrics) note(e *endpoint, status int, took time.Duration) {
	method, route := "other", "other"
	if e != nil {
		method, route = e.Method, e.Path
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Inc()
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}
