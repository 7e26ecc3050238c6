package webhooks

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
)

var (
	queueDesc  = prometheus.NewDesc("shortline_webhooks_queue_deliveries", "Deliveries to active webhooks that are still to be made, all replicas' together, counted to 100,000.", nil, nil)
	oldestDesc = prometheus.NewDesc("shortline_webhooks_queue_oldest_seconds", "How long the oldest of them has been waiting, 0 if there is none.", nil, nil)
)

// queue asks the store what is still to be sent when metrics are asked for. If the store does not answer, there are
// no numbers.
type queue struct {
	store *store.Store
	now   func() time.Time
}

func (q queue) Describe(ch chan<- *prometheus.Desc) { ch <- queueDesc; ch <- oldestDesc }

func (q queue) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n, since, err := q.store.DeliveryQueue(ctx, 100_000)
	if err != nil {
		return
	}
	var age float64
	if n > 0 {
		age = max(0, q.now().Sub(time.UnixMilli(since)).Seconds())
	}
	ch <- prometheus.MustNewConstMetric(queueDesc, prometheus.GaugeValue, float64(n))
	ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, age)
}

type metrics struct {
	attempts *prometheus.CounterVec
	duration prometheus.Histogram
	inFlight prometheus.Gauge
	dropped  prometheus.Counter
	errors   prometheus.Counter
	lastTurn prometheus.Gauge
}

// newMetrics registers with r, unless that is nil.
func newMetrics(r prometheus.Registerer, q queue) (*metrics, error) {
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
	for _, outcome := range []string{"success", "failure"} {
		m.attempts.WithLabelValues(outcome) // so that the first failure is a rise
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
