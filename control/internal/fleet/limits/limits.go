// Package limits adds up the clicks that edges count at links with a limit. Its Ledger is the limit.Exchange (shared/limit)
// through which edges share their counts.
//
// A report is counted and answered in one transaction, so its answer contains it and everything that was counted before. A
// report that is repeated changes nothing. The transaction that brings a total to its limit marks the link as exhausted.
//
// Callers authorize edges and validate reports. The number of live edges comes from their reports (package presence), so an
// edge that is gone keeps its share for up to 35 seconds.
package limits

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/limit"
)

// Config has a working zero value.
type Config struct {
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

const (
	countEvery = 2 * time.Second // between two looks at which edges are alive
	sweepEvery = time.Minute
	sweepRows  = 10_000
	maxQueued  = 64 // reports with counts that wait for the one that is being counted
)

// Ledger implements limit.Exchange. It is safe for concurrent use. Run deletes counts of links that do not exist any more.
type Ledger struct {
	job.Group

	cfg    Config
	store  *store.Store
	slot   chan struct{} // capacity 1: one report is counted at a time
	queued atomic.Int32  // reports, the one that is being counted included

	mu    sync.Mutex
	edges []string // alive, in order
	read  time.Time
}

var _ limit.Exchange = (*Ledger)(nil)

// New returns a Ledger that keeps its rows in an open store.
func New(cfg Config, st *store.Store) *Ledger {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	l := &Ledger{cfg: cfg, store: st, slot: make(chan struct{}, 1)}
	l.Group = job.Group{{Name: "limit_counts", Every: sweepEvery, Do: l.Sweep, Logger: cfg.Logger}}
	return l
}

// ShareCounts implements limit.Exchange. The caller has validated the report. The error wraps limit.ErrBusy if too many
// reports are queued.
func (l *Ledger) ShareCounts(ctx context.Context, r limit.Report) (answer limit.Answer, err error) {
	edges, err := l.alive(ctx)
	if err == nil {
		answer.Edges, answer.Rank = place(edges, r.Edge)
		if len(r.Counts) > 0 {
			err = l.record(ctx, &r, &answer)
		} else {
			err = l.store.View(ctx, func(c store.Conn) error { return changes(ctx, c, r.After, &answer) })
		}
	}
	if err != nil {
		return limit.Answer{}, fmt.Errorf("share counts of limited links: %w", err)
	}
	return answer, nil
}

// record records a report, one at a time, and reads the changes in the same transaction.
func (l *Ledger) record(ctx context.Context, r *limit.Report, answer *limit.Answer) error {
	if l.queued.Add(1) > maxQueued {
		l.queued.Add(-1)
		return limit.ErrBusy
	}
	defer l.queued.Add(-1)
	select {
	case l.slot <- struct{}{}:
		defer func() { <-l.slot }()
	case <-ctx.Done():
		return ctx.Err()
	}
	counts := each.Of(r.Counts, func(c limit.Count) store.LimitCount {
		return store.LimitCount{LimitKey: store.LimitKey{Link: c.Link, Since: c.Since}, Counter: c.Counter, Clicks: int64(c.Clicks)}
	})
	return l.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.RaiseLimitCounts(ctx, counts); err != nil {
			return err
		}
		return changes(ctx, tx.Conn, r.After, answer)
	})
}

// changes reads the totals that changed after a mark into an answer.
func changes(ctx context.Context, c store.Conn, after uint64, answer *limit.Answer) error {
	mark, err := c.LimitMark(ctx)
	if err != nil {
		return err
	}
	if after > mark { // the database was replaced or restored from a backup
		after = 0
	}
	answer.Next, answer.More, answer.Totals = mark, false, nil
	if mark == after {
		return nil
	}
	const rows = limit.MaxTotals - limit.MaxCounts // the last mark may have more rows, up to a report's
	totals, err := c.LimitTotalsAfter(ctx, after, rows)
	if err != nil {
		return err
	}
	if len(totals) >= rows {
		answer.Next, answer.More = totals[len(totals)-1].Mark, true
	}
	for _, t := range totals {
		answer.Totals = append(answer.Totals, limit.Total{Key: limit.Key{Link: t.Link, Since: t.Since}, Clicks: uint64(t.Clicks)})
	}
	return nil
}

// place returns how many edges are alive, and the place of one of them. An edge that has just started counts too.
func place(alive []string, edge string) (edges, rank int) {
	rank, found := slices.BinarySearch(alive, edge)
	edges = len(alive)
	if !found {
		edges++
	}
	return min(edges, limit.MaxEdges), min(rank, limit.MaxEdges-1)
}

// alive returns the ids of live edges, in order.
func (l *Ledger) alive(ctx context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.cfg.Now()
	if l.edges != nil && now.Sub(l.read) < countEvery {
		return l.edges, nil
	}
	reports, err := l.store.EdgeReports(ctx, now.Add(-presence.Alive).UnixMilli())
	if err != nil {
		return nil, err
	}
	edges := each.At(reports, func(e *store.EdgeReport) string { return e.Edge })
	slices.Sort(edges) // the database may have another order
	l.edges, l.read = edges, now
	return edges, nil
}

// Sweep deletes counts of links that do not exist any more. It also marks links whose limit was lowered below the clicks
// so far by another way than an update, such as a rollback.
func (l *Ledger) Sweep(ctx context.Context) error {
	return l.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.ForgetLimitCounts(ctx, sweepRows); err != nil {
			return err
		}
		return tx.ExhaustLinks(ctx)
	})
}
