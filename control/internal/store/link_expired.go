package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
)

// Expired holds counters of clicks before a time. The click store may have deleted these clicks.
type Expired struct {
	Through                int64 // Unix milliseconds
	Links, Variants, Rules []Counted
}

// ExpiredTotals is the sum of all expired counters.
type ExpiredTotals struct {
	Through         int64
	Links           map[uint64]Counted
	Variants, Rules map[string]Counted
}

// ErrExpiredMeanwhile reports that another process has advanced the time in the meantime.
var ErrExpiredMeanwhile = errors.New("another process has already counted the expired clicks")

// Kinds of counters in expired_counts.
const (
	ofLink    = "link"
	ofVariant = "variant"
	ofRule    = "rule"
)

// ExpiredThrough returns the time before which clicks are counted in the database, in Unix milliseconds.
func (c Conn) ExpiredThrough(ctx context.Context) (int64, error) {
	return column[int64](c.Row(ctx, `SELECT through FROM expired_clicks WHERE id = 1`))
}

// ExpiredTotals reads one consistent snapshot of the counters of expired clicks: one counter for each link, variant
// and rule that ever had such clicks.
func (s *Store) ExpiredTotals(ctx context.Context) (e ExpiredTotals, err error) {
	err = s.View(ctx, func(c Conn) error {
		e = ExpiredTotals{Links: map[uint64]Counted{}, Variants: map[string]Counted{}, Rules: map[string]Counted{}}
		if e.Through, err = c.ExpiredThrough(ctx); err != nil || e.Through == 0 {
			return err
		}
		return c.each(ctx, func(rows *sql.Rows) error {
			var kind string
			var n Counted
			if err := rows.Scan(&kind, &n.ID, &n.Count, &n.Last); err != nil {
				return err
			}
			switch kind {
			case ofLink:
				if n.Num, err = strconv.ParseUint(n.ID, 10, 64); err != nil {
					return err
				}
				n.ID = ""
				e.Links[n.Num] = n
			case ofVariant:
				e.Variants[n.ID] = n
			default:
				e.Rules[n.ID] = n
			}
			return nil
		}, `SELECT kind, id, clicks, last_at FROM expired_counts`)
	})
	return e, err
}

// Expire adds the counters of the clicks between from and e.Through, and advances the stored time to e.Through. It
// fails with ErrExpiredMeanwhile if the stored time is not from: another process has already counted these clicks.
func (tx *Tx) Expire(ctx context.Context, from int64, e Expired) error {
	n, err := tx.Exec(ctx, `UPDATE expired_clicks SET through = ? WHERE id = 1 AND through = ?`, e.Through, from)
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrExpiredMeanwhile
	}
	for _, part := range []struct {
		kind string
		list []Counted
	}{{ofLink, e.Links}, {ofVariant, e.Variants}, {ofRule, e.Rules}} {
		for some := range slices.Chunk(part.list, batch) {
			var args []any
			for _, c := range some {
				id := c.ID
				if part.kind == ofLink {
					id = strconv.FormatUint(c.Num, 10)
				}
				args = append(args, part.kind, id, c.Count, c.Last)
			}
			if _, err := tx.Exec(ctx, `INSERT INTO expired_counts (kind, id, clicks, last_at) VALUES `+values(len(some), "(?,?,?,?)")+`
				ON CONFLICT (kind, id) DO UPDATE SET clicks = expired_counts.clicks + excluded.clicks,
				last_at = CASE WHEN excluded.last_at > expired_counts.last_at THEN excluded.last_at ELSE expired_counts.last_at END`,
				args...); err != nil {
				return err
			}
		}
	}
	return nil
}
