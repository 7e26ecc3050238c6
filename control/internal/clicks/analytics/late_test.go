package analytics_test

import (
	"context"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// A wait for a store that is opened late ends when the store is there, and when the wait's context ends.
func TestLate_Await(t *testing.T) {
	t.Parallel()
	waiting := func(ctx context.Context, s analytics.Store) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Await(ctx)
		}()
		return done
	}
	over := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		case <-time.After(5 * time.Second):
			return false
		}
	}
	var late, never analytics.Late
	ctx, cancel := context.WithCancel(t.Context())
	one, two, three := waiting(t.Context(), &late), waiting(t.Context(), &late), waiting(ctx, &never)
	select {
	case <-one:
		t.Error("nobody gave it a store")
	case <-three:
		t.Error("nobody gave the other a store")
	case <-time.After(50 * time.Millisecond):
	}
	late.Use(&never)
	cancel()
	if !over(one) || !over(two) || !over(three) || !over(waiting(t.Context(), &late)) {
		t.Error("somebody still waits")
	}
}
