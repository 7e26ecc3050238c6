package edgeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// Alive is how long after its last report an edge counts as alive: three reports at their usual distance, and some.
const Alive = 35 * time.Second

// What Presence keeps in the store, and how often.
const (
	saveEvery  = 3 * time.Second // for one edge at most, unless it is another run
	flushEvery = time.Second
	keepEdges  = 7 * 24 * time.Hour
	sweepEvery = time.Hour
	maxEdges   = 10_000
	askAgain   = 5 * time.Minute // for clicks that an edge was asked for and that are still missing
	busyWait   = time.Minute
)

// PresenceConfig has a working zero value.
type PresenceConfig struct {
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Positions is told how far edges are; nil means that nobody waits for them.
	Positions *Positions
}

// Documents is a snapshot.Source but for Report.
type Documents interface {
	Snapshot(ctx context.Context) (io.ReadCloser, error)
	Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error)
}

// Presence is a Source that keeps what edges report where every replica can read it, refuses the second of two live
// edges with one identity, and gives edges the orders that wait for them. Snapshot and Changes are delegated to Documents.
// It is a service: Run writes down what was held back.
type Presence struct {
	Documents
	cfg   PresenceConfig
	store *store.Store

	mu    sync.Mutex
	edges map[string]*present // by id

	twins, foreign, errors atomic.Uint64
	saved                  atomic.Int64
}

// present is what this replica knows of one edge.
type present struct {
	run   string
	twin  string // the run that was last refused, and logged
	alien string // the token that was last refused, and logged
	saved time.Time
	held  *store.EdgeReport // not written yet

	seen     time.Time // when its last report was taken
	revision uint64    // what it had applied then
}

var _ snapshot.Reporter = (*Presence)(nil)

// NewPresence makes a Presence.
func NewPresence(cfg PresenceConfig, st *store.Store, from Documents) *Presence {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Presence{Documents: from, cfg: cfg, store: st, edges: map[string]*present{}}
}

// Report is snapshot.Source's.
func (p *Presence) Report(ctx context.Context, s snapshot.Status) error {
	_, err := p.AnswerTo(ctx, s)
	return err
}

// Changes is snapshot.Source's. Who asks has applied what is asked for the changes after.
func (p *Presence) Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	if edge := snapshot.Asker(ctx); edge != "" && p.cfg.Positions != nil {
		p.cfg.Positions.Asked(edge, after)
	}
	return p.Documents.Changes(ctx, after)
}

// errForeign is the error of a report for an edge that belongs to another token.
var errForeign = errors.New("this edge reports with another edge's token")

// AnswerTo is snapshot.Reporter's. A report of a run that another live run has not handed over to is refused with an
// error that wraps snapshot.ErrTwin, and one with the token of another edge with errForeign.
func (p *Presence) AnswerTo(ctx context.Context, s snapshot.Status) (answer snapshot.Answer, err error) {
	repairs := s.Repairs
	s.Repairs = nil
	text, err := json.Marshal(s)
	if err != nil {
		return answer, err
	}
	now := p.cfg.Now()
	r := store.EdgeReport{Edge: s.Edge, Run: s.Run, Status: string(text), SeenAt: now.UnixMilli(), Token: callerOf(ctx).identity}
	soon, err := p.hold(&r, now)
	if err != nil {
		return answer, err
	}
	if !soon {
		if err := p.save(ctx, r, s.Before); err != nil {
			return answer, err
		}
	}
	p.note(&s, now)
	if p.cfg.Positions != nil {
		p.cfg.Positions.Asked(s.Edge, s.Cursor)
	}
	if err := p.repaired(ctx, s.Edge, repairs, now); err != nil {
		return answer, err
	}
	return p.orders(ctx, s.Edge, now)
}

// note remembers how far an edge is.
func (p *Presence) note(s *snapshot.Status, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.edges[s.Edge]; e != nil {
		e.seen, e.revision = now, s.Cursor.Revision
	}
}

// lately is for how long after its last report an edge is counted in metrics.
const lately = 5 * time.Minute

// spread counts the edges that have reported to this process lately, and how far the last of them is behind.
func (p *Presence) spread() (edges int, behind uint64) {
	now, head := p.cfg.Now(), p.store.KnownRevision()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.edges {
		if !e.seen.IsZero() && now.Sub(e.seen) <= lately {
			edges++
			behind = max(behind, head-min(head, e.revision))
		}
	}
	return edges, behind
}

