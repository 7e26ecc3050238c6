package store

import (
	"context"
	"errors"
)

// AccountLockout holds the failures for one key: a login, a second factor or a password check. The zero value means none.
type AccountLockout struct {
	Failures    int   // failures that did not lead to a lockout
	Lockouts    int   // in a row
	LockedUntil int64 // ms
	ForgetAt    int64 // ms, when the failures and lockouts no longer count
}

// AccountLockoutOf returns the row of a key, or the zero value if there is none.
func (c Conn) AccountLockoutOf(ctx context.Context, key string) (l AccountLockout, err error) {
	err = c.Row(ctx, `SELECT failures, locks, locked_until, forget_at FROM attempt_guards WHERE key = ?`, key).Scan(&l.Failures,
		&l.Lockouts,
		&l.LockedUntil, &l.ForgetAt)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return l, err
}

// ChangeAccountLockout replaces the row of a key by the result of change. Concurrent calls run one after the other.
func (tx *Tx) ChangeAccountLockout(ctx context.Context, key string, change func(AccountLockout) AccountLockout) error {
	var l AccountLockout
	err := tx.Row(ctx, `INSERT INTO attempt_guards (key, failures, locks, locked_until, forget_at) VALUES (?, 0, 0, 0, 0)
		ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING failures, locks, locked_until, forget_at`,
		key).Scan(&l.Failures, &l.Lockouts, &l.LockedUntil, &l.ForgetAt)
	if err != nil {
		return err
	}
	l = change(l)
	return tx.Do(ctx, `UPDATE attempt_guards SET failures = ?, locks = ?, locked_until = ?, forget_at = ? WHERE key = ?`,
		l.Failures, l.Lockouts, l.LockedUntil, l.ForgetAt, key)
}

// DeleteAccountLockout forgets the failures of a key.
func (c Conn) DeleteAccountLockout(ctx context.Context, key string) error {
	return c.Do(ctx, `DELETE FROM attempt_guards WHERE key = ?`, key)
}
