package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// MaxPassword is the longest password, in bytes: bcrypt reads no more.
const MaxPassword = 72

// nobody is a hash of the default cost, of a text that nobody knows. It stands here because making one at start
// would take as long as a sign-in.
const nobody = "$2a$10$BDGrVSYpQg46mg4teizUXe.wyy.m/RKLF3tcVZ.wYsu0ZP24.Qy/G"

// Passwords hashes and compares secrets with bcrypt. Few at a time: bcrypt is meant to be slow, and a flood of
// guesses must not take the processor from everything else. Clients take turns, see fairQueue.
type Passwords struct {
	queue *fairQueue
	wait  time.Duration
	cost  int
	dummy []byte
}

// NewPasswords makes one with two slots. A caller waits at most five seconds for one. cost is bcrypt's; 0 means its
// default, 10.
func NewPasswords(cost int) (*Passwords, error) {
	dummy := []byte(nobody)
	if cost == 0 {
		cost = bcrypt.DefaultCost
	}
	if cost != bcrypt.DefaultCost {
		var err error
		if dummy, err = bcrypt.GenerateFromPassword([]byte("nobody's password"), cost); err != nil {
			return nil, fmt.Errorf("bcrypt: %w", err)
		}
	}
	return &Passwords{queue: newFairQueue(2), wait: 5 * time.Second, cost: cost, dummy: dummy}, nil
}

// apart is the same with a slot and a queue of its own: for API keys, whose hash is only compared when the key is
// known already, so that guesses at passwords can't crowd out programs that have a key.
func (p *Passwords) apart() *Passwords {
	return &Passwords{queue: newFairQueue(1), wait: 2 * time.Second, cost: p.cost, dummy: p.dummy}
}

// Hash makes the hash of a password of at most MaxPassword bytes.
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

// Turn waits for a slot and runs f in it. f may use Matches. The caller waits behind other requests of the same
// client, and takes turns with other clients; WithClient says who that is. When no slot comes
// free in time, or too many wait already, the error is a TooMany.
func (p *Passwords) Turn(ctx context.Context, f func() error) error {
	waiting, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	if !p.queue.acquire(waiting, clientOf(ctx)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := problem.New(problem.TooMany, "Too many sign-ins at the moment, try again shortly.")
		e.RetryAfter = time.Second
		return e
	}
	defer p.queue.release()
	return f()
}

// Matches compares inside a Turn. A nil hash takes the same time and matches nothing.
func (p *Passwords) Matches(hash *string, password string) (bool, error) {
	h := p.dummy
	if hash != nil {
		h = []byte(*hash)
	}
	if len(password) > MaxPassword {
		password = password[:MaxPassword] // no such password exists, but the time must not tell
		hash = nil
	}
	err := bcrypt.CompareHashAndPassword(h, []byte(password))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("bcrypt: %w", err)
	}
	return hash != nil, nil
}

// Check is Turn and Matches in one.
func (p *Passwords) Check(ctx context.Context, hash *string, password string) (ok bool, err error) {
	err = p.Turn(ctx, func() (err error) {
		ok, err = p.Matches(hash, password)
		return err
	})
	return ok, err
}