// hold keeps a report back that comes soon after the last one of its run, and reports whether it did.
func (p *Presence) hold(r *store.EdgeReport, now time.Time) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.edges[r.Edge]
	if e == nil {
		if len(p.edges) >= maxEdges {
			return false, errors.New("edgeapi: too many edges have reported")
		}
		e = &present{}
		p.edges[r.Edge] = e
	}
	if e.run != r.Run || now.Sub(e.saved) >= saveEvery {
		e.held = nil
		return false, nil
	}
	e.held = r
	return true, nil
}

func (p *Presence) save(ctx context.Context, r store.EdgeReport, before string) error {
	var refused store.Refusal
	var other store.EdgeReport
	err := p.store.Tx(ctx, func(tx *store.Tx) (err error) {
		refused, other, err = tx.SaveEdgeReport(ctx, r, before, r.SeenAt-Alive.Milliseconds(), callerOf(ctx).all)
		return err
	})
	if err != nil {
		p.errors.Add(1)
		return fmt.Errorf("keep an edge's report: %w", err)
	}
	p.mu.Lock()
	e := p.edges[r.Edge]
	if e == nil {
		e = &present{} // it was swept meanwhile
		p.edges[r.Edge] = e
	}
	news := false
	switch refused {
	case store.Taken:
		e.run, e.saved = r.Run, p.cfg.Now()
	case store.Twin:
		e.run, e.saved = "", time.Time{}
		news = e.twin != r.Run
		e.twin = r.Run
	case store.Foreign: // what is known of the edge itself stays
		news = e.alien != r.Token
		e.alien = r.Token
	}
	p.mu.Unlock()
	switch refused {
	case store.Taken:
		p.saved.Store(r.SeenAt)
		return nil
	case store.Foreign:
		p.foreign.Add(1)
		if news {
			p.cfg.Logger.Error("a report was refused because the edge it names belongs to another token", "edge", r.Edge, "belongs_to", other.Token, "came_with", r.Token)
		}
		return fmt.Errorf("%w: edge %s", errForeign, r.Edge)
	}
	p.twins.Add(1)
	if news {
		p.cfg.Logger.Error("a second edge has the identity of one that is alive; it serves links, and must not ship clicks",
			"edge", r.Edge, "alive", other.Run, "alive_seen", time.UnixMilli(other.SeenAt), "refused", r.Run)
	}
	return fmt.Errorf("%w: edge %s is alive as run %.8s, so run %.8s keeps its clicks; its data folder is a copy of the other's, or the other way round", snapshot.ErrTwin, r.Edge, other.Run, r.Run)
}

