package store

import (
	"context"
	"slices"
	"strings"
)

// LinkLockout holds the failures of one client at the password of one link; see package lockout.
type LinkLockout struct {
	Link     uint64
	Client   string
	Count    int
	LastAt   int64  // ms, the latest failure
	ForgetAt int64  // ms, when the failures no longer count
	Version  uint64 // of the last change; 0 for a row that is not stored yet
}

const linkLockoutColumns = `link, client, count, last_at, forget_at, mark`

// linkLockoutBatch is the number of rows in one statement.
const linkLockoutBatch = 64

func scanLinkLockout(row interface{ Scan(...any) error }) (l LinkLockout, err error) {
	var link, version int64
	err = row.Scan(&link, &l.Client, &l.Count, &l.LastAt, &l.ForgetAt, &version)
	l.Link, l.Version = uint64(link), uint64(version)
	return l, err
}

// LinkLockoutVersion returns the version of the last change.
func (c Conn) LinkLockoutVersion(ctx context.Context) (uint64, error) {
	var version int64
	err := c.Row(ctx, `SELECT mark FROM guess_head WHERE id = 1`).Scan(&version)
	return uint64(version), err
}

// LinkLockoutsAfter lists the rows that changed after a version and that are not due to be forgotten, ordered by version.
// It returns about limit rows: all rows of the last version are included.
func (c Conn) LinkLockoutsAfter(ctx context.Context, version uint64, now int64, limit int) ([]LinkLockout, error) {
	return All(ctx, c, scanLinkLockout, `SELECT `+linkLockoutColumns+` FROM guesses WHERE mark > ? AND forget_at > ?
		AND mark <= coalesce((SELECT mark FROM guesses WHERE mark > ? AND forget_at > ? ORDER BY mark LIMIT 1 OFFSET ?), 9223372036854775807)
		ORDER BY mark`, int64(version), now, int64(version), now, limit-1)
}

// ChangeLinkLockouts reads rows by link and client, passes each to change, and writes them back with a new version. Rows
// that are not stored yet have Version 0. Concurrent calls run one after the other. It returns the rows as written.
func (tx *Tx) ChangeLinkLockouts(ctx context.Context, rows []LinkLockout, change func(l *LinkLockout)) ([]LinkLockout, error) {
	var version int64
	if err := tx.Row(ctx, `UPDATE guess_head SET mark = mark + 1 WHERE id = 1 RETURNING mark`).Scan(&version); err != nil {
		return nil, err
	}
	type key struct {
		link   uint64
		client string
	}
	at := make(map[key]*LinkLockout, len(rows))
	for i := range rows {
		at[key{rows[i].Link, rows[i].Client}] = &rows[i]
	}
	for part := range slices.Chunk(rows, linkLockoutBatch) {
		var args []any
		for i := range part {
			args = append(args, int64(part[i].Link), part[i].Client)
		}
		found, err := All(ctx, tx.Conn, scanLinkLockout, `SELECT `+linkLockoutColumns+` FROM guesses WHERE `+
			strings.TrimSuffix(strings.Repeat(`link = ? AND client = ? OR `, len(part)), ` OR `), args...)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			*at[key{l.Link, l.Client}] = l
		}
	}
	for part := range slices.Chunk(rows, linkLockoutBatch) {
		var args []any
		for i := range part {
			l := &part[i]
			change(l)
			l.Version = uint64(version)
			args = append(args, int64(l.Link), l.Client, l.Count, l.LastAt, l.ForgetAt, version)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO guesses (`+linkLockoutColumns+`) VALUES `+values(len(part), "(?,?,?,?,?,?)")+`
			ON CONFLICT (link, client) DO UPDATE SET count = excluded.count, last_at = excluded.last_at, forget_at = excluded.forget_at,
			mark = excluded.mark`, args...); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// ForgetLinkLockouts deletes the rows that are due to be forgotten. Of the rest it keeps the maxRows that are due last.
func (tx *Tx) ForgetLinkLockouts(ctx context.Context, now int64, maxRows int) error {
	if _, err := tx.Exec(ctx, `DELETE FROM guesses WHERE forget_at <= ?`, now); err != nil {
		return err
	}
	return tx.Do(ctx,
		`DELETE FROM guesses WHERE forget_at <= coalesce((SELECT forget_at FROM guesses ORDER BY forget_at DESC LIMIT 1 OFFSET ?), 0)`,
		maxRows)
}
