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

// get returns the store that Use was given, or one that fails.
func (l *Late) get() Store {
	if s := l.store.Load(); s != nil {
		return *s
	}
	return unopened{}
}

// Insert implements Store.
func (l *Late) Insert(ctx context.Context, b Batch) error { return l.get().Insert(ctx, b) }

// Marks implements Store.
func (l *Late) Marks(ctx context.Context) ([]Mark, error) { return l.get().Marks(ctx) }

// Lines implements Store.
func (l *Late) Lines(ctx context.Context, q Query) ([]Line, error) { return l.get().Lines(ctx, q) }

// Breakdown implements Store.
func (l *Late) Breakdown(ctx context.Context, sc Scope, dims []Dimension, limit int) (map[Dimension][]Count, error) {
	return l.get().Breakdown(ctx, sc, dims, limit)
}

// Clicks implements Store.
func (l *Late) Clicks(ctx context.Context, sc Scope, limit int, f func(*Row) error) error {
	return l.get().Clicks(ctx, sc, limit, f)
}

// Losses implements Store.
func (l *Late) Losses(ctx context.Context) (uint64, error) { return l.get().Losses(ctx) }

// Gaps implements Store.
func (l *Late) Gaps(ctx context.Context, since time.Time, limit int) ([]Gap, error) {
	return l.get().Gaps(ctx, since, limit)
}

// Drift implements Store.
func (l *Late) Drift(ctx context.Context, from, to time.Time) (Drift, error) {
	return l.get().Drift(ctx, from, to)
}

// Reclassify implements Store.
func (l *Late) Reclassify(ctx context.Context, sc Scope, f func(*Row, bool) bool) (int, error) {
	return l.get().Reclassify(ctx, sc, f)
}

// Erase implements Store.
func (l *Late) Erase(ctx context.Context, ip netip.Addr) (int64, error) {
	return l.get().Erase(ctx, ip)
}

// Expire implements Store.
func (l *Late) Expire(ctx context.Context, before time.Time) error {
	return l.get().Expire(ctx, before)
}

// MovesPosition implements Store.
func (l *Late) MovesPosition(ctx context.Context, log uint64) (Position, error) {
	return l.get().MovesPosition(ctx, log)
}

// InsertMoves implements Store.
func (l *Late) InsertMoves(ctx context.Context, log uint64, list []Move, to Position) error {
	return l.get().InsertMoves(ctx, log, list, to)
}

// Ping implements Store.
func (l *Late) Ping(ctx context.Context) error { return l.get().Ping(ctx) }

// Close implements Store. It closes the store that Use was given.
func (l *Late) Close() error { return l.get().Close() }

// unopened is the store before Use.
type unopened struct{}

var errNotOpen = &problem.Error{Kind: problem.Unavailable, Message: "The click store is not available at the moment. Try again shortly.",
	RetryAfter: 5 * time.Second}

func (unopened) Insert(context.Context, Batch) error { return errNotOpen }

func (unopened) Marks(context.Context) ([]Mark, error) { return nil, errNotOpen }

func (unopened) Lines(context.Context, Query) ([]Line, error) { return nil, errNotOpen }

func (unopened) Breakdown(context.Context, Scope, []Dimension, int) (map[Dimension][]Count, error) {
	return nil, errNotOpen
}

func (unopened) Clicks(context.Context, Scope, int, func(*Row) error) error { return errNotOpen }

func (unopened) Losses(context.Context) (uint64, error) { return 0, errNotOpen }

func (unopened) Gaps(context.Context, time.Time, int) ([]Gap, error) { return nil, errNotOpen }

func (unopened) Drift(context.Context, time.Time, time.Time) (Drift, error) {
	return Drift{}, errNotOpen
}

func (unopened) Reclassify(context.Context, Scope, func(*Row, bool) bool) (int, error) {
	return 0, errNotOpen
}

func (unopened) Erase(context.Context, netip.Addr) (int64, error) { return 0, errNotOpen }

func (unopened) Expire(context.Context, time.Time) error { return errNotOpen }

func (unopened) MovesPosition(context.Context, uint64) (Position, error) {
	return Position{}, errNotOpen
}

func (unopened) InsertMoves(context.Context, uint64, []Move, Position) error { return errNotOpen }

func (unopened) Ping(context.Context) error { return errNotOpen }

func (unopened) Close() error { return nil }
