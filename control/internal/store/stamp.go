package store

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// Stamp returns two numbers of up to 31 bits from the header of an SQLite file: the number of the data folder that the file belongs
// to, and a count of the starts on this folder. They are outside the schema, and backups keep them. A file that was never stamped has 0.
func (s *Store) Stamp(ctx context.Context) (folder, start uint32, err error) {
	err = s.Row(ctx, `SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v`).Scan(&folder, &start)
	return folder, start, err
}

// SetStamp replaces the numbers that Stamp returns.
func (s *Store) SetStamp(ctx context.Context, folder, start uint32) error {
	return s.Tx(ctx, func(tx *Tx) error {
		// Pragmas take no parameters.
		if _, err := tx.Exec(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, folder)); err != nil {
			return err
		}
		return tx.Do(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, start))
	})
}

// Integrity reads the whole SQLite file and returns what is wrong with it first, or "". A file to which the journal of another one was
// applied can be opened, but its tables and indexes do not match. It takes about a second for each 100 MB.
func (s *Store) Integrity(ctx context.Context) (wrong string, err error) {
	if err := s.Row(ctx, `PRAGMA integrity_check(1)`).Scan(&wrong); err != nil && !Damaged(err) {
		return "", fmt.Errorf("check the file: %w", err)
	} else if err != nil {
		return err.Error(), nil
	}
	if wrong == "ok" {
		wrong = ""
	}
	return wrong, nil
}

// Fork makes an SQLite file that is older than the edge which it serves, or than the clicks, safe to use. The log of link
// changes gets a new incarnation, so that the edge loads all links again. New links and users get numbers that no lost one
// had, so that they do not get the clicks of lost ones.
func (s *Store) Fork(ctx context.Context) error {
	return s.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE sqlite_sequence SET seq = seq + ? WHERE name IN ('urls', 'users')`, numberGap); err != nil {
			return err
		}
		return tx.Do(ctx, `UPDATE config_head SET incarnation = ? WHERE id = 1`, rand.Int64N(1<<62)+1)
	})
}

// AnyLink reports whether there is a link, or was one.
func (c Conn) AnyLink(ctx context.Context) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM urls) OR EXISTS (SELECT 1 FROM link_trash)`))
}

// KeepCounters makes the present counters of all links, variants and rules the counts of clicks before a time, in Unix
// milliseconds. The click store has lost these clicks, and the counters must not go back to what it has left.
func (tx *Tx) KeepCounters(ctx context.Context, through int64) error {
	const into = `INSERT INTO expired_counts (kind, id, clicks, last_at) SELECT `
	for _, query := range []string{
		`DELETE FROM expired_counts`,
		into + `'` + ofLink + `', CAST(num AS TEXT), click_count, 0 FROM urls WHERE click_count > 0`,
		into + `'` + ofVariant + `', id, click_count, 0 FROM variants WHERE click_count > 0`,
		into + `'` + ofRule + `', id, match_count, coalesce(last_matched_at, 0) FROM routing_rules WHERE match_count > 0`,
	} {
		if _, err := tx.Exec(ctx, query); err != nil {
			return err
		}
	}
	return tx.Do(ctx, `UPDATE expired_clicks SET through = ? WHERE id = 1`, through)
}
