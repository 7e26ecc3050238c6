package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/guess"
)

// Throttle slows down guessing by the rules of package guess. The counts are in the store, so that they hold for all
// replicas and survive a restart.
type Throttle struct {
	store *store.Store
	now   func() time.Time
}

// NewThrottle makes one. now tells the time; nil means time.Now.
func NewThrottle(st *store.Store, now func() time.Time) *Throttle {
	if now == nil {
		now = time.Now
	}
	return &Throttle{st, now}
}

// GuardKey names what is guessed at and from where, without keeping either readable in the database.
func GuardKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte{byte(len(p) >> 8), byte(len(p))})
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Check returns a TooMany while the key is locked. It also tells whether there is anything to forget.
func (t *Throttle) Check(ctx context.Context, key string) (dirty bool, err error) {
	return t.check(ctx, t.store.Conn, key)
}

// CheckTx is Check inside the caller's transaction.
func (t *Throttle) CheckTx(ctx context.Context, tx *store.Tx, key string) (dirty bool, err error) {
	return t.check(ctx, tx.Conn, key)
}

func (t *Throttle) check(ctx context.Context, c store.Conn, key string) (dirty bool, err error) {
	g, err := c.GuardOf(ctx, key)
	if err != nil {
		return false, err
	}
	if left := g.LockedUntil - t.now().UnixMilli(); left > 0 {
		e := problem.New(problem.TooMany, "Too many failed attempts, try again later.")
		e.RetryAfter = time.Duration(left) * time.Millisecond
		return true, e
	}
	return g != store.Guard{}, nil
}

// Fail notes a failure inside the caller's transaction, and returns for how long it has locked the key.
func (t *Throttle) Fail(ctx context.Context, tx *store.Tx, key string) (lock time.Duration, err error) {
	now := t.now()
	_, err = tx.ChangeGuard(ctx, key, func(g store.Guard) store.Guard {
		if g.ForgetAt <= now.UnixMilli() {
			g = store.Guard{ForgetAt: now.Add(guess.Window).UnixMilli()}
		}
		if g.Failures++; g.Failures < guess.Free {
			return g
		}
		lock = guess.Lock(guess.Free + g.Locks)
		g.Locks++
		g.LockedUntil = now.Add(lock).UnixMilli()
		g.ForgetAt = now.Add(lock + guess.Window).UnixMilli()
		return g
	})
	return lock, err
}

// Forget notes a success inside the caller's transaction.
func (t *Throttle) Forget(ctx context.Context, tx *store.Tx, key string) error {
	return tx.DeleteGuard(ctx, key)
}
