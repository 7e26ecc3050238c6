package report

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// parallel runs the parts of a report at the same time, because a small report spends most of its time on waiting for answers. Parts
// that ask a store the same question share the answer. parallel returns the first error, and then ends the context of the other
// parts. A panic becomes an error: nothing else would recover it in these goroutines, and it would end the process.
func parallel(ctx context.Context, parts ...func(context.Context) error) error {
	group, asking := errgroup.WithContext(analytics.OneReading(ctx))
	for _, part := range parts {
		group.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = fmt.Errorf("a part of the report panicked: %v\n%s", cause, debug.Stack())
				}
			}()
			return part(asking)
		})
	}
	return group.Wait()
}
