package analytics

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestOnce(t *testing.T) {
	var asked atomic.Int64
	failed := errors.New("failed")
	count := func(ctx context.Context, key any, err error) (int64, error) {
		return Once(ctx, key, func() (int64, error) { return asked.Add(1), err })
	}
	ctx := OneReading(t.Context())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if n, err := count(ctx, "a", nil); n != 1 || err != nil {
				t.Errorf("the question was asked %d times, %v", n, err)
			}
		})
	}
	all.Wait()
	if n, err := count(ctx, "b", failed); n != 2 || !errors.Is(err, failed) {
		t.Errorf("another question = %d, %v", n, err)
	}
	if n, err := count(ctx, "b", nil); n != 2 || !errors.Is(err, failed) {
		t.Errorf("the question that failed, asked again = %d, %v", n, err)
	}
	if n, _ := count(OneReading(ctx), "a", nil); n != 3 {
		t.Error("two reports share an answer")
	}
	if n, _ := count(t.Context(), "a", nil); n != 4 {
		t.Error("a query outside of a report got the answer of another one")
	}
}
