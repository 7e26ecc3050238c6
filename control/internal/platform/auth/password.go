package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/fairqueue"
)

// MaxPassword is the maximum length of a password, in bytes. bcrypt ignores everything after it.
const MaxPassword = 72

// nobody is the hash of an unknown password, with the default cost. It is a constant because computing it at startup
// would take as long as a sign-in.
const nobody = "$2a$10$BDGrVSYpQg46mg4teizUXe.wyy.m/RKLF3tcVZ.wYsu0ZP24.Qy/G"

// Passwords hashes and compares secrets with bcrypt. bcrypt is slow by design, so only a few calls run at the same
// time: otherwise a flood of guesses would use all of the processor. Clients take turns, see package fairqueue.
type Passwords struct {
	queue *fairqueue.Queue[string]
	wait  time.Duration
	cost  int
	dummy []byte

	compare func(hash, password []byte) error
}

// NewPasswords returns Passwords with two slots. A caller waits at most five seconds for a slot. cost is the cost of
// bcrypt; 0 means the default, 10.
func NewPasswords(cost int) (*Passwords, error) {
	dummy := []byte(nobody)
	cost = cmp.Or(cost, bcrypt.DefaultCost)
	if cost != bcrypt.DefaultCost {
		var err error
		if dummy, err = bcrypt.GenerateFromPassword([]byte("nobody's password"), cost); err != nil {
			return nil, fmt.Errorf("bcrypt: %w", err)
		}
	}
	return &Passwords{queue: newQueue(2), wait: 5 * time.Second, cost: cost, dummy: dummy, compare: bcrypt.CompareHashAndPassword}, nil
}

// newQueue returns a queue that holds at most 256 callers, 16 per client: people behind one address who sign in at the
// same moment.
func newQueue(slots int) *fairqueue.Queue[string] {
	return fairqueue.New[string](fairqueue.Config{Slots: slots, Waiting: 256, PerClient: 16, Remember: 4096})
}

// apart returns Passwords with one slot and a queue of its own. API keys use it: a key's hash is compared only if the
// key's prefix exists, so guesses at passwords cannot delay programs that have a key.
func (p *Passwords) apart() *Passwords {
	return &Passwords{queue: newQueue(1), wait: 2 * time.Second, cost: p.cost, dummy: p.dummy, compare: p.compare}
}

// Hash returns the hash of a password of at most MaxPassword bytes.
func (p *Passwords) Hash(ctx context.Context, password string) (hash string, err error) {
	err = p.Turn(ctx, func() error {
		b, err := bcrypt.GenerateFromPassword([]byte(password), p.cost)
		if err != nil {
			return fmt.Errorf("bcrypt: %w", err)
		}
		hash = string(b)
		return nil
	})
	return hash, err
}

// Turn waits for a slot and calls f, which may call Matches. The caller waits behind other requests of the same client
// (see WithClient); clients take turns. If no slot becomes free in time, or too many callers wait, Turn returns a
// TooMany problem.
func (p *Passwords) Turn(ctx context.Context, f func() error) error {
	waiting, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	if !p.queue.Acquire(waiting, clientOf(ctx)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := problem.New(problem.TooMany, "Too many sign-ins at the moment. Try again shortly.")
		e.RetryAfter = time.Second
		return e
	}
	defer p.queue.Release()
	return f()
}

// Matches compares a password with a hash. Call it within Turn only. A nil hash takes the same time and never matches.
func (p *Passwords) Matches(hash *string, password string) (bool, error) {
	h := p.dummy
	if hash != nil {
		h = []byte(*hash)
	}
	if len(password) > MaxPassword {
		password = password[:MaxPassword] // such a password cannot match, but must take the same time
		hash = nil
	}
	err := p.compare(h, []byte(password))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("bcrypt: %w", err)
	}
	return hash != nil, nil
}

// Verify calls Matches within Turn.
func (p *Passwords) Verify(ctx context.Context, hash *string, password string) (ok bool, err error) {
	err = p.Turn(ctx, func() (err error) {
		ok, err = p.Matches(hash, password)
		return err
	})
	return ok, err
}

// HashCost returns the cost of a bcrypt hash, and whether the text is one.
func HashCost(hash string) (cost int, is bool) {
	cost, err := bcrypt.Cost([]byte(hash))
	return cost, err == nil && len(hash) == len(nobody)
}
