package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/shortline/shortline/shared/backoff"
)

// Attempts is how often a unit of work may panic. After that, the work goes on without it.
const Attempts = 3

// retryUnit is the pause before a unit that has panicked is tried again. It is short: most panics are faults of the program, which
// repeat, and a file can have thousands of rows that cause one.
var retryUnit = backoff.Policy{First: 20 * time.Millisecond, Most: 100 * time.Millisecond}

// Panic is the error of work that has panicked.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Guard calls f, and returns a *Panic if f panics. A goroutine that a job starts needs it, because nothing else recovers a panic there.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Panic{r, debug.Stack()}
		}
	}()
	return f()
}

// ErrFault is the error of work that has panicked, for people who do not read logs.
var ErrFault = errors.New("the service failed at this, and its log says why")

// Contain calls f. It logs a panic, and returns ErrFault. It is for work whose errors are shown to users.
func Contain(log *slog.Logger, f func() error) error {
	err := Guard(f)
	if panicked(err) {
		log.Error("unit of work panicked", "error", err.Error())
		return ErrFault
	}
	return err
}

// Each calls f for every one of a list. One that fails or panics does not keep f from the others. It returns all errors.
func Each[T any](list []T, f func(*T) error) error {
	var failed []error
	for i := range list {
		if err := Guard(func() error { return f(&list[i]) }); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Step is a part of work that has its units in an order, such as the rows of a file.
type Step struct {
	Units int
	// Failed says that the step must store its one unit as failed, and not try it: it has panicked Attempts times.
	Failed bool
}

// ErrBroken says that even storing a unit as failed panics. The whole work must end as failed.
var ErrBroken = errors.New("the work panics whatever part of it is left out")

// Through does the next units of some work with do, which takes as many units as its step says from the place where the last call
// ended, and stores them and the new place in one transaction. It reports whether the work has ended, as do does.
//
// A panic of do costs only the unit that causes it. Through repeats the step unit by unit, and tries each Attempts times before it
// tells do to store the unit as failed. It logs such units, and counts panics as failures of the job. Through keeps nothing between
// calls, so the work may go on in another process. Other errors, such as a database that does not answer, end Through, and have no
// limit: the caller calls it again.
func Through(ctx context.Context, units int, do func(Step) (ended bool, err error)) (ended bool, err error) {
	t := &try{ctx: ctx, do: do}
	if ended, err = t.step(Step{Units: units}); !panicked(err) {
		return ended, err
	}
	t.log(err, false)
	for range units {
		if ended, err = t.one(); ended || err != nil {
			return ended, err
		}
	}
	return false, nil
}

func panicked(err error) bool {
	var p *Panic
	return errors.As(err, &p)
}

// try is one call of Through.
type try struct {
	ctx  context.Context
	do   func(Step) (bool, error)
	last string // what was logged last
}

func (t *try) step(s Step) (ended bool, err error) {
	err = Guard(func() (err error) {
		ended, err = t.do(s)
		return err
	})
	if panicked(err) {
		if j, ok := t.ctx.Value(jobKey{}).(*Job); ok {
			j.failures.Add(1)
		}
		return false, err
	}
	return ended, err
}

// one does one unit, or stores it as failed.
func (t *try) one() (ended bool, err error) {
	for _, step := range []Step{{Units: 1}, {Units: 1, Failed: true}} {
		for attempt := 1; attempt <= Attempts; attempt++ {
			if ended, err = t.step(step); !panicked(err) {
				return ended, err
			}
			if attempt < Attempts && !backoff.Sleep(t.ctx, retryUnit.Delay(attempt)) {
				return false, t.ctx.Err()
			}
		}
		t.log(err, true)
	}
	return false, fmt.Errorf("%w: %w", ErrBroken, err)
}

// log logs a panic, unless the last one was the same: thousands of units may have it. givenUp says that a unit is not tried again.
func (t *try) log(err error, givenUp bool) {
	var p *Panic
	errors.As(err, &p)
	what := fmt.Sprint(givenUp, p.Value)
	if what == t.last {
		return
	}
	t.last = what
	log, name := slog.Default(), ""
	if j, ok := t.ctx.Value(jobKey{}).(*Job); ok {
		log, name = j.logger(), j.Name
	}
	log.Error("unit of work panicked", "job", name, "given_up", givenUp, "error", err.Error())
}

// jobKey is the key of the *Job in the context of Do.
type jobKey struct{}
