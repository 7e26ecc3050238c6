// Package lockout counts failed attempts at link passwords for all edges together. Its Counter is the lockout.Exchange
// (shared/lockout) through which edges share their counts.
//
// Reports that arrive at different replicas are counted together, and each report is answered with the new counts. An
// edge that waits for changes receives a change at once from the replica that took the report, and within about 250 ms
// from any other replica. Storage is bounded: an address stays in the database until its failures no longer count, ten
// minutes after the last attempt or the end of the lockout. Beyond MaxRows the rows that would expire first are deleted.
//
// Callers authorize edges and validate reports. Known weakness: replicas compare times by their own clocks.
package lockout

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/lockout"
)

// Config has a working zero value.
type Config struct {
	// Hold is how long StateChanges waits; 0 means 25 s.
	Hold time.Duration
	// MaxRows is how many clients are kept after a sweep; 0 means 100,000.
	MaxRows int
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

const (
	pollEvery  = 250 * time.Millisecond // for reports that other replicas took
	sweepEvery = 30 * time.Second
	maxQueued  = 64 // reports that wait for the one that is being counted
	maxCached  = 16 // answers kept for other edges
)

// Counter implements lockout.Exchange. It is safe for concurrent use. Run polls for reports that other replicas took, and
// deletes rows whose failures no longer count.
type Counter struct {
	job.Group

	cfg     Config
	store   *store.Store
	slot    chan struct{} // capacity 1: one report is counted at a time
	queued  atomic.Int32  // reports, the one that is being counted included
	waiting atomic.Int32  // calls of StateChanges

	mu      sync.Mutex
	version uint64
	changed chan struct{}     // closed and replaced when version changes
	cache   map[uint64]answer // by the version in the call; valid for the current version
}

// answer holds the rows that changed up to a version.
type answer struct {
	next uint64
	rows []store.LinkLockout
}

var _ lockout.Exchange = (*Counter)(nil)

// New returns a Counter that keeps its rows in an open store.
func New(cfg Config, st *store.Store) *Counter {
	cfg.Hold = cmp.Or(cfg.Hold, 25*time.Second)
	cfg.MaxRows = cmp.Or(cfg.MaxRows, 100_000)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	c := &Counter{cfg: cfg, store: st, slot: make(chan struct{}, 1), changed: make(chan struct{}), cache: map[uint64]answer{}}
	c.Group = job.Group{
		{Name: "lockouts", Every: pollEvery, Do: c.poll, Logger: cfg.Logger}, // while it fails, each edge counts failures for itself
		{Name: "old_lockouts", Every: sweepEvery, Do: c.Sweep, Logger: cfg.Logger},
	}
	return c
}

// ReportAttempts implements lockout.Exchange. The caller has validated the report. The error wraps lockout.ErrBusy if too
// many reports are queued.
func (c *Counter) ReportAttempts(ctx context.Context, r lockout.Report) ([]lockout.State, error) {
	if c.queued.Add(1) > maxQueued {
		c.queued.Add(-1)
		return nil, lockout.ErrBusy
	}
	defer c.queued.Add(-1)
	select {
	case c.slot <- struct{}{}:
		defer func() { <-c.slot }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if len(r.Clients) == 0 {
		return nil, nil
	}
	now := c.cfg.Now()
	var rows []store.LinkLockout
	err := c.store.Tx(ctx, func(tx *store.Tx) (err error) {
		reported := make(map[lockout.Client]lockout.Attempts, len(r.Clients))
		rows = rows[:0]
		for _, a := range r.Clients {
			if _, twice := reported[a.Client]; !twice {
				rows = append(rows, store.LinkLockout{Link: a.Link, Client: a.Address.String()})
			}
			reported[a.Client] = a
		}
		rows, err = tx.ChangeLinkLockouts(ctx, rows, func(l *store.LinkLockout) {
			address, _ := netip.ParseAddr(l.Client) // valid: written by the loop above
			addAttempts(l, reported[lockout.Client{Link: l.Link, Address: address}], now)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count password attempts: %w", err)
	}
	if len(rows) > 0 {
		c.advance(rows[0].Version)
	}
	return states(rows, now), nil
}

// addAttempts adds reported attempts to a row.
func addAttempts(l *store.LinkLockout, a lockout.Attempts, now time.Time) {
	var before lockout.Failures
	if l.Version != 0 && !a.Succeeded {
		before = lockout.Failures{Count: l.Count, Last: time.UnixMilli(l.LastAt)}
	}
	after := before.Add(a.Count, now.Add(-time.Duration(a.AgoMs)*time.Millisecond))
	l.Count, l.LastAt, l.ForgetAt = after.Count, after.Last.UnixMilli(), after.ForgetAt().UnixMilli()
}

func states(rows []store.LinkLockout, now time.Time) []lockout.State {
	out := make([]lockout.State, 0, len(rows))
	for _, l := range rows {
		address, err := netip.ParseAddr(l.Client)
		if err != nil {
			continue // not written by this package
		}
		out = append(out, lockout.State{Client: lockout.Client{Link: l.Link, Address: address}, Count: l.Count,
			AgoMs: lockout.Age(time.UnixMilli(l.LastAt), now), Version: l.Version})
	}
	return out
}

// StateChanges implements lockout.Exchange.
func (c *Counter) StateChanges(ctx context.Context, after uint64) (lockout.Changes, error) {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	wait, cancel := context.WithTimeout(ctx, c.cfg.Hold)
	defer cancel()
	c.mu.Lock()
	behind := c.version == 0 || after > c.version
	c.mu.Unlock()
	if behind {
		if err := c.refresh(ctx); err != nil {
			return lockout.Changes{}, err
		}
	}
	for {
		c.mu.Lock()
		version, changed := c.version, c.changed
		c.mu.Unlock()
		reset := after > version // the database was replaced or restored from a backup
		if reset {
			after = 0
		}
		if version > after || reset {
			a, err := c.since(ctx, after, version)
			if err != nil {
				return lockout.Changes{}, err
			}
			if reset || len(a.rows) > 0 {
				return lockout.Changes{Next: a.next, States: states(a.rows, c.cfg.Now())}, nil
			}
			after = a.next
		}
		select {
		case <-changed:
		case <-wait.Done():
			return lockout.Changes{Next: after}, ctx.Err()
		}
	}
}

// since reads the rows that changed after a version, once for all edges that ask from the same version.
func (c *Counter) since(ctx context.Context, after, version uint64) (answer, error) {
	c.mu.Lock()
	a, ok := c.cache[after]
	ok = ok && c.version == version
	c.mu.Unlock()
	if ok {
		return a, nil
	}
	rows, err := c.store.LinkLockoutsAfter(ctx, after, c.cfg.Now().UnixMilli(), lockout.MaxStates-lockout.MaxReported)
	if err != nil {
		return a, fmt.Errorf("read lockouts: %w", err)
	}
	a = answer{max(version, after), rows}
	if n := len(rows); n >= lockout.MaxStates-lockout.MaxReported || n > 0 && rows[n-1].Version > version {
		a.next = rows[n-1].Version // there may be more rows, or newer ones than version
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == version && len(c.cache) < maxCached {
		c.cache[after] = a
	}
	return a, nil
}

// refresh reads the version, which other replicas change too.
func (c *Counter) refresh(ctx context.Context) error {
	version, err := c.store.LinkLockoutVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the version of lockouts: %w", err)
	}
	c.mu.Lock()
	known := c.version
	c.mu.Unlock()
	if version < known { // a report overtook the read, or the database was restored from a backup
		if version, err = c.store.LinkLockoutVersion(ctx); err != nil {
			return err
		}
		c.setVersion(version)
		return nil
	}
	c.advance(version)
	return nil
}

func (c *Counter) advance(version uint64) {
	c.mu.Lock()
	known := c.version
	c.mu.Unlock()
	if version > known {
		c.setVersion(version)
	}
}

func (c *Counter) setVersion(version uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version == c.version {
		return
	}
	c.version = version
	clear(c.cache)
	close(c.changed)
	c.changed = make(chan struct{})
}

// poll looks for changes while edges wait.
func (c *Counter) poll(ctx context.Context) error {
	if c.waiting.Load() == 0 {
		return nil
	}
	return c.refresh(ctx)
}

// Sweep deletes rows whose failures no longer count, and rows beyond MaxRows.
func (c *Counter) Sweep(ctx context.Context) error {
	err := c.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.ForgetLinkLockouts(ctx, c.cfg.Now().UnixMilli(), c.cfg.MaxRows)
	})
	if err != nil {
		return fmt.Errorf("delete old lockouts: %w", err)
	}
	c.mu.Lock()
	clear(c.cache)
	c.mu.Unlock()
	return nil
}
