package webhooks

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	attempts *prometheus.CounterVec
	duration prometheus.Histogram
	inFlight prometheus.Gauge
	dropped  prometheus.Counter
	errors   prometheus.Counter
	lastTurn prometheus.Gauge
}

// newMetrics registers with r, unless that is nil.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_webhooks_attempts_total", Help: "Attempts to deliver an event, by how they ended (success, failure).",
		}, []string{"outcome"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shortline_webhooks_attempt_duration_seconds", Help: "How long attempts took.", Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "shortline_webhooks_in_flight", Help: "Attempts under way."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shortline_webhooks_click_events_dropped_total", Help: "Click events that were not delivered for want of room.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "shortline_webhooks_errors_total", Help: "Times that the store could not be read or written."}),
		lastTurn: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "shortline_webhooks_last_success_timestamp_seconds", Help: "When the store was last asked for what is due.",
		}),
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.attempts, m.duration, m.inFlight, m.dropped, m.errors, m.lastTurn} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) attempt(success bool, took time.Duration) {
	outcome := "failure"
	if success {
		outcome = "success"
	}
	m.attempts.WithLabelValues(outcome).Inc()
	m.duration.Observe(took.Seconds())
}
