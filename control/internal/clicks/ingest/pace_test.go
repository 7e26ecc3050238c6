package ingest_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// counting counts inserts.
type counting struct {
	analytics.Store
	inserts atomic.Int32
}

func (c *counting) Insert(ctx context.Context, b analytics.Batch) error {
	c.inserts.Add(1)
	return c.Store.Insert(ctx, b)
}

// Few clicks wait for others, whichever lane they come from. Many clicks do not wait, and neither does a process that stops.
func TestDeliver_few_clicks_are_committed_together(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	clicks := &counting{Store: w.clicks}
	in, _ := w.start(ingest.Config{CommitEvery: time.Hour}, clicks, false)
	deliver := func(lane uint8, first uint64, n int) {
		t.Helper()
		if err := in.Deliver(t.Context(), w.batch(click.Lane{Edge: 1, Epoch: 1, Lane: lane}, first, n, nil)); err != nil {
			t.Error(err)
		}
	}
	deliver(0, 1, 1) // the first commit has none to wait for
	var all sync.WaitGroup
	for lane := range uint8(10) {
		all.Go(func() { deliver(1+lane, 1, 100) })
	}
	all.Wait()
	if n := clicks.inserts.Load(); n != 2 {
		t.Errorf("%d inserts, want 2: one for the first click, and one for the thousand clicks after it", n)
	}
	deliver(0, 2, 1000)

	ctx, stop := context.WithCancel(t.Context())
	stop()
	_ = in.Deliver(ctx, w.batch(click.Lane{Edge: 1, Epoch: 1}, 1002, 1, nil)) // it may be refused, but must return
	deliver(0, 1002, 1000)
	testkit.Equal(t, w.stored(), 3001, "stored clicks")
}
