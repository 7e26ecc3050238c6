package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Counted is the new counter of one link (by Num), or of one variant or rule (by ID).
type Counted struct {
	Num   uint64
	ID    string
	Count int64
	Last  int64 // newest match of a rule in Unix milliseconds; 0: none
}

// SetClickCounts sets the counters of links and skips links that do not exist. It reserves no revision, because edges
// do not see counters.
func (tx *Tx) SetClickCounts(ctx context.Context, list []Counted) error {
	for part := range slices.Chunk(list, batch) {
		var args, nums []any
		for _, c := range part {
			args, nums = append(args, c.Num, c.Count), append(nums, c.Num)
		}
		if tx.pg {
			// The same lock order as in LockLinks prevents deadlocks.
			if _, err := tx.Exec(ctx, `SELECT num FROM urls WHERE num IN (`+In(len(nums))+`) ORDER BY num FOR UPDATE`, nums...); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `WITH v (num, n) AS (VALUES `+values(len(part), "(CAST(? AS BIGINT),CAST(? AS BIGINT))")+`)
			UPDATE urls SET click_count = v.n FROM v WHERE urls.num = v.num AND urls.click_count <> v.n`, args...); err != nil {
			return err
		}
	}
	return nil
}

// SetVariantCounts sets the counters of variants and skips variants that do not exist.
func (tx *Tx) SetVariantCounts(ctx context.Context, list []Counted) error {
	for part := range slices.Chunk(list, batch) {
		var args []any
		for _, c := range part {
			args = append(args, c.ID, c.Count)
		}
		if _, err := tx.Exec(ctx, `WITH v (id, n) AS (VALUES `+values(len(part), "(CAST(? AS TEXT),CAST(? AS BIGINT))")+`)
			UPDATE variants SET click_count = v.n FROM v WHERE variants.id = v.id AND variants.click_count <> v.n`, args...); err != nil {
			return err
		}
	}
	return nil
}

// SetRuleCounts sets the counters and last matches of rules and skips rules that do not exist.
func (tx *Tx) SetRuleCounts(ctx context.Context, list []Counted) error {
	for part := range slices.Chunk(list, batch) {
		var args []any
		for _, c := range part {
			args = append(args, c.ID, c.Count, null(c.Last))
		}
		if _, err := tx.Exec(ctx, `WITH v (id, n, last_at) AS (VALUES `+values(len(part), "(CAST(? AS TEXT),CAST(? AS BIGINT),CAST(? AS BIGINT))")+`)
			UPDATE routing_rules SET match_count = v.n, last_matched_at = v.last_at FROM v
			WHERE routing_rules.id = v.id AND (routing_rules.match_count <> v.n OR coalesce(routing_rules.last_matched_at, 0) <> coalesce(v.last_at, 0))`, args...); err != nil {
			return err
		}
	}
	return nil
}

// Counters calls f with every counter that is not 0. Num identifies a link; ID identifies a variant, or a rule if rule
// is true.
func (c Conn) Counters(ctx context.Context, f func(counter Counted, rule bool)) error {
	var v Counted
	var rule int
	return c.each(ctx, func(rows *sql.Rows) error {
		err := rows.Scan(&v.Num, &v.ID, &v.Count, &v.Last, &rule)
		if err == nil {
			f(v, rule == 1)
		}
		return err
	}, `SELECT num, '', click_count, 0, 0 FROM urls WHERE click_count <> 0
		UNION ALL SELECT 0, id, click_count, 0, 0 FROM variants WHERE click_count <> 0
		UNION ALL SELECT 0, id, match_count, coalesce(last_matched_at, 0), 1 FROM routing_rules WHERE match_count <> 0`)
}

// values returns n rows for a VALUES list.
func values(n int, row string) string {
	return strings.TrimSuffix(strings.Repeat(row+",", n), ",")
}
