package store

import (
	"context"
	"slices"
)

// UncountedHour says that a writer may have stored clicks of an hour that counters do not include yet.
type UncountedHour struct {
	Hour   int64 // start of the hour, in Unix milliseconds
	Writer int64
	Seen   int64 // when the writer was last known to live, in Unix milliseconds
}

// AddUncounted records hours of a writer. Hours that are already recorded get the new time.
func (tx *Tx) AddUncounted(ctx context.Context, writer, now int64, hours []int64) error {
	for part := range slices.Chunk(hours, batch) {
		var args []any
		for _, h := range part {
			args = append(args, h, writer, now)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO uncounted_hours (hour, writer, seen_at) VALUES `+values(len(part), "(?,?,?)")+`
			ON CONFLICT (hour, writer) DO UPDATE SET seen_at = excluded.seen_at`, args...); err != nil {
			return err
		}
	}
	return nil
}

// RemoveUncounted removes hours, except those whose writer has recorded them again.
func (tx *Tx) RemoveUncounted(ctx context.Context, list []UncountedHour) error {
	for _, h := range list {
		if _, err := tx.Exec(ctx, `DELETE FROM uncounted_hours WHERE hour = ? AND writer = ? AND seen_at <= ?`, h.Hour, h.Writer,
			h.Seen); err != nil {
			return err
		}
	}
	return nil
}

// Uncounted returns the recorded hours of all other writers.
func (c Conn) Uncounted(ctx context.Context, except int64) ([]UncountedHour, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (h UncountedHour, err error) {
		err = row.Scan(&h.Hour, &h.Writer, &h.Seen)
		return h, err
	}, `SELECT hour, writer, seen_at FROM uncounted_hours WHERE writer <> ? ORDER BY hour, writer`, except)
}

// ComparedTo returns the number of the link from which the next comparison of counters begins.
func (c Conn) ComparedTo(ctx context.Context) (uint64, error) {
	return column[uint64](c.Row(ctx, `SELECT link FROM counters_compared WHERE id = 1`))
}

// SetComparedTo records where the next comparison of counters begins, unless another process has done so since it was read.
func (tx *Tx) SetComparedTo(ctx context.Context, from, to uint64) error {
	return tx.Do(ctx, `UPDATE counters_compared SET link = ? WHERE id = 1 AND link = ?`, int64(to), int64(from))
}
