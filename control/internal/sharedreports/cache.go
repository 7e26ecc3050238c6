package sharedreports

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	maxCached  = 4096            // reports
	retryAfter = 5 * time.Second // how long a failure is the answer before the next computation
)

// cache has the figures of each shared report, which all of its viewers see. A report is computed at most once per interval, whatever
// the number of viewers, and by one goroutine at a time. Clicks do not make it outdated: its age is what limits the load.
type cache struct {
	every   time.Duration
	timeout time.Duration // of a computation
	now     func() time.Time

	mu      sync.Mutex
	reports map[string]*flight // by id
	swept   time.Time
}

// version identifies what a report was computed from, apart from clicks.
type version struct {
	updatedAt int64
	of        subject
}

// flight is a computation and, once done is closed, its result.
type flight struct {
	version version
	began   time.Time
	done    chan struct{}
	view    *View
	err     error
}

func newCache(every, timeout time.Duration, now func() time.Time) *cache {
	return &cache{every: every, timeout: timeout, now: now, reports: map[string]*flight{}}
}

// get returns the figures of a report. If nobody has computed them in this interval, it calls compute, which goes on if the caller goes
// away, because others wait for it.
func (c *cache) get(ctx context.Context, id string, v version, compute func(context.Context) (*View, error)) (*View, error) {
	c.mu.Lock()
	f := c.reports[id]
	if f == nil || f.version != v || c.over(f) {
		f = &flight{version: v, began: c.now(), done: make(chan struct{})}
		c.makeRoom()
		c.reports[id] = f
		go f.computeView(context.WithoutCancel(ctx), c.timeout, compute)
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.view, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *flight) computeView(ctx context.Context, timeout time.Duration, compute func(context.Context) (*View, error)) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer close(f.done)
	defer func() {
		if v := recover(); v != nil {
			f.view, f.err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	f.view, f.err = compute(ctx)
}

// over reports whether the interval of a result has ended. A computation that still runs is never over.
func (c *cache) over(f *flight) bool {
	select {
	case <-f.done:
	default:
		return false
	}
	shown := c.every
	if f.err != nil {
		shown = min(shown, retryAfter)
	}
	return c.now().Sub(f.began) >= shown
}

// makeRoom drops results whose interval has ended, once per interval, and the oldest result if there are too many. The caller holds mu.
func (c *cache) makeRoom() {
	if c.now().Sub(c.swept) >= c.every {
		c.swept = c.now()
		for id, f := range c.reports {
			if c.over(f) {
				delete(c.reports, id)
			}
		}
	}
	if len(c.reports) < maxCached {
		return
	}
	oldest := ""
	for id, f := range c.reports {
		if oldest == "" || f.began.Before(c.reports[oldest].began) {
			oldest = id
		}
	}
	delete(c.reports, oldest)
}

// forget drops the figures of a report that is not shared any more.
func (c *cache) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reports, id)
}
