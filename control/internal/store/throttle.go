package store

import (
	"context"
	"errors"
)

// KnownRevision is the newest revision that this process has heard of: at least that of every transaction that
// it has committed itself.
func (s *Store) KnownRevision() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// HitRate counts one request of a caller in a window and returns the count with the window's end (ms). A window
// that has ended by now is replaced by one that ends at end.
func (c Conn) HitRate(ctx context.Context, key string, now, end int64) (n int, until int64, err error) {
	err = c.Row(ctx, `INSERT INTO rate_counts (key, count, ends_at) VALUES (?, 1, ?)
		ON CONFLICT (key) DO UPDATE SET
			count = CASE WHEN rate_counts.ends_at <= ? THEN 1 ELSE rate_counts.count + 1 END,
			ends_at = CASE WHEN rate_counts.ends_at <= ? THEN excluded.ends_at ELSE rate_counts.ends_at END
		RETURNING count, ends_at`, key, end, now, now).Scan(&n, &until)
	return n, until, err
}

// Guard is what is known of failed attempts at one thing from one place. The zero value knows of none.
type Guard struct {
	Failures    int   // that have not led to a lock yet
	Locks       int   // in a row
	LockedUntil int64 // ms
	ForgetAt    int64 // ms; after that all of this counts for nothing
}

// GuardOf reads a guard, zero if there is none.
func (c Conn) GuardOf(ctx context.Context, key string) (g Guard, err error) {
	err = c.Row(ctx, `SELECT failures, locks, locked_until, forget_at FROM attempt_guards WHERE key = ?`, key).Scan(&g.Failures, &g.Locks, &g.LockedUntil, &g.ForgetAt)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return g, err
}

// ChangeGuard replaces a guard by what change makes of it; of two at once, one sees what the other has written.
func (tx *Tx) ChangeGuard(ctx context.Context, key string, change func(Guard) Guard) (g Guard, err error) {
	err = tx.Row(ctx, `INSERT INTO attempt_guards (key, failures, locks, locked_until, forget_at) VALUES (?, 0, 0, 0, 0)
		ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING failures, locks, locked_until, forget_at`, key).Scan(&g.Failures, &g.Locks, &g.LockedUntil, &g.ForgetAt)
	if err != nil {
		return g, err
	}
	g = change(g)
	_, err = tx.Exec(ctx, `UPDATE attempt_guards SET failures = ?, locks = ?, locked_until = ?, forget_at = ? WHERE key = ?`,
		g.Failures, g.Locks, g.LockedUntil, g.ForgetAt, key)
	return g, err
}

// DeleteGuard forgets the failures.
func (c Conn) DeleteGuard(ctx context.Context, key string) error {
	_, err := c.Exec(ctx, `DELETE FROM attempt_guards WHERE key = ?`, key)
	return err
}

// Sweep removes sessions, guards and counts that are over by now.
func (s *Store) Sweep(ctx context.Context, now int64) error {
	return s.Tx(ctx, func(tx *Tx) error {
		for _, q := range []string{
			`DELETE FROM sessions WHERE expires_at <= ?`,
			`DELETE FROM attempt_guards WHERE forget_at <= ?`,
			`DELETE FROM rate_counts WHERE ends_at <= ?`,
		} {
			if _, err := tx.Exec(ctx, q, now); err != nil {
				return err
			}
		}
		return nil
	})
}
