package store

import (
	"context"
	"time"
)

// clock is the time of the database in Unix milliseconds. Locks use it, because clocks of control planes differ.
func (c Conn) clock() string {
	if c.pg {
		return `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`
	}
	return `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
}

// Clock returns the time of the database.
func (c Conn) Clock(ctx context.Context) (time.Time, error) {
	var ms int64
	err := c.Row(ctx, `SELECT `+c.clock()).Scan(&ms)
	return time.UnixMilli(ms), err
}
