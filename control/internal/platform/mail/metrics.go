package mail

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/metric"
)

var (
	waitingDesc = prometheus.NewDesc("shortline_mail_waiting",
		"E-mails that are still to be sent, all replicas' together, counted to 100,000.", nil, nil)
	oldestDesc = prometheus.NewDesc("shortline_mail_oldest_waiting_seconds",
		"How long the oldest of them has been waiting, 0 if there is none.", nil, nil)
)

// queue reads the outbox on each scrape.
func queue(st *store.Store, now func() time.Time) prometheus.Collector {
	return metric.Queue(func(ctx context.Context) (int, int64, error) { return st.MailQueue(ctx, 100_000) }, now, waitingDesc, oldestDesc)
}

type metrics struct {
	sent    *prometheus.CounterVec
	failed  *prometheus.CounterVec
	retries prometheus.Counter
}

// The reasons of e-mails that are given up.
const (
	rejected = "rejected"
	expired  = "expired"
)

// newMetrics registers the metrics with r. A nil r registers nothing.
func newMetrics(r prometheus.Registerer, q prometheus.Collector) (*metrics, error) {
	m := &metrics{
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_mail_sent_total", Help: "E-mails that the SMTP server has accepted, by kind.",
		}, []string{"kind"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shortline_mail_failed_total",
			Help: "E-mails given up, by kind and reason (rejected by the SMTP server, expired before it accepted them).",
		}, []string{"kind", "reason"}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shortline_mail_retries_total", Help: "Failed attempts to send an e-mail that are repeated later.",
		}),
	}
	for _, kind := range kinds { // so that rate() sees the first
		m.sent.WithLabelValues(kind)
		m.failed.WithLabelValues(kind, rejected)
		m.failed.WithLabelValues(kind, expired)
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{q, m.sent, m.failed, m.retries} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
