package job

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/shortline/shortline/shared/backoff"
)

// ErrTaken says that another process has a lease.
var ErrTaken = errors.New("another process does this work")

// Lease is the right to do some work, which one process at a time has. It ends by itself, so that the work continues elsewhere
// after a process was killed.
type Lease struct {
	// Claim takes the lease, or extends it for For from now on. It returns ErrTaken if another process has it.
	Claim func(ctx context.Context) error
	// Drop ends the lease after the work; nil leaves it to end by itself.
	Drop func(ctx context.Context) error
	// For is how long the lease lasts after a claim.
	For time.Duration
	// Renew is the time between two claims; 0 means a sixth of For.
	Renew time.Duration
}

// lastTime is how long a call may go on after its process began to stop, and how long Drop may take.
const lastTime = 5 * time.Second

// Hold claims the lease, does work, and claims the lease again at intervals meanwhile. It returns what Claim returns at first, or
// what work returns.
//
// Hold cancels work, and returns the reason, in two cases: another process has the lease, or claims have failed for so long that
// another process may soon have it. No claim runs any more when Hold returns. A late one would make other processes wait.
func (l *Lease) Hold(ctx context.Context, work func(context.Context) error) error {
	last := time.Now() // of the beginning of a claim: it may be stored at once, and answered late
	if err := Uninterrupted(ctx, l.For, l.Claim); err != nil {
		return err
	}
	every := cmp.Or(l.Renew, l.For/6)
	working, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	lost := false
	go func() {
		defer close(ended)
		for backoff.Sleep(working, every) {
			began, end := time.Now(), last.Add(l.For*2/3)
			if err := Uninterrupted(working, time.Until(end), l.Claim); err == nil {
				last = began
			} else if errors.Is(err, ErrTaken) || !time.Now().Before(end) {
				lost = true
				stop(err)
			}
		}
	}()
	defer func() {
		stop(nil) // also after a panic
		<-ended
		if l.Drop != nil && !lost {
			_ = Uninterrupted(ctx, lastTime, l.Drop) // if it fails, the lease ends by itself
		}
	}()
	err := work(working)
	if err != nil && working.Err() != nil {
		err = context.Cause(working)
	}
	return err
}

// Uninterrupted calls f, which takes or drops a lease or a lock. The context of f ends after the time within, or five seconds after ctx,
// but not together with ctx. A transaction that is interrupted during its commit may be stored nevertheless: its caller would hold a
// lease without knowing it.
func Uninterrupted(ctx context.Context, within time.Duration, f func(context.Context) error) error {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		backoff.Sleep(whole, lastTime)
		cancel()
	})()
	return f(whole)
}
