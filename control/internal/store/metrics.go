package store

import (
	"context"
	"database/sql"

	"github.com/shortline/shortline/shared/metric"
)

// metrics exports the pools: one with Postgres (all), two with SQLite (read, write).
func (s *Store) metrics() metric.Set {
	const connections, connectionsHelp = "shortline_store_connections", "Database connections by state (in_use, idle)."
	set := metric.Set{metric.Gauge("shortline_store_revision", "Newest revision of the links that this process knows.", s.KnownRevision)}
	pools := map[string]*sql.DB{"all": s.write}
	if s.read != s.write {
		pools = map[string]*sql.DB{"write": s.write, "read": s.read}
	}
	for name, db := range pools {
		set = append(set,
			metric.Gauge(connections, connectionsHelp, func() int { return db.Stats().InUse }, "pool", name, "state", "in_use"),
			metric.Gauge(connections, connectionsHelp, func() int { return db.Stats().Idle }, "pool", name, "state", "idle"),
			metric.Gauge("shortline_store_connections_max", "Maximum number of database connections.", func() int {
				return db.Stats().MaxOpenConnections
			}, "pool", name),
			metric.Total("shortline_store_wait_seconds_total", "Time statements spent waiting for a database connection.", func() float64 {
				return db.Stats().WaitDuration.Seconds()
			}, "pool", name),
		)
	}
	return set
}

// DeliveryQueue counts the deliveries waiting for active webhooks of active users, up to limit. It also returns the
// creation time of the oldest one, or 0 if there is none.
func (c Conn) DeliveryQueue(ctx context.Context, limit int) (n int, oldest int64, err error) {
	err = c.Row(ctx, `SELECT count(*), coalesce(min(created_at), 0) FROM (SELECT d.created_at FROM webhook_deliveries d
		JOIN webhooks w ON w.id = d.webhook_id JOIN users u ON u.id = w.user_id WHERE w.active AND u.active
		ORDER BY d.created_at LIMIT ?) AS queue`, limit).Scan(&n, &oldest)
	return n, oldest, err
}
