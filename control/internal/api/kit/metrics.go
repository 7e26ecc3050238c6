package kit

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests by declared route. Paths and users are never labels.
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
			Name: "shortline_api_requests_total",
			Help: "API requests by route and status class (such as 2xx); undeclared paths share the route other.",
		}, []string{"method", "route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "shortline_api_request_duration_seconds", Help: "Duration of API requests by route.",
			Buckets: []float64{.0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "shortline_api_requests_in_flight", Help: "API requests in progress."}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_api_rate_limited_total", Help: "API requests refused by a rate limit, by limit.",
		}, []string{"limit"}),
	}
	m.awaited = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "shortline_api_edge_waits_total",
		Help: "Responses to changes that waited for edges, by outcome: applied (all edges had the change in time), late (some did not), " +
			"failed (unknown).",
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

// recordRequest counts one request. e is nil if the route or the method does not exist.
func (m *metrics) recordRequest(e *Endpoint, status int, took time.Duration) {
	method, route := "other", "other"
	if e != nil {
		method, route = e.Method, e.Path
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Inc()
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}
