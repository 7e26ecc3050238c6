package analytics

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// Late is a Store that is opened after the parts that use it were made. Parts that need no clicks therefore don't wait
// for the click store. Before Use, every method but Close returns a problem.Unavailable.
type Late struct {
	store  atomic.Pointer[Store]
	opened chan struct{}
}

var _ Store = (*Late)(nil)

// NewLate returns a Late without a store.
func NewLate() *Late { return &Late{opened: make(chan struct{})} }

// Use sets the store. It is called at most once.
func (l *Late) Use(s Store) {
	l.store.Store(&s)
	close(l.opened)
}

// Opened is closed by Use: background work waits for it instead of failing until then.
func (l *Late) Opened() <-chan struct{} { return l.opened }

// get returns the store that Use was given.
func (l *Late) get() (Store, error) {
	if s := l.store.Load(); s != nil {
		return *s, nil
	}
	return nil, &problem.Error{Kind: problem.Unavailable, Message: "The click store is not available at the moment. Try again shortly.", RetryAfter: 5 * time.Second}
}

// Insert implements Store.
func (l *Late) Insert(ctx context.Context, b Batch) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Insert(ctx, b)
}

// Marks implements Store.
func (l *Late) Marks(ctx context.Context) ([]Mark, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.Marks(ctx)
}

// Lines implements Store.
func (l *Late) Lines(ctx context.Context, q Query) ([]Line, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.Lines(ctx, q)
}

// Breakdown implements Store.
func (l *Late) Breakdown(ctx context.Context, sc Scope, dims []Dimension, limit int) (map[Dimension][]Count, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.Breakdown(ctx, sc, dims, limit)
}

// Clicks implements Store.
func (l *Late) Clicks(ctx context.Context, sc Scope, limit int, f func(*Row) error) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Clicks(ctx, sc, limit, f)
}

// Losses implements Store.
func (l *Late) Losses(ctx context.Context) (uint64, error) {
	s, err := l.get()
	if err != nil {
		return 0, err
	}
	return s.Losses(ctx)
}

// Gaps implements Store.
func (l *Late) Gaps(ctx context.Context, since time.Time, limit int) ([]Gap, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.Gaps(ctx, since, limit)
}

// Drift implements Store.
func (l *Late) Drift(ctx context.Context, from, to time.Time) (Drift, error) {
	s, err := l.get()
	if err != nil {
		return Drift{}, err
	}
	return s.Drift(ctx, from, to)
}

// Reclassify implements Store.
func (l *Late) Reclassify(ctx context.Context, sc Scope, f func(*Row) bool) (int, error) {
	s, err := l.get()
	if err != nil {
		return 0, err
	}
	return s.Reclassify(ctx, sc, f)
}

// Erase implements Store.
func (l *Late) Erase(ctx context.Context, ip netip.Addr) (int64, error) {
	s, err := l.get()
	if err != nil {
		return 0, err
	}
	return s.Erase(ctx, ip)
}

// Expire implements Store.
func (l *Late) Expire(ctx context.Context, before time.Time) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Expire(ctx, before)
}

// Ping implements Store.
func (l *Late) Ping(ctx context.Context) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Ping(ctx)
}

// Close implements Store. It closes the store that Use was given.
func (l *Late) Close() error {
	if s := l.store.Load(); s != nil {
		return (*s).Close()
	}
	return nil
}
