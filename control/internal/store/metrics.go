package store

import (
	"context"
	"database/sql"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	connectionsDesc = prometheus.NewDesc("shortline_store_connections", "Database connections by state (in_use, idle).", []string{"pool", "state"}, nil)
	maxDesc         = prometheus.NewDesc("shortline_store_connections_max", "Maximum number of database connections.", []string{"pool"}, nil)
	waitsDesc       = prometheus.NewDesc("shortline_store_waits_total", "Times a statement waited for a database connection.", []string{"pool"}, nil)
	waitedDesc      = prometheus.NewDesc("shortline_store_wait_seconds_total", "Time statements spent waiting for a database connection.", []string{"pool"}, nil)
	revisionDesc    = prometheus.NewDesc("shortline_store_revision", "Newest revision of the links that this process knows.", nil, nil)
)

// Describe and Collect make the Store a prometheus.Collector.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{connectionsDesc, maxDesc, waitsDesc, waitedDesc, revisionDesc} {
		ch <- d
	}
}

// Collect reads the pools: one with Postgres (all), two with SQLite (read, write).
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	pools := map[string]*sql.DB{"all": s.write}
	if s.read != s.write {
		pools = map[string]*sql.DB{"write": s.write, "read": s.read}
	}
	for name, db := range pools {
		st := db.Stats()
		gauge := func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{name}, labels...)...)
		}
		gauge(connectionsDesc, float64(st.InUse), "in_use")
		gauge(connectionsDesc, float64(st.Idle), "idle")
		gauge(maxDesc, float64(st.MaxOpenConnections))
		ch <- prometheus.MustNewConstMetric(waitsDesc, prometheus.CounterValue, float64(st.WaitCount), name)
		ch <- prometheus.MustNewConstMetric(waitedDesc, prometheus.CounterValue, st.WaitDuration.Seconds(), name)
	}
	ch <- prometheus.MustNewConstMetric(revisionDesc, prometheus.GaugeValue, float64(s.KnownRevision()))
}

// DeliveryQueue counts the deliveries waiting for active webhooks of active users, up to limit. It also returns the
// creation time of the oldest one, or 0 if there is none.
func (c Conn) DeliveryQueue(ctx context.Context, limit int) (n int, oldest int64, err error) {
	err = c.Row(ctx, `SELECT count(*), coalesce(min(created_at), 0) FROM (SELECT d.created_at FROM webhook_deliveries d
		JOIN webhooks w ON w.id = d.webhook_id JOIN users u ON u.id = w.user_id WHERE w.active AND u.active ORDER BY d.created_at LIMIT ?) AS queue`, limit).Scan(&n, &oldest)
	return n, oldest, err
}
