// Package reconcile watches that every click an edge has taken arrives in the store, and that what reports are made
// of agrees with the clicks.
//
// It owns the search for clicks that went missing on their way, the orders to ship them once more, and the figures that
// operators are alarmed by. It promises that a gap which the edge can still fill is ordered once it is older than
// Config.After, whichever replica the edge reports to, and that clicks which edges report as lost for want of room
// count as lost and not as missing. How an order reaches an edge is package edgeapi's matter, how a repaired click is
// counted once is the ingester's.
//
// Known weaknesses: what is missing at the end of a lane shows only when a later click of it arrives, and what is
// missing before its first click not at all. Of two edges with one identity it sees what package edgeapi has refused.
package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

// Config has a working zero value.
type Config struct {
	// Every is the time between audits; 0 means a minute.
	Every time.Duration
	// After is how long clicks must be missing before they are ordered again; 0 means 2 minutes.
	After time.Duration
	// Back is how old clicks may be that gaps are looked for among; 0 means 24 hours.
	Back time.Duration
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now tells the time; nil means time.Now.
	Now func() time.Time
}

// Auditor audits. It may run on several replicas at once, which finds nothing twice.
type Auditor struct {
	cfg    Config
	store  *store.Store
	clicks analytics.Store

	mu      sync.Mutex
	drifted map[int64]int64 // clicks by which a store's shortcut was off, by the hour in Unix milliseconds

	gaps, missing, gone, drift, lost, twins atomic.Int64
	errors                                  atomic.Uint64
	last                                    atomic.Int64
}

// New makes an Auditor of open stores.
func New(cfg Config, st *store.Store, clicks analytics.Store) *Auditor {
	if cfg.Every <= 0 {
		cfg.Every = time.Minute
	}
	if cfg.After <= 0 {
		cfg.After = 2 * time.Minute
	}
	if cfg.Back <= 0 {
		cfg.Back = 24 * time.Hour
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Auditor{cfg: cfg, store: st, clicks: clicks, drifted: map[int64]int64{}}
}

// Run audits now and then until ctx ends.
func (a *Auditor) Run(ctx context.Context) error {
	every := time.NewTicker(a.cfg.Every)
	defer every.Stop()
	for {
		if err := a.Audit(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Logger.Error("clicks could not be audited", "error", err.Error())
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
	}
}

const (
	maxGaps   = 1000
	driftBack = 7 * 24    // hours, of which one is compared in each audit
	twinsBack = time.Hour // for how long a refused edge counts
	hour      = int64(time.Hour / time.Millisecond)
)

// Audit looks for gaps, orders those that have been there for long enough, and compares one hour of what the store keeps
// beside its clicks, besides the hours that were found to differ before.
func (a *Auditor) Audit(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			a.errors.Add(1)
		} else {
			a.last.Store(a.cfg.Now().UnixMilli())
		}
	}()
	if err := a.auditGaps(ctx); err != nil {
		return err
	}
	if err := a.auditDrift(ctx); err != nil {
		return err
	}
	lost, err := a.clicks.Losses(ctx)
	if err != nil {
		return fmt.Errorf("count lost clicks: %w", err)
	}
	a.lost.Store(int64(lost))
	return a.auditTwins(ctx)
}

func (a *Auditor) auditGaps(ctx context.Context) error {
	now := a.cfg.Now()
	found, err := a.clicks.Gaps(ctx, now.Add(-a.cfg.Back), maxGaps)
	if err != nil {
		return fmt.Errorf("look for missing clicks: %w", err)
	}
	ranges := make([]store.ClickRange, len(found))
	for i, g := range found {
		ranges[i] = store.ClickRange{Edge: fmt.Sprintf("%016x", g.Edge), Range: g.Range}
	}
	before, err := a.store.ClickGaps(ctx)
	if err != nil {
		return fmt.Errorf("read which clicks are missing: %w", err)
	}
	if len(before)+len(ranges) > 0 { // or there is nothing to write, as there should be
		if err := a.store.Tx(ctx, func(tx *store.Tx) error {
			return tx.NoteGaps(ctx, now.UnixMilli(), now.Add(a.cfg.After).UnixMilli(), ranges)
		}); err != nil {
			return fmt.Errorf("note which clicks are missing: %w", err)
		}
	}
	after, err := a.store.ClickGaps(ctx)
	if err != nil {
		return fmt.Errorf("read which clicks are missing: %w", err)
	}
	var missing, gone int64
	for _, g := range after {
		n := int64(g.Len())
		missing += n
		if g.Held.Valid && g.Held.Int64 == 0 {
			gone += n
		}
	}
	known := make(map[store.ClickRange]bool, len(before))
	for _, g := range before {
		known[g.ClickRange] = true
	}
	for _, r := range ranges {
		if !known[r] {
			a.cfg.Logger.Error("clicks are missing; their edge will be asked for them", "edge", r.Edge, "epoch", r.Epoch, "lane", r.Lane, "from", r.From, "to", r.To)
		}
		delete(known, r)
	}
	for r := range known {
		a.cfg.Logger.Info("clicks that were missing are there, or fewer are missing, or they are too old to look for", "edge", r.Edge, "epoch", r.Epoch, "lane", r.Lane, "from", r.From, "to", r.To)
	}
	a.gaps.Store(int64(len(after)))
	a.missing.Store(missing)
	a.gone.Store(gone)
	return nil
}

func (a *Auditor) auditDrift(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	hours := maps.Clone(a.drifted)
	hours[a.cfg.Now().Truncate(time.Hour).UnixMilli()-(1+rand.Int64N(driftBack))*hour] = 0
	for at, was := range hours {
		d, err := a.clicks.Drift(ctx, time.UnixMilli(at), time.UnixMilli(at+hour))
		if err != nil {
			return fmt.Errorf("compare an hour with its clicks: %w", err)
		}
		if len(d.Hours) == 0 {
			delete(a.drifted, at)
			continue
		}
		// Where only a country differs the clicks do not, but something is wrong with at least one.
		off := max(d.Clicks-d.Short, d.Short-d.Clicks, 1)
		a.drifted[at] = off
		if off != was {
			a.cfg.Logger.Error("reports on an hour differ from its clicks", "hour", time.UnixMilli(at).UTC(), "clicks", d.Clicks, "reported", d.Short)
		}
	}
	var sum int64
	for _, off := range a.drifted {
		sum += off
	}
	a.drift.Store(sum)
	return nil
}

func (a *Auditor) auditTwins(ctx context.Context) error {
	now := a.cfg.Now()
	edges, err := a.store.EdgeReports(ctx, now.Add(-twinsBack).UnixMilli())
	if err != nil {
		return fmt.Errorf("read what edges reported: %w", err)
	}
	n := int64(0)
	for _, e := range edges {
		if e.Twin != "" && e.TwinAt > now.Add(-twinsBack).UnixMilli() {
			n++
		}
	}
	a.twins.Store(n)
	return nil
}
