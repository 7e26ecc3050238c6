package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// IdempotentRequest is a request with an idempotency key.
type IdempotentRequest struct {
	ID        string // names the caller, the workspace, the address and the key
	BodyHash  string
	HeldUntil int64  // Unix ms: until then the request may be running; 0: it has ended
	Committed bool   // a transaction of the request has been committed
	Response  string // encrypted; "" if there is none
	ExpiresAt int64  // Unix ms
}

// ClaimRequest stores a request that the caller is about to process, and returns nil. If the same request is known and has ended, has had
// an effect, or may be running, it returns that one instead.
func (s *Store) ClaimRequest(ctx context.Context, r IdempotentRequest, now int64) (known *IdempotentRequest, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		known = nil
		changed, err := tx.Changes(ctx, `INSERT INTO idempotent_requests (id, body_hash, held_until, expires_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET body_hash = excluded.body_hash, held_until = excluded.held_until, committed = FALSE,
				response = '', expires_at = excluded.expires_at
			WHERE idempotent_requests.expires_at <= ?
				OR NOT idempotent_requests.committed AND idempotent_requests.response = '' AND idempotent_requests.held_until <= ?`,
			r.ID, r.BodyHash, r.HeldUntil, r.ExpiresAt, now, now)
		if err != nil || changed {
			return err
		}
		known = &IdempotentRequest{ID: r.ID}
		return tx.Row(ctx, `SELECT body_hash, held_until, committed, response, expires_at FROM idempotent_requests WHERE id = ?`, r.ID).
			Scan(&known.BodyHash, &known.HeldUntil, &known.Committed, &known.Response, &known.ExpiresAt)
	})
	if err != nil {
		return nil, fmt.Errorf("claim a request: %w", err)
	}
	return known, nil
}

// HeldRequest is a request that this process holds by ClaimRequest. Transactions under its context record in the same transaction
// that the request has had an effect, so that a process that is killed leaves no doubt.
type HeldRequest struct {
	id        string
	heldUntil int64
	committed atomic.Bool
}

// Committed reports whether the request has had an effect.
func (r *HeldRequest) Committed() bool { return r.committed.Load() }

type heldRequestKey struct{}

// errNotHeld ends transactions of a request that took so long that another process may have taken it over.
var errNotHeld = errors.New("the request with an idempotency key is not held any more")

// WithRequest returns the context in which a claimed request must be processed.
func WithRequest(ctx context.Context, r IdempotentRequest) (context.Context, *HeldRequest) {
	held := &HeldRequest{id: r.ID, heldUntil: r.HeldUntil}
	return context.WithValue(ctx, heldRequestKey{}, held), held
}

// commitRequest records that the request of ctx, if there is one, has an effect.
func (tx *Tx) commitRequest(ctx context.Context) error {
	held, ok := ctx.Value(heldRequestKey{}).(*HeldRequest)
	if !ok || held.committed.Load() {
		return nil
	}
	changed, err := tx.Changes(ctx, `UPDATE idempotent_requests SET committed = TRUE WHERE id = ? AND held_until = ?`, held.id,
		held.heldUntil)
	if err != nil {
		return fmt.Errorf("record the effect of a request: %w", err)
	}
	if !changed {
		return errNotHeld
	}
	tx.AfterCommit(func() { held.committed.Store(true) })
	return nil
}

// EndRequest ends a held request. A response is kept for repetitions. Without one, a request that has had no effect is forgotten, so that
// it can be tried again. ctx must not be the one of WithRequest.
func (s *Store) EndRequest(ctx context.Context, held *HeldRequest, response string) error {
	end := `UPDATE idempotent_requests SET held_until = 0, response = ? WHERE id = ? AND held_until = ?`
	args := []any{response, held.id, held.heldUntil}
	if response == "" && !held.committed.Load() {
		end, args = `DELETE FROM idempotent_requests WHERE id = ? AND held_until = ? AND NOT committed`, args[1:]
	}
	err := s.Tx(ctx, func(tx *Tx) error { return tx.Do(ctx, end, args...) })
	if err != nil {
		return fmt.Errorf("end a request: %w", err)
	}
	return nil
}
