package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/shared/job"
)

// table is a lease that processes share.
type table struct {
	mu     sync.Mutex
	holder string
	until  time.Time
	down   bool
	hangs  bool
}

func (l *table) of(name string) *job.Lease {
	const lasts = time.Minute
	return &job.Lease{
		For: lasts,
		Claim: func(ctx context.Context) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			switch {
			case l.hangs:
				<-ctx.Done()
				return ctx.Err()
			case l.down:
				return errDown
			case l.holder != name && time.Now().Before(l.until):
				return job.ErrTaken
			}
			l.holder, l.until = name, time.Now().Add(lasts)
			return nil
		},
		Drop: func(context.Context) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.down {
				return errDown
			}
			if l.holder == name {
				l.until = time.Time{}
			}
			return nil
		},
	}
}

func TestLease_lets_one_process_work(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var shared table
		var working, done atomic.Int32
		var failed atomic.Bool
		process := func(name string) *job.Job {
			work := func(context.Context) error {
				if working.Add(1) > 1 {
					t.Error("two processes work at the same time")
				}
				pause(5 * time.Minute) // longer than the lease lasts
				working.Add(-1)
				done.Add(1)
				return nil
			}
			note := func(err error) { failed.Store(failed.Load() || err != nil) }
			return &job.Job{Name: "a", Every: 10 * time.Second, Lease: shared.of(name), Note: note, Do: work}
		}
		runs(t, 2*time.Hour, process("one"), process("two"))
		if n := done.Load(); n < 20 || failed.Load() {
			t.Errorf("the work was done %d times, failed is %v", n, failed.Load())
		}
	})
}

func TestLease_lost_in_the_middle_of_a_run_ends_the_work(t *testing.T) {
	t.Parallel()
	for what, lose := range map[string]func(*table){
		"another process has it": func(l *table) { l.holder, l.until = "other", time.Now().Add(time.Hour) },
		"no database":            func(l *table) { l.down = true },
		"no answer":              func(l *table) { l.hangs = true },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var shared table
				began := time.Now()
				time.AfterFunc(3*time.Minute, func() {
					shared.mu.Lock()
					defer shared.mu.Unlock()
					lose(&shared)
				})
				err := shared.of("one").Hold(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
				if !errors.Is(err, job.ErrTaken) && !errors.Is(err, errDown) && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the work ended with %v", err)
				}
				if took := time.Since(began); took < 3*time.Minute || took >= 4*time.Minute {
					t.Errorf("the work ended after %v; another process may begin at 4 minutes", took)
				}
				if shared.holder == "other" && time.Now().After(shared.until) {
					t.Error("the lease of another process was dropped")
				}
			})
		})
	}
}

// A claim that is committed while its process stops has succeeded, although nobody waits for the answer.
func TestLease_is_dropped_after_an_interrupted_claim(t *testing.T) {
	t.Parallel()
	var shared table
	ctx, interrupt := context.WithCancel(t.Context())
	lease := shared.of("one")
	claim := lease.Claim
	lease.Claim = func(ctx context.Context) error {
		interrupt()
		return errors.Join(claim(ctx), ctx.Err())
	}
	if err := lease.Hold(ctx, func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("the work ended with %v", err)
	}
	if !shared.until.IsZero() {
		t.Errorf("the lease lasts until %v", shared.until)
	}
}

func TestLease_is_dropped_after_a_panic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var shared table
		failed := 0
		runs(t, time.Second/4, &job.Job{Name: "a", Every: time.Hour, Lease: shared.of("one"), Logger: slog.New(slog.DiscardHandler),
			Note: func(err error) { failed++ }, Do: func(context.Context) error { panic("BUG") }})
		if failed != 1 || !shared.until.IsZero() {
			t.Errorf("%d failures, and the lease lasts until %v", failed, shared.until)
		}
	})
}
