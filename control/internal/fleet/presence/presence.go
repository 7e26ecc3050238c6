// Package presence knows which edges are alive and how far each of them has applied the changes of links.
//
// Its Tracker keeps the reports of edges in the store, where every replica can read them. It refuses the second of two
// live edges with one id, and reports for an edge that belongs to another token. It hands out the orders to ship missing
// clicks again. Its Positions let an answer to a change wait until the edges have applied that change.
//
// Callers authenticate edges and validate reports (package edgeapi does both).
package presence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/snapshot"
)

// Alive is how long an edge counts as alive after its last report: three report intervals and a margin.
const Alive = 35 * time.Second

// Limits and intervals of the reports in the store.
const (
	saveEvery  = 3 * time.Second // at most one write per edge in this time, unless its run changes
	flushEvery = time.Second
	keepEdges  = 7 * 24 * time.Hour
	sweepEvery = time.Hour
	maxEdges   = 10_000
	askAgain   = 5 * time.Minute // until an order is repeated whose clicks are still missing
	busyWait   = time.Minute     // until an order is repeated that the edge could not carry out at that time
)

// Config has a working zero value.
type Config struct {
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Positions learns from reports how far edges are; nil means that nothing waits for edges.
	Positions *Positions
}

// Tracker implements snapshot.Reporter. It is safe for concurrent use. Run writes the reports that Report deferred.
type Tracker struct {
	metric.Set // makes it a prometheus.Collector
	job.Group

	cfg   Config
	store *store.Store

	mu    sync.Mutex
	edges map[string]*present // by id

	foreign atomic.Uint64 // refused reports
}

// present is what this replica knows of one edge.
type present struct {
	run      string
	twin     string // the duplicate run that was logged last
	alien    string // the token that was refused and logged last
	saved    time.Time
	deferred *store.EdgeReport // not written yet
}

var _ snapshot.Reporter = (*Tracker)(nil)

// Reported is the last report of an edge.
type Reported struct {
	store.EdgeReport
	Status snapshot.Status // EdgeReport.Status, decoded
}

// Reports lists the last reports of the edges seen since a time in Unix milliseconds, by their ids.
func Reports(ctx context.Context, st *store.Store, since int64) ([]Reported, error) {
	rows, err := st.EdgeReports(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("read edge reports: %w", err)
	}
	out := make([]Reported, len(rows))
	for i, r := range rows {
		out[i].EdgeReport = r
		if err := json.Unmarshal([]byte(r.Status), &out[i].Status); err != nil {
			return nil, fmt.Errorf("read the report of edge %s: %w", r.Edge, err)
		}
	}
	return out, nil
}

// New returns a Tracker that keeps reports in an open store.
func New(cfg Config, st *store.Store) *Tracker {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	t := &Tracker{cfg: cfg, store: st, edges: map[string]*present{}}
	t.Set = metric.Set{
		metric.Total("shortline_edges_foreign_reports_total", "Reports refused because the edge belongs to another token.", t.foreign.Load),
	}
	flush := func(ctx context.Context) error { return t.flush(ctx, false) }
	t.Group = job.Group{
		{Name: "edge_reports", Every: flushEvery, Do: flush, Logger: cfg.Logger},
		{Name: "old_edges", Every: sweepEvery, Do: t.sweep, Logger: cfg.Logger},
		{Name: "missing_slugs", Every: pruneEvery, Do: t.pruneMissing, Logger: cfg.Logger},
	}
	return t
}

type callerKey struct{}

// Caller identifies the sender of a report. The zero value is an edge in this process, which needs no token.
type Caller struct {
	Identity   string   // of the token that was presented
	Identities []string // of all tokens that are valid now
}

// WithCaller sets the sender of a report for Report.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// ErrForeign is wrapped by Report's error if the edge in the report belongs to another token.
var ErrForeign = errors.New("this edge reports with another edge's token")

// Report implements snapshot.Reporter. A run that does not follow the live run of the same edge is refused with
// snapshot.ErrTwin. A report with the token of another edge is refused with ErrForeign.
func (t *Tracker) Report(ctx context.Context, s snapshot.Status) (answer snapshot.Answer, err error) {
	repairs, missing := s.Repairs, s.Missing
	s.Repairs, s.Missing = nil, nil
	text, err := json.Marshal(s)
	if err != nil {
		return answer, err
	}
	now := t.cfg.Now()
	r := store.EdgeReport{Edge: s.Edge, Run: s.Run, Status: string(text), SeenAt: now.UnixMilli(), Token: callerOf(ctx).Identity}
	deferred, err := t.deferWrite(&r, now)
	if err != nil {
		return answer, err
	}
	if !deferred {
		if err := t.save(ctx, r, s.Before); err != nil {
			return answer, err
		}
	}
	if t.cfg.Positions != nil {
		t.cfg.Positions.Applied(s.Edge, s.Cursor)
	}
	if err := t.repaired(ctx, s.Edge, repairs, now); err != nil {
		return answer, err
	}
	if answer, err = t.orders(ctx, s.Edge, now); err == nil {
		answer.MissingTaken = t.countMissing(ctx, s.Edge, s.Run, missing, now)
	}
	return answer, err
}

// deferWrite keeps a report for the next flush if the same run was written recently, and returns whether it did.
func (t *Tracker) deferWrite(r *store.EdgeReport, now time.Time) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.edges[r.Edge]
	if e == nil {
		if len(t.edges) >= maxEdges {
			return false, errors.New("presence: too many edges have reported")
		}
		e = &present{}
		t.edges[r.Edge] = e
	}
	if e.run != r.Run || now.Sub(e.saved) >= saveEvery {
		e.deferred = nil
		return false, nil
	}
	e.deferred = r
	return true, nil
}

