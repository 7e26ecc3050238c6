package store

import (
	"context"
	"slices"
	"strings"
)

// LimitKey names what edges count: the clicks of a link since it got its limit.
type LimitKey struct {
	Link  uint64
	Since int64 // ms
}

// LimitCount is the value of one counter of an edge.
type LimitCount struct {
	LimitKey
	Counter uint64
	Clicks  int64
}

// LimitTotal is the sum of all counters of a key.
type LimitTotal struct {
	LimitKey
	Clicks int64
	Mark   uint64 // of the last change
}

// limitBatch is the number of rows in one statement.
const limitBatch = 64

func scanLimitTotal(row interface{ Scan(...any) error }) (t LimitTotal, err error) {
	var link, mark int64
	err = row.Scan(&link, &t.Since, &t.Clicks, &mark)
	t.Link, t.Mark = uint64(link), uint64(mark)
	return t, err
}

// LimitMark returns the mark of the last change.
func (c Conn) LimitMark(ctx context.Context) (uint64, error) {
	var mark int64
	err := c.Row(ctx, `SELECT mark FROM limit_head WHERE id = 1`).Scan(&mark)
	return uint64(mark), err
}

// LimitTotalsAfter lists the totals that changed after a mark, ordered by mark. It returns about limit rows: all rows of the
// last mark are included.
func (c Conn) LimitTotalsAfter(ctx context.Context, mark uint64, limit int) ([]LimitTotal, error) {
	return All(ctx, c, scanLimitTotal, `SELECT link, since, clicks, mark FROM limit_totals WHERE mark > ?
		AND mark <= coalesce((SELECT mark FROM limit_totals WHERE mark > ? ORDER BY mark LIMIT 1 OFFSET ?), 9223372036854775807)
		ORDER BY mark, link`, int64(mark), int64(mark), limit-1)
}

// RaiseLimitCounts stores the counts that are higher than the stored ones of the same counters, and adds the differences to
// the totals. Counts of links that do not have that limit any more are ignored. Concurrent calls run one after the other.
// It returns the mark of the change.
func (tx *Tx) RaiseLimitCounts(ctx context.Context, counts []LimitCount) (uint64, error) {
	var mark int64
	if err := tx.Row(ctx, `UPDATE limit_head SET mark = mark + 1 WHERE id = 1 RETURNING mark`).Scan(&mark); err != nil {
		return 0, err
	}
	type counter struct {
		LimitKey
		Counter uint64
	}
	highest := map[counter]int64{}
	for _, c := range counts {
		k := counter{c.LimitKey, c.Counter}
		highest[k] = max(highest[k], c.Clicks)
	}
	for part := range slices.Chunk(counts, limitBatch) {
		var args, links []any
		for _, c := range part {
			args = append(args, int64(c.Link), c.Since, int64(c.Counter))
			links = append(links, int64(c.Link))
		}
		limited, err := All(ctx, tx.Conn, scanLimitKey, `SELECT num, limit_since FROM urls WHERE limit_since IS NOT NULL AND num IN (`+
			values(len(part), "?")+`)`, links...)
		if err != nil {
			return 0, err
		}
		known, err := All(ctx, tx.Conn, scanLimitCount, `SELECT link, since, counter, clicks FROM limit_counts WHERE `+
			strings.TrimSuffix(strings.Repeat(`link = ? AND since = ? AND counter = ? OR `, len(part)), ` OR `), args...)
		if err != nil {
			return 0, err
		}
		stored := map[counter]int64{}
		for _, c := range known {
			stored[counter{c.LimitKey, c.Counter}] = c.Clicks
		}
		more := map[LimitKey]int64{}
		var counted, added []any
		for _, c := range part {
			k := counter{c.LimitKey, c.Counter}
			clicks, again := highest[k]
			delete(highest, k) // a counter that comes twice is stored once
			if !again || clicks <= stored[k] || !slices.Contains(limited, c.LimitKey) {
				continue
			}
			counted = append(counted, int64(c.Link), c.Since, int64(c.Counter), clicks)
			more[c.LimitKey] += clicks - stored[k]
		}
		if len(counted) == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, `INSERT INTO limit_counts (link, since, counter, clicks) VALUES `+values(len(counted)/4, "(?,?,?,?)")+`
			ON CONFLICT (link, since, counter) DO UPDATE SET clicks = excluded.clicks`, counted...); err != nil {
			return 0, err
		}
		for k, n := range more {
			added = append(added, int64(k.Link), k.Since, n, mark)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO limit_totals (link, since, clicks, mark) VALUES `+values(len(more), "(?,?,?,?)")+`
			ON CONFLICT (link, since) DO UPDATE SET clicks = limit_totals.clicks + excluded.clicks, mark = excluded.mark`,
			added...); err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, `UPDATE urls SET exhausted_at = ? WHERE num IN (`+values(len(part), "?")+`) AND `+reached,
			append([]any{Now()}, links...)...); err != nil {
			return 0, err
		}
	}
	return uint64(mark), nil
}

func scanLimitKey(row interface{ Scan(...any) error }) (k LimitKey, err error) {
	var link int64
	err = row.Scan(&link, &k.Since)
	k.Link = uint64(link)
	return k, err
}

func scanLimitCount(row interface{ Scan(...any) error }) (c LimitCount, err error) {
	var link, counter int64
	err = row.Scan(&link, &c.Since, &counter, &c.Clicks)
	c.Link, c.Counter = uint64(link), uint64(counter)
	return c, err
}

// reached selects links whose clicks have reached their limit and that are not marked as exhausted.
const reached = `max_clicks IS NOT NULL AND exhausted_at IS NULL AND max_clicks - coalesce(limit_base, 0) <=
	coalesce((SELECT clicks FROM limit_totals t WHERE t.link = urls.num AND t.since = urls.limit_since), 0)`

// LimitReached reports whether the stored clicks of a link reach a limit that may not be saved.
func (c Conn) LimitReached(ctx context.Context, l *Link) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT coalesce((SELECT clicks FROM limit_totals WHERE link = ? AND since = ?), 0) >= ?`,
		int64(l.Num), l.LimitSince, l.MaxClicks-l.LimitBase))
}

// ExhaustLink marks a link as exhausted if its clicks have reached its limit. It returns when that happened, or 0.
func (tx *Tx) ExhaustLink(ctx context.Context, num uint64) (at int64, err error) {
	now := Now()
	n, err := tx.Exec(ctx, `UPDATE urls SET exhausted_at = ? WHERE num = ? AND `+reached, now, int64(num))
	if n == 0 {
		now = 0
	}
	return now, err
}

// ExhaustLinks marks all links whose clicks have reached their limit.
func (tx *Tx) ExhaustLinks(ctx context.Context) error {
	return tx.Do(ctx, `UPDATE urls SET exhausted_at = ? WHERE num IN (SELECT link FROM limit_totals) AND `+reached, Now())
}

// ForgetLimitCounts deletes the counts of links that neither exist nor are in the trash, at most limit rows of each table. It
// keeps the counts of earlier limits of a link, because a rollback may bring such a limit back.
func (tx *Tx) ForgetLimitCounts(ctx context.Context, limit int) error {
	for _, table := range []string{"limit_counts", "limit_totals"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE (link, since) IN (SELECT link, since FROM `+table+` t
			WHERE NOT EXISTS (SELECT 1 FROM urls u WHERE u.num = t.link) AND NOT EXISTS (SELECT 1 FROM link_trash d WHERE d.num = t.link) LIMIT ?)`,
			limit); err != nil {
			return err
		}
	}
	return nil
}