// repaired notes what became of orders.
func (p *Presence) repaired(ctx context.Context, edge string, repairs []snapshot.Repair, now time.Time) error {
	if len(repairs) == 0 {
		return nil
	}
	err := p.store.Tx(ctx, func(tx *store.Tx) error {
		for _, r := range repairs {
			due := int64(0)
			switch {
			case r.Again:
				due = now.Add(busyWait).UnixMilli()
			case r.Held > 0:
				due = now.Add(askAgain).UnixMilli() // if they are missing even then, they went missing again
			}
			if err := tx.AnswerGap(ctx, store.ClickRange{Edge: edge, Range: r.Range}, r.Held, r.Refused, due); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note what an edge shipped once more: %w", err)
	}
	for _, r := range repairs {
		p.cfg.Logger.Warn("an edge shipped clicks once more", "edge", edge, "epoch", r.Epoch, "lane", r.Lane, "from", r.From, "to", r.To, "held", r.Held, "refused", r.Refused)
	}
	return nil
}

// orders are those that wait for an edge.
func (p *Presence) orders(ctx context.Context, edge string, now time.Time) (answer snapshot.Answer, err error) {
	some, err := p.store.HasDueGaps(ctx, edge, now.UnixMilli())
	if err != nil || !some {
		return answer, err
	}
	err = p.store.Tx(ctx, func(tx *store.Tx) error {
		list, err := tx.DueGaps(ctx, edge, now.UnixMilli(), now.Add(askAgain).UnixMilli(), snapshot.MaxOrders)
		answer.Orders = nil
		for _, g := range list {
			answer.Orders = append(answer.Orders, g.Range)
		}
		return err
	})
	if err != nil {
		return snapshot.Answer{}, fmt.Errorf("read what an edge is to ship once more: %w", err)
	}
	return answer, nil
}

// Run writes down reports that were held back and, now and then, forgets edges that are long gone. At its end nothing is
// left to write.
func (p *Presence) Run(ctx context.Context) error {
	flush, sweep := time.NewTicker(flushEvery), time.NewTicker(sweepEvery)
	defer flush.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-flush.C:
			p.flush(ctx, false)
		case <-sweep.C:
			p.sweep(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			p.flush(last, true)
			return nil
		}
	}
}

func (p *Presence) flush(ctx context.Context, all bool) {
	now := p.cfg.Now()
	var due []store.EdgeReport
	p.mu.Lock()
	for _, e := range p.edges {
		if e.held != nil && (all || now.Sub(e.saved) >= saveEvery) {
			due = append(due, *e.held)
			e.held, e.saved = nil, now
		}
	}
	p.mu.Unlock()
	if len(due) == 0 {
		return
	}
	err := p.store.Tx(ctx, func(tx *store.Tx) error {
		for _, r := range due {
			if err := tx.RefreshEdgeReport(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		p.saved.Store(now.UnixMilli())
	} else if ctx.Err() == nil {
		p.errors.Add(1)
		p.cfg.Logger.Error("reports of edges could not be kept, their next ones will be", "edges", len(due), "error", err.Error())
	}
}

func (p *Presence) sweep(ctx context.Context) {
	now := p.cfg.Now()
	p.mu.Lock()
	for id, e := range p.edges {
		if e.held == nil && now.Sub(e.saved) > keepEdges {
			delete(p.edges, id)
		}
	}
	p.mu.Unlock()
	err := p.store.Tx(ctx, func(tx *store.Tx) error { return tx.ForgetEdges(ctx, now.Add(-keepEdges).UnixMilli()) })
	if err != nil && ctx.Err() == nil {
		p.errors.Add(1)
		p.cfg.Logger.Error("edges that are long gone could not be forgotten", "error", err.Error())
	}
}

var (
	twinsDesc   = prometheus.NewDesc("shortline_edges_twin_reports_total", "Reports of edges that were refused because another live edge has their identity.", nil, nil)
	foreignDesc = prometheus.NewDesc("shortline_edges_foreign_reports_total", "Reports that were refused because the edge they name belongs to another token.", nil, nil)
	unkeptDesc  = prometheus.NewDesc("shortline_edges_errors_total", "Reports of edges that could not be kept.", nil, nil)
	edgesDesc   = prometheus.NewDesc("shortline_publish_edges", "Edges that have reported to this process within five minutes.", nil, nil)
	behindDesc  = prometheus.NewDesc("shortline_publish_behind_revisions", "How many revisions the one farthest behind of them lacked when it reported, compared with the newest now.", nil, nil)
	keptDesc    = prometheus.NewDesc("shortline_edges_last_success_timestamp_seconds", "When a report of an edge was last kept, 0 for never.", nil, nil)
)

// Describe and Collect make the Presence a prometheus.Collector.
func (p *Presence) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{edgesDesc, behindDesc, twinsDesc, foreignDesc, unkeptDesc, keptDesc} {
		ch <- d
	}
}

// Collect reads the counters, and how far edges are.
func (p *Presence) Collect(ch chan<- prometheus.Metric) {
	edges, behind := p.spread()
	ch <- prometheus.MustNewConstMetric(edgesDesc, prometheus.GaugeValue, float64(edges))
	ch <- prometheus.MustNewConstMetric(behindDesc, prometheus.GaugeValue, float64(behind))
	ch <- prometheus.MustNewConstMetric(twinsDesc, prometheus.CounterValue, float64(p.twins.Load()))
	ch <- prometheus.MustNewConstMetric(foreignDesc, prometheus.CounterValue, float64(p.foreign.Load()))
	ch <- prometheus.MustNewConstMetric(unkeptDesc, prometheus.CounterValue, float64(p.errors.Load()))
	ch <- prometheus.MustNewConstMetric(keptDesc, prometheus.GaugeValue, float64(p.saved.Load())/1000)
}
