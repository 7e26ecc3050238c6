package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
)

// Counted is the new counter of one link (by Num), or of one variant or rule (by ID).
type Counted struct {
	Num   uint64
	ID    string
	Count int64
	Last  int64 // newest match of a rule in Unix milliseconds; 0: none
	Was   int64 // the count to replace, if it is to be replaced
}

// CounterChange says which counters a write changes. Several processes count the same clicks, and their writes may overtake each
// other.
type CounterChange uint8

// The kinds of changes.
const (
	Raise   CounterChange = iota // those that are lower
	Replace                      // those that still have the count Counted.Was
)

// condition renders the condition on a counter's column, for a statement with the new values as v.
func (c CounterChange) condition(column string) string {
	if c == Raise {
		return column + " < v.n"
	}
	return column + " = v.was"
}

// SetClickCounts sets the counters of links and skips links that do not exist. It reserves no revision, because edges
// do not see counters.
func (tx *Tx) SetClickCounts(ctx context.Context, list []Counted, change CounterChange) error {
	for part := range slices.Chunk(list, batch) {
		var args, nums []any
		for _, c := range part {
			args, nums = append(args, c.Num, c.Count, c.Was), append(nums, c.Num)
		}
		if tx.pg {
			// The same lock order as in LockLinks prevents deadlocks.
			if _, err := tx.Exec(ctx, `SELECT num FROM urls WHERE num IN (`+In(len(nums))+`) ORDER BY num FOR UPDATE`,
				nums...); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `WITH v (num, n, was) AS (VALUES `+values(len(part), "(CAST(? AS BIGINT),CAST(? AS BIGINT),CAST(? AS BIGINT))")+`)
			UPDATE urls SET click_count = v.n FROM v WHERE urls.num = v.num AND `+
			change.condition("urls.click_count"), args...); err != nil {
			return err
		}
	}
	return nil
}

// SetVariantCounts sets the counters of variants and skips variants that do not exist.
func (tx *Tx) SetVariantCounts(ctx context.Context, list []Counted, change CounterChange) error {
	for part := range slices.Chunk(list, batch) {
		var args []any
		for _, c := range part {
			args = append(args, c.ID, c.Count, c.Was)
		}
		if _, err := tx.Exec(ctx, `WITH v (id, n, was) AS (VALUES `+values(len(part), "(CAST(? AS TEXT),CAST(? AS BIGINT),CAST(? AS BIGINT))")+`)
			UPDATE variants SET click_count = v.n FROM v WHERE variants.id = v.id AND `+change.condition("variants.click_count"),
			args...); err != nil {
			return err
		}
	}
	return nil
}

// SetRuleCounts sets the counters and last matches of rules and skips rules that do not exist.
func (tx *Tx) SetRuleCounts(ctx context.Context, list []Counted, change CounterChange) error {
	for part := range slices.Chunk(list, batch) {
		var args []any
		for _, c := range part {
			args = append(args, c.ID, c.Count, null(c.Last), c.Was)
		}
		if _, err := tx.Exec(ctx, `WITH v (id, n, last_at, was) AS (VALUES `+values(len(part), "(CAST(? AS TEXT),CAST(? AS BIGINT),CAST(? AS BIGINT),CAST(? AS BIGINT))")+`)
			UPDATE routing_rules SET match_count = v.n, last_matched_at = v.last_at FROM v
			WHERE routing_rules.id = v.id AND `+change.condition("routing_rules.match_count"), args...); err != nil {
			return err
		}
	}
	return nil
}

// Counters are the counters of links, and of their variants and rules.
type Counters struct{ Links, Variants, Rules []Counted }

// CountersFrom returns the counters of at most limit links, in the order of their numbers, from a number on. next is the
// number from which the links after these are read, or 0 if there are none.
func (s *Store) CountersFrom(ctx context.Context, from uint64, limit int) (c Counters, next uint64, err error) {
	err = s.View(ctx, func(conn Conn) error {
		c, next = Counters{}, 0
		end := int64(math.MaxInt64)
		err := conn.Row(ctx, `SELECT num FROM urls WHERE num >= ? ORDER BY num LIMIT 1 OFFSET ?`, int64(from), limit).Scan(&end)
		if err == nil {
			next = uint64(end)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		for _, part := range []struct {
			list  *[]Counted
			query string
		}{
			{&c.Links, `SELECT num, '', click_count, 0 FROM urls WHERE num >= ? AND num < ?`},
			{&c.Variants, `SELECT 0, v.id, v.click_count, 0 FROM variants v JOIN urls u ON u.id = v.url_id WHERE u.num >= ? AND u.num < ?`},
			{&c.Rules, `SELECT 0, r.id, r.match_count, coalesce(r.last_matched_at, 0) FROM routing_rules r JOIN urls u ON u.id = r.url_id WHERE ` +
				`u.num >= ? AND u.num < ?`},
		} {
			if *part.list, err = All(ctx, conn, scanCounted, part.query, int64(from), end); err != nil {
				return err
			}
		}
		return nil
	})
	return c, next, err
}

func scanCounted(row interface{ Scan(...any) error }) (c Counted, err error) {
	err = row.Scan(&c.Num, &c.ID, &c.Count, &c.Last)
	return c, err
}

// values returns n rows for a VALUES list.
func values(n int, row string) string {
	return strings.TrimSuffix(strings.Repeat(row+",", n), ",")
}
