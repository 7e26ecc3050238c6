package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/lockout"
)

// Lockout slows down password guessing by the rules of package lockout. The failures are in the store, so all replicas
// share them and they survive a restart.
type Lockout struct {
	store *store.Store
	now   func() time.Time
}

// NewLockout returns a Lockout. now returns the time; nil means time.Now.
func NewLockout(st *store.Store, now func() time.Time) *Lockout {
	if now == nil {
		now = time.Now
	}
	return &Lockout{st, now}
}

// LockoutKey returns the key under which failures are counted: a hash of its parts, for instance of an account and a
// client, so that the database contains neither in plain text.
func LockoutKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte{byte(len(p) >> 8), byte(len(p))})
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Check returns a TooMany problem while the key is locked out. dirty reports whether there are failures to forget.
func (l *Lockout) Check(ctx context.Context, key string) (dirty bool, err error) {
	return l.checkWith(ctx, l.store.Conn, key)
}

// CheckTx is Check inside the caller's transaction.
func (l *Lockout) CheckTx(ctx context.Context, tx *store.Tx, key string) (dirty bool, err error) {
	return l.checkWith(ctx, tx.Conn, key)
}

func (l *Lockout) checkWith(ctx context.Context, c store.Conn, key string) (dirty bool, err error) {
	state, err := c.AccountLockoutOf(ctx, key)
	if err != nil {
		return false, err
	}
	if left := state.LockedUntil - l.now().UnixMilli(); left > 0 {
		e := problem.New(problem.TooMany, "Too many failed attempts, try again later.")
		e.RetryAfter = time.Duration(left) * time.Millisecond
		return true, e
	}
	return state != store.AccountLockout{}, nil
}

// Fail counts a failure inside the caller's transaction. It returns how long the key is locked out now, 0 if it is not.
func (l *Lockout) Fail(ctx context.Context, tx *store.Tx, key string) (locked time.Duration, err error) {
	now := l.now()
	err = tx.ChangeAccountLockout(ctx, key, func(s store.AccountLockout) store.AccountLockout {
		if s.ForgetAt <= now.UnixMilli() {
			s = store.AccountLockout{ForgetAt: now.Add(lockout.Window).UnixMilli()}
		}
		if s.Failures++; s.Failures < lockout.Threshold {
			return s
		}
		locked = lockout.Duration(lockout.Threshold + s.Lockouts)
		s.Lockouts++
		s.LockedUntil = now.Add(locked).UnixMilli()
		s.ForgetAt = now.Add(locked + lockout.Window).UnixMilli()
		return s
	})
	return locked, err
}

// Forget deletes the failures of a key inside the caller's transaction, after a success.
func (l *Lockout) Forget(ctx context.Context, tx *store.Tx, key string) error {
	return tx.DeleteAccountLockout(ctx, key)
}
