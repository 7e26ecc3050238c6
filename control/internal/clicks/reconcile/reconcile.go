// Package reconcile verifies that every click recorded by an edge reaches the click store, and that precomputed figures
// agree with the clicks.
//
// It owns the search for missing clicks, the orders to ship them again, and the figures on which operators are alerted.
// A gap that the edge can still fill is ordered once it is older than Config.After, whichever replica the edge reports
// to. Clicks that edges report as lost because their spool was full count as lost, not as missing. Package edgeapi
// passes orders to edges. The ingester ensures that a repaired click counts once.
//
// Known weaknesses: clicks missing at the end of a lane are noticed only when a later click of the lane arrives. Clicks
// missing before the first click of a lane are never noticed. Duplicate identities of edges are known only from
// rejected reports.
package reconcile

import (
	"cmp"
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
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

// Config has a usable zero value.
type Config struct {
	// Every is the shortest interval between audits; 0 means 1 minute.
	Every time.Duration
	// After is how long clicks must be missing before they are ordered again; 0 means 2 minutes.
	After time.Duration
	// Back limits the search for gaps to clicks of this age; 0 means 24 hours.
	Back time.Duration
	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Auditor searches for missing clicks. Several replicas may run one at the same time; a gap is still recorded once.
type Auditor struct {
	metric.Set // makes it a prometheus.Collector
	job.Group

	cfg    Config
	store  *store.Store
	clicks analytics.Store

	mu      sync.Mutex
	drifted map[int64]int64 // clicks by which precomputed figures differ, by hour in Unix milliseconds

	missing, gone, drift, lost, twins atomic.Int64
	errors                            atomic.Uint64
	last                              atomic.Int64
}

// New returns an Auditor on open stores.
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
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &Auditor{cfg: cfg, store: st, clicks: clicks, drifted: map[int64]int64{}}
	a.Set = a.metrics()
	a.Group = job.Group{{
		Name: "audit_of_clicks", Every: cfg.Every, Do: a.Audit, Logger: cfg.Logger,
		Retry: backoff.Policy{First: cfg.Every, Most: longestPause},
		Rest:  func(took time.Duration) time.Duration { return max(cfg.Every-took, min(auditPause*took, longestPause)) },
	}}
	return a
}

// An audit reads the clicks of a day. So that it stays a small part of the click store's work with many clicks, the pause after
// it is a multiple of its duration. The longest pause is below the limit of the alert on audits that do not run.
const (
	auditPause   = 49
	longestPause = 15 * time.Minute
)

const (
	maxGaps   = 1000
	driftBack = 7 * 24    // hours; each audit compares one of them at random
	twinsBack = time.Hour // how long a rejected duplicate counts
	hour      = int64(time.Hour / time.Millisecond)
)

// Audit searches for gaps and orders those that are older than Config.After. It also compares the precomputed figures
// of one random hour with the clicks, and of the hours that differed before.
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
	ranges := each.Of(found, func(g analytics.Gap) store.ClickRange {
		return store.ClickRange{Edge: fmt.Sprintf("%016x", g.Edge), Range: g.Range}
	})
	before, err := a.store.ClickGaps(ctx)
	if err != nil {
		return fmt.Errorf("read missing clicks: %w", err)
	}
	if len(before)+len(ranges) > 0 { // usually both are empty, and nothing is written
		if err := a.store.Tx(ctx, func(tx *store.Tx) error {
			return tx.NoteGaps(ctx, now.UnixMilli(), now.Add(a.cfg.After).UnixMilli(), ranges)
		}); err != nil {
			return fmt.Errorf("record missing clicks: %w", err)
		}
	}
	after, err := a.store.ClickGaps(ctx)
	if err != nil {
		return fmt.Errorf("read missing clicks: %w", err)
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
			a.cfg.Logger.Error("clicks missing, ordering them again", "edge", r.Edge, "epoch", r.Epoch, "lane", r.Lane, "from",
				r.From, "to", r.To)
		}
		delete(known, r)
	}
	for r := range known {
		a.cfg.Logger.Info("gap closed, reduced or expired", "edge", r.Edge, "epoch", r.Epoch, "lane", r.Lane, "from", r.From, "to", r.To)
	}
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
		// If only a country differs, the totals agree; at least one click is wrong nevertheless.
		off := max(d.Clicks-d.Short, d.Short-d.Clicks, 1)
		a.drifted[at] = off
		if off != was {
			a.cfg.Logger.Error("reports differ from clicks", "hour", time.UnixMilli(at).UTC(), "clicks", d.Clicks, "reported", d.Short)
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
		return fmt.Errorf("read edge reports: %w", err)
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