func (t *Tracker) save(ctx context.Context, r store.EdgeReport, before string) error {
	var refused store.Refusal
	var other store.EdgeReport
	err := t.store.Tx(ctx, func(tx *store.Tx) (err error) {
		refused, other, err = tx.SaveEdgeReport(ctx, r, before, r.SeenAt-Alive.Milliseconds(), callerOf(ctx).Identities)
		return err
	})
	if err != nil {
		return fmt.Errorf("save an edge's report: %w", err)
	}
	t.mu.Lock()
	e := t.edges[r.Edge]
	if e == nil {
		e = &present{} // a sweep removed it in the meantime
		t.edges[r.Edge] = e
	}
	firstTime := false
	switch refused {
	case store.Taken:
		e.run, e.saved = r.Run, t.cfg.Now()
	case store.Twin:
		e.run, e.saved = "", time.Time{}
		firstTime = e.twin != r.Run
		e.twin = r.Run
	case store.Foreign: // the state of the edge itself stays
		firstTime = e.alien != r.Token
		e.alien = r.Token
	}
	t.mu.Unlock()
	switch refused {
	case store.Taken:
		return nil
	case store.Foreign:
		t.foreign.Add(1)
		if firstTime {
			t.cfg.Logger.Error("report with another edge's token refused", "edge", r.Edge, "belongs_to", other.Token, "came_with", r.Token)
		}
		return fmt.Errorf("%w: edge %s", ErrForeign, r.Edge)
	}
	if firstTime {
		t.cfg.Logger.Error("duplicate edge id refused",
			"edge", r.Edge, "alive", other.Run, "alive_seen", time.UnixMilli(other.SeenAt), "refused", r.Run, "effect",
			"the refused edge serves links and keeps its clicks")
	}
	return fmt.Errorf("%w: edge %s is alive as run %.8s, so run %.8s keeps its clicks; one of the two data folders is a copy of the other",
		snapshot.ErrTwin, r.Edge, other.Run, r.Run)
}

// repaired records the results of orders.
func (t *Tracker) repaired(ctx context.Context, edge string, repairs []snapshot.Repair, now time.Time) error {
	if len(repairs) == 0 {
		return nil
	}
	err := t.store.Tx(ctx, func(tx *store.Tx) error {
		for _, r := range repairs {
			due := int64(0)
			switch {
			case r.Again:
				due = now.Add(busyWait).UnixMilli()
			case r.Held > 0:
				due = now.Add(askAgain).UnixMilli() // clicks that are missing even then were lost again
			}
			if err := tx.AnswerGap(ctx, store.ClickRange{Edge: edge, Range: r.Range}, r.Held, r.Refused, due); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record the clicks that an edge shipped again: %w", err)
	}
	for _, r := range repairs {
		t.cfg.Logger.Warn("edge shipped clicks again", "edge", edge, "epoch", r.Epoch, "lane", r.Lane, "from", r.From, "to", r.To,
			"held", r.Held,
			"refused", r.Refused)
	}
	return nil
}

// orders returns the orders that are due for an edge.
func (t *Tracker) orders(ctx context.Context, edge string, now time.Time) (answer snapshot.Answer, err error) {
	due, err := t.store.HasDueGaps(ctx, edge, now.UnixMilli())
	if err != nil || !due {
		return answer, err
	}
	err = t.store.Tx(ctx, func(tx *store.Tx) error {
		list, err := tx.DueGaps(ctx, edge, now.UnixMilli(), now.Add(askAgain).UnixMilli(), snapshot.MaxOrders)
		answer.Orders = nil
		for _, g := range list {
			answer.Orders = append(answer.Orders, g.Range)
		}
		return err
	})
	if err != nil {
		return snapshot.Answer{}, fmt.Errorf("read the orders for an edge: %w", err)
	}
	return answer, nil
}

// Run writes deferred reports and deletes the rows of edges that were not seen for a week. When ctx ends, it writes the
// remaining reports and returns nil.
func (t *Tracker) Run(ctx context.Context) error {
	err := t.Group.Run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := t.flush(last, true); err != nil {
		t.cfg.Logger.Error("edge reports not saved", "error", err.Error())
	}
	return err
}

func (t *Tracker) flush(ctx context.Context, all bool) error {
	now := t.cfg.Now()
	var due []store.EdgeReport
	t.mu.Lock()
	for _, e := range t.edges {
		if e.deferred != nil && (all || now.Sub(e.saved) >= saveEvery) {
			due = append(due, *e.deferred)
			e.deferred, e.saved = nil, now
		}
	}
	t.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	err := t.store.Tx(ctx, func(tx *store.Tx) error {
		for _, r := range due {
			if err := tx.RefreshEdgeReport(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save the reports of %d edges: %w", len(due), err)
	}
	return nil
}

func (t *Tracker) sweep(ctx context.Context) error {
	now := t.cfg.Now()
	t.mu.Lock()
	for id, e := range t.edges {
		if e.deferred == nil && now.Sub(e.saved) > keepEdges {
			delete(t.edges, id)
		}
	}
	t.mu.Unlock()
	return t.store.Tx(ctx, func(tx *store.Tx) error { return tx.ForgetEdges(ctx, now.Add(-keepEdges).UnixMilli()) })
}
