package clickhouse

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/shared/metric"
)

// Stats has the results of Run since the store was opened.
type Stats struct {
	Rebuilt, Failed uint64 // rebuilt slots; failed attempts
	Waiting         int    // slots that had ended, with a write since their last build, at the last check of Run
}

// Stats returns the current figures of Run.
func (s *Store) Stats() Stats {
	return Stats{Rebuilt: s.stats.rebuilt.Load(), Failed: s.stats.failed.Load(), Waiting: int(s.stats.waiting.Load())}
}

var (
	diskFreeDesc = prometheus.NewDesc("shortline_clickhouse_disk_free_bytes",
		"Free space on a local disk of the ClickHouse server, as the server sees it.", []string{"disk"}, nil)
	diskSizeDesc = prometheus.NewDesc("shortline_clickhouse_disk_size_bytes", "Size of a local disk of the ClickHouse server.",
		[]string{"disk"}, nil)
)

// disks asks the server for its disks on each scrape. If it does not answer, the metrics are missing. Object stores have no size.
type disks struct{ store *Store }

func (d disks) Describe(ch chan<- *prometheus.Desc) { ch <- diskFreeDesc; ch <- diskSizeDesc }

func (d disks) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), metric.AskTimeout)
	defer cancel()
	rows, err := d.store.conn.Query(ctx,
		`SELECT name, free_space, total_space FROM system.disks WHERE lower(type) = 'local' AND total_space > 0`)
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var free, size uint64
		if rows.Scan(&name, &free, &size) != nil {
			return
		}
		ch <- prometheus.MustNewConstMetric(diskFreeDesc, prometheus.GaugeValue, float64(free), name)
		ch <- prometheus.MustNewConstMetric(diskSizeDesc, prometheus.GaugeValue, float64(size), name)
	}
}

// metrics are the figures of Run. A process that does not call Run does not register the Store.
func (c *counts) metrics() metric.Set {
	set := metric.Set{
		metric.Total("shortline_rollup_rebuilt_slots_total", "Quarter hours whose rollups were built or rebuilt.", c.rebuilt.Load),
		metric.Gauge("shortline_rollup_waiting_slots",
			"Quarter hours that have ended and whose rollups are out of date. Reports read their clicks instead.", c.waiting.Load),
		metric.Total("shortline_rollup_errors_total", "Failed rebuilds of rollups.", c.failed.Load),
	}
	for i, code := range replicaCodes {
		set = append(set, metric.Total("shortline_clickhouse_replica_errors_total",
			"Statements that a server could not execute because of replication, by ClickHouse error code: 164 and 242 read-only; 285, 286, 289 "+
				"and 319 quorum; 369 lag; 999 Keeper. 242, 286, 289, 369 and 999 are retried at once.",
			c.replica[i].Load, "code", strconv.Itoa(code)))
	}
	return set
}
