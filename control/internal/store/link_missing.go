package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/link"
)

// Missing counts the requests for a slug that does not exist.
type Missing struct {
	Domain  uint64 // 0: the default domain
	Host    string // of Domain; only read, "" for the host of BASE_URL
	Slug    string
	Count   uint64
	FirstAt int64 // Unix milliseconds of the first request in the period
	LastAt  int64
}

// keptMissing is the number of slugs per day that PruneMissing keeps.
const keptMissing = 2000

// missingRows is the number of rows in one statement of CountMissing.
const missingRows = 200

// CountMissing adds the counts of one batch of an edge to a day, once: a batch with a number that was counted before in the
// same run of the edge changes nothing. list must be sorted by domain and slug, so that two edges take their locks in the
// same order. FirstAt or LastAt of 0 stand for now.
func (tx *Tx) CountMissing(ctx context.Context, edge, run string, seq uint64, day, now int64, list []Missing) error {
	n, err := tx.Exec(ctx, `INSERT INTO missing_marks (edge, run, seq, seen_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (edge) DO UPDATE SET run = excluded.run, seq = excluded.seq, seen_at = excluded.seen_at
		WHERE missing_marks.run <> excluded.run OR missing_marks.seq < excluded.seq`, edge, run, int64(seq), now)
	if err != nil || n == 0 {
		return err
	}
	for len(list) > 0 {
		part := list[:min(len(list), missingRows)]
		list = list[len(part):]
		args := make([]any, 0, 7*len(part))
		for _, m := range part {
			args = append(args, day, "", link.Key(m.Domain, m.Slug), m.Domain, int64(m.Count), cmp.Or(m.FirstAt, now),
				cmp.Or(m.LastAt, now))
		}
		rows := strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?, ?, ?, ?),`, len(part)), ",")
		if _, err := tx.Exec(ctx, `INSERT INTO missing_slugs (day, host, slug, domain_num, count, first_at, last_at) VALUES `+rows+`
			ON CONFLICT (day, host, slug) DO UPDATE SET count = missing_slugs.count + excluded.count,
			first_at = CASE WHEN excluded.first_at < missing_slugs.first_at THEN excluded.first_at ELSE missing_slugs.first_at END,
			last_at = CASE WHEN excluded.last_at > missing_slugs.last_at THEN excluded.last_at ELSE missing_slugs.last_at END`,
			args...); err != nil {
			return err
		}
	}
	return nil
}

// PruneMissing bounds the table: it deletes days before keepFrom, the marks of edges not seen since that day, and all but
// the most frequent slugs of each day since from.
func (tx *Tx) PruneMissing(ctx context.Context, keepFrom, from int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM missing_slugs WHERE day < ?`, keepFrom); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM missing_marks WHERE seen_at < ?`, keepFrom*dayMs); err != nil {
		return err
	}
	days, err := All(ctx, tx.Conn, column[int64],
		`SELECT day FROM missing_slugs WHERE day >= ? GROUP BY day HAVING count(*) > ? ORDER BY day`, from, keptMissing)
	if err != nil {
		return err
	}
	for _, day := range days {
		if _, err := tx.Exec(ctx, `DELETE FROM missing_slugs WHERE day = ? AND (host, slug) IN (
			SELECT host, slug FROM missing_slugs WHERE day = ? ORDER BY count DESC, last_at DESC, host, slug LIMIT 1000000 OFFSET ?)`,
			day, day, keptMissing); err != nil {
			return err
		}
	}
	return nil
}

// dayMs is the length of a day in milliseconds.
const dayMs = 24 * 60 * 60 * 1000

// MissingSlugs lists the slugs that were asked for on the days from first to last, both included, and that do not exist
// now, most frequent first. total counts them up to most. A workspace other than 0 selects the slugs of its domains.
func (c Conn) MissingSlugs(ctx context.Context, workspace uint64, first, last int64, most, offset, limit int) (list []Missing, total int,
	err error) {
	rows, args := ` FROM missing_slugs m LEFT JOIN domains d ON d.num = m.domain_num WHERE m.day >= ? AND m.day <= ? AND m.host = ''
		AND (m.domain_num = 0 OR d.num IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM urls u WHERE u.slug = m.slug)`, []any{first, last}
	if workspace != 0 {
		rows, args = rows+` AND d.workspace_num = ?`, append(args, workspace)
	}
	rows += ` GROUP BY m.domain_num, d.hostname, m.slug`
	if err := c.Row(ctx, `SELECT count(*) FROM (SELECT 1 AS one`+rows+` LIMIT ?) AS found`, append(slices.Clone(args), most)...).
		Scan(&total); err != nil {
		return nil, 0, err
	}
	if limit = min(limit, most-offset); limit <= 0 {
		return nil, total, nil
	}
	list, err = All(ctx, c, func(row interface{ Scan(...any) error }) (m Missing, err error) {
		var key string
		err = row.Scan(orZero(&m.Host), &key, &m.Count, &m.FirstAt, &m.LastAt)
		m.Domain, m.Slug = link.SplitKey(key)
		return m, err
	}, `SELECT d.hostname, m.slug, CAST(sum(m.count) AS BIGINT), min(m.first_at), max(m.last_at)`+rows+
		` ORDER BY sum(m.count) DESC, max(m.last_at) DESC, m.slug LIMIT ? OFFSET ?`,
		append(args, limit, offset)...)
	return list, total, err
}
