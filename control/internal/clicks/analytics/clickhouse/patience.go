package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// patience is how many seconds the server may work on a statement, unless the URL sets another limit.
const patience = 60

// unlimited is the limit of statements that take as long as they need.
const unlimited = 30 * 24 * time.Hour

// limitOf returns how long the client waits for a statement whose caller has set no deadline: max_execution_time of the URL, or 0 for no
// limit. The server stops a statement after that time by itself, but a server that hangs does not. Without a deadline, the driver
// waits for five minutes over the native protocol, and without a limit over HTTP (see options).
func limitOf(settings driver.Settings) time.Duration {
	seconds, err := strconv.ParseFloat(fmt.Sprint(settings["max_execution_time"]), 64)
	if err != nil || seconds <= 0 {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// bounded sets a deadline after s.limit if ctx has none.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok || s.limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.limit)
}

// exec runs a statement without a result.
func (s *Store) exec(ctx context.Context, text string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.conn.Exec(ctx, text)
}

// within replaces the limit on the time of statements. It sets a deadline, because the driver derives two limits from that:
// max_execution_time, and the time for which it reads a response over the native protocol. The latter is five minutes otherwise.
func within(ctx context.Context, limit time.Duration, settings driver.Settings) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	return driver.Context(ctx, driver.WithSettings(settings)), cancel
}

// unhurried lifts the limit on the time of statements.
func unhurried(ctx context.Context) (context.Context, context.CancelFunc) {
	return within(ctx, unlimited, driver.Settings{})
}

// mutating makes statements wait until the server has rewritten the parts, and so have those that replicate the table. By default,
// they wait for two minutes for one that is down, and then fail, although it goes on when it is back.
func mutating(ctx context.Context) (context.Context, context.CancelFunc) {
	return within(ctx, unlimited, driver.Settings{"mutations_sync": 2, "replication_wait_for_inactive_replica_timeout": -1})
}

// building is for statements that build rollups. They leave processors and memory to reports.
func building(ctx context.Context) (context.Context, context.CancelFunc) {
	return within(ctx, 20*patience*time.Second, driver.Settings{"max_bytes_before_external_group_by": 1 << 30, "max_threads": 2})
}
