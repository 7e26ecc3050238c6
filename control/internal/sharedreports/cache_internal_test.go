package sharedreports

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A computation ends with its timeout, even if the viewer who caused it has gone. Others may wait for it.
func TestCache_computation_ends_with_its_timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(DefaultEvery, DefaultTimeout, time.Now)
		first, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		hangs := func(ctx context.Context) (*View, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if _, err := c.get(first, "r", version{}, hangs); !errors.Is(err, context.Canceled) {
			t.Errorf("the viewer who left got %v", err)
		}
		began := time.Now()
		_, err := c.get(t.Context(), "r", version{}, nil)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != DefaultTimeout-time.Second {
			t.Errorf("the second viewer got %v after %v", err, took)
		}
	})
}
