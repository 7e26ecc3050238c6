package webhooks

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/metric"
)

var (
	queueDesc = prometheus.NewDesc("shortline_webhooks_queue_deliveries",
		"Deliveries to active webhooks that are still to be made, all replicas' together, counted to 100,000.", nil, nil)
	oldestDesc = prometheus.NewDesc("shortline_webhooks_queue_oldest_seconds",
		"How long the oldest of them has been waiting, 0 if there is none.", nil, nil)
)

// queue reads the backlog on each scrape.
func queue(st *store.Store, now func() time.Time) prometheus.Collector {
	return metric.Queue(func(ctx context.Context) (int, int64, error) { return st.DeliveryQueue(ctx, 100_000) }, now, queueDesc, oldestDesc)
}

type metrics struct {
	attempts *prometheus.CounterVec
	duration prometheus.Histogram
	inFlight prometheus.Gauge
	dropped  prometheus.Counter
	errors   prometheus.Counter
	lastTurn prometheus.Gauge
}

// newMetrics registers the metrics with r. A nil r registers nothing.
func newMetrics(r prometheus.Registerer, q prometheus.Collector) (*metrics, error) {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_webhooks_attempts_total", Help: "Delivery attempts by outcome (success, failure).",
		}, []string{"outcome"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shortline_webhooks_attempt_duration_seconds", Help: "Duration of delivery attempts.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "shortline_webhooks_in_flight", Help: "Delivery attempts in flight."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shortline_webhooks_click_events_dropped_total",
			Help: "Click events dropped because the backlog of their webhook was full.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "shortline_webhooks_errors_total",
			Help: "Failed reads and writes of the store."}),
		lastTurn: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "shortline_webhooks_last_success_timestamp_seconds",
			Help: "Time of the last successful search for due deliveries, in Unix seconds.",
		}),
	}
	for _, outcome := range []string{"success", "failure"} {
		m.attempts.WithLabelValues(outcome) // so that rate() sees the first failure
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{q, m.attempts, m.duration, m.inFlight, m.dropped, m.errors, m.lastTurn} {
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
