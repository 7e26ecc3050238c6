package shards

import (
	"context"
	"errors"
	"time"

	"github.com/shortline/shortline/shared/backoff"
)

const (
	beatEvery = 5 * time.Second
	// silent is how long a program must not have been seen before another one may continue its work.
	silent = 30 * time.Second
)

// errTaken is why a program stops if another one does its work.
var errTaken = errors.New("another program does this work")

// hold does work, and calls beat before it and then at intervals. beat records in the database that this program does the work.
//
// hold cancels the work in two cases: beat returns errTaken, or beat has failed for so long that another program may soon take over.
// No beat runs any more when hold returns. A late beat would make the next program wait, because this one would seem to be alive.
func hold(ctx context.Context, every time.Duration, beat, work func(context.Context) error) error {
	if err := beat(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for last := time.Now(); backoff.Sleep(ctx, every); {
			if err := beat(ctx); err == nil {
				last = time.Now()
			} else if errors.Is(err, errTaken) || time.Since(last) > silent-2*beatEvery {
				stop(err)
			}
		}
	}()
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	stop(nil)
	<-ended
	return err
}
