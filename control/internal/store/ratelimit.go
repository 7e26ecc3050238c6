package store

import "context"

// HitRate counts one request of a client and returns the count and the window's end in Unix milliseconds. It starts a
// new window, which ends at end, if the stored one has ended by now.
func (c Conn) HitRate(ctx context.Context, key string, now, end int64) (n int, until int64, err error) {
	err = c.Row(ctx, `INSERT INTO rate_counts (key, count, ends_at) VALUES (?, 1, ?)
		ON CONFLICT (key) DO UPDATE SET
			count = CASE WHEN rate_counts.ends_at <= ? THEN 1 ELSE rate_counts.count + 1 END,
			ends_at = CASE WHEN rate_counts.ends_at <= ? THEN excluded.ends_at ELSE rate_counts.ends_at END
		RETURNING count, ends_at`, key, end, now, now).Scan(&n, &until)
	return n, until, err
}

// deviceMemory is how long a device stays known after a sign-in, in milliseconds.
const deviceMemory = 180 * 24 * 3600 * 1000

// Sweep deletes what has ended by now: sessions, account lockouts, rate counts, requests for a new password,
// ceremonies of passkeys, pairings and requests with an idempotency key. It also forgets devices that were not used for 180 days.
func (s *Store) Sweep(ctx context.Context, now int64) error {
	return s.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM known_devices WHERE last_seen_at <= ?`, now-deviceMemory); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM invitations WHERE expires_at <= ?`, now-invitationMemory); err != nil {
			return err
		}
		for _, q := range []string{
			`DELETE FROM sessions WHERE expires_at <= ?`,
			`DELETE FROM password_resets WHERE expires_at <= ?`,
			`DELETE FROM attempt_guards WHERE forget_at <= ?`,
			`DELETE FROM rate_counts WHERE ends_at <= ?`,
			`DELETE FROM passkey_ceremonies WHERE expires_at <= ?`,
			`DELETE FROM pairings WHERE expires_at <= ?`,
			`DELETE FROM idempotent_requests WHERE expires_at <= ?`,
		} {
			if _, err := tx.Exec(ctx, q, now); err != nil {
				return err
			}
		}
		return nil
	})
}
