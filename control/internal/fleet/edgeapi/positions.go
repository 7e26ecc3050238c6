package edgeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// Positions knows how far each connected edge has applied the changes of links, so that an answer to a change can wait
// for the edges.
//
// An edge that asks for changes after a revision has applied that revision: this is the fastest signal. An edge of an
// older release doesn't say who it is when it asks; its reports say how far it is. With several replicas an edge asks
// only one of them. So a replica that waits for a revision announces it, and the others announce which of their edges
// have applied it. An announcement can get lost; then the reports in the database, which are some seconds behind, tell.
//
// An edge counts as connected for Alive after it was last heard of.
type Positions struct {
	cfg     PositionsConfig
	store   *store.Store
	replica string // names this process in announcements

	mu     sync.Mutex
	edges  map[string]*position
	moved  chan struct{} // closed and replaced when an edge moves on
	wanted snapshot.Cursor
	until  time.Time     // nobody waits for wanted any more
	tell   chan struct{} // capacity 1: edges have reached wanted
}

// PositionsConfig has a working zero value.
type PositionsConfig struct {
	// Local says that there is one edge, in this process. Otherwise edges may be connected to other replicas.
	Local bool
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now tells the time; nil means time.Now.
	Now func() time.Time
}

type position struct {
	applied   snapshot.Cursor
	seen      time.Time
	announced snapshot.Cursor // last told to other replicas
	away      bool            // it asks another replica
}

const (
	lookAgain = 250 * time.Millisecond // in the database, while edges are awaited
	wantedFor = 12 * time.Second       // longer than anybody waits
)

// NewPositions makes Positions of an open store.
func NewPositions(cfg PositionsConfig, st *store.Store) *Positions {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Positions{cfg: cfg, store: st, replica: store.NewID(), edges: map[string]*position{}, moved: make(chan struct{}), tell: make(chan struct{}, 1)}
	if !cfg.Local {
		st.OnAnnouncement(p.hear)
	}
	return p
}

// Asked notes that an edge has asked this replica for changes after a cursor, or has reported it here: it has applied it.
func (p *Positions) Asked(edge string, applied snapshot.Cursor) {
	p.note(edge, applied, p.cfg.Now(), false)
}

// note takes down what was heard of an edge at a time. away says that it was heard through others.
func (p *Positions) note(edge string, applied snapshot.Cursor, seen time.Time, away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.edges[edge]
	if e == nil {
		if len(p.edges) >= maxEdges {
			p.forget(p.cfg.Now())
		}
		if len(p.edges) >= maxEdges {
			return
		}
		e = &position{}
		p.edges[edge] = e
	}
	newer := !seen.Before(e.seen)
	// Reports and questions overtake each other, so a lower revision is older news. Of another history only the newest
	// word counts: a database that was restored has a new one.
	if same := applied.Incarnation == e.applied.Incarnation; same && applied.Revision > e.applied.Revision || !same && newer {
		e.applied = applied
		close(p.moved)
		p.moved = make(chan struct{})
	}
	if newer {
		e.seen, e.away = seen, away
	}
	if p.due(e, p.cfg.Now()) {
		wakeUp(p.tell)
	}
}

// forget removes edges that are not connected. The caller holds mu.
func (p *Positions) forget(now time.Time) {
	for id, e := range p.edges {
		if now.Sub(e.seen) > Alive {
			delete(p.edges, id)
		}
	}
}

// due reports whether another replica waits to hear of an edge. The caller holds mu.
func (p *Positions) due(e *position, now time.Time) bool {
	return now.Before(p.until) && !e.away && reached(e.applied, p.wanted) && !reached(e.announced, p.wanted)
}

func reached(at, want snapshot.Cursor) bool {
	return at.Incarnation == want.Incarnation && at.Revision >= want.Revision
}

func wakeUp(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Await waits until every connected edge has applied a revision, or ctx ends. It returns how many have, and how many are
// connected.
func (p *Positions) Await(ctx context.Context, revision uint64) (applied, connected int, err error) {
	lasting := context.WithoutCancel(ctx) // the counts are wanted also where ctx ends at once
	incarnation, err := p.incarnation(lasting)
	if err != nil {
		return 0, 0, err
	}
	want := snapshot.Cursor{Incarnation: incarnation, Revision: revision}
	if !p.cfg.Local {
		if err := p.readReports(lasting); err != nil {
			return 0, 0, err
		}
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for look := true; ; {
		p.mu.Lock()
		applied, connected = p.count(want)
		moved := p.moved
		p.mu.Unlock()
		if applied == connected {
			return applied, connected, nil
		}
		if look && !p.cfg.Local { // again and again, since an announcement can get lost
			look = false
			p.announce(lasting, fmt.Sprintf("wanted %s %d %d", p.replica, want.Incarnation, want.Revision))
		}
		select {
		case <-moved:
		case <-again.C:
			look = true
			if !p.cfg.Local {
				if err := p.readReports(lasting); err != nil {
					p.cfg.Logger.Warn("what edges reported could not be read", "error", err.Error())
				}
			}
		case <-ctx.Done():
			return applied, connected, nil
		}
	}
}

const lookUpWithin = 2 * time.Second

func (p *Positions) incarnation(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	n, err := p.store.Incarnation(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the name of the history: %w", err)
	}
	return n, nil
}

// count is how many edges have applied a cursor, and how many are connected. The caller holds mu.
func (p *Positions) count(want snapshot.Cursor) (applied, connected int) {
	now := p.cfg.Now()
	for _, e := range p.edges {
		if now.Sub(e.seen) > Alive {
			continue
		}
		connected++
		if reached(e.applied, want) {
			applied++
		}
	}
	if p.cfg.Local { // the edge may not have asked yet
		connected = max(connected, 1)
	}
	return applied, connected
}

// readReports takes down what the database has of edges that are connected to any replica.
func (p *Positions) readReports(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	reports, err := p.store.EdgeReports(ctx, p.cfg.Now().Add(-Alive).UnixMilli())
	if err != nil {
		return fmt.Errorf("read what edges reported: %w", err)
	}
	for _, r := range reports {
		var st struct{ Cursor snapshot.Cursor }
		if err := json.Unmarshal([]byte(r.Status), &st); err != nil {
			return fmt.Errorf("read what edge %s reported: %w", r.Edge, err)
		}
		p.note(r.Edge, st.Cursor, time.UnixMilli(r.SeenAt), true)
	}
	return nil
}

// hear takes an announcement of any replica.
func (p *Positions) hear(text string) {
	part := strings.Fields(text)
	if len(part) < 4 || part[1] == p.replica {
		return
	}
	incarnation, err := strconv.ParseUint(part[2], 10, 64)
	if err != nil {
		return
	}
	switch part[0] {
	case "wanted":
		if revision, err := strconv.ParseUint(part[3], 10, 64); err == nil {
			p.want(snapshot.Cursor{Incarnation: incarnation, Revision: revision})
		}
	case "applied":
		for _, one := range part[3:] {
			edge, text, ok := strings.Cut(one, "@")
			revision, err := strconv.ParseUint(text, 10, 64)
			if ok && err == nil {
				p.note(edge, snapshot.Cursor{Incarnation: incarnation, Revision: revision}, p.cfg.Now(), true)
			}
		}
	}
}

// want notes that another replica waits for a cursor.
func (p *Positions) want(c snapshot.Cursor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	if !now.Before(p.until) || c.Incarnation != p.wanted.Incarnation || c.Revision > p.wanted.Revision {
		p.wanted = c
	}
	p.until = now.Add(wantedFor)
	wakeUp(p.tell)
}

// announcements are what other replicas wait to hear, in texts that are short enough.
func (p *Positions) announcements() (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	head := fmt.Sprintf("applied %s %d", p.replica, p.wanted.Incarnation)
	text := head
	for id, e := range p.edges {
		if !p.due(e, now) || strings.ContainsAny(id, "@ \t\r\n\v\f\u0085\u00a0") {
			continue
		}
		e.announced = e.applied
		if len(text)+len(id)+24 > store.MaxAnnouncement {
			texts, text = append(texts, text), head
		}
		text += fmt.Sprintf(" %s@%d", id, e.applied.Revision)
	}
	if text != head {
		texts = append(texts, text)
	}
	return texts
}

// Run tells other replicas about the edges that they wait for.
func (p *Positions) Run(ctx context.Context) error {
	for {
		select {
		case <-p.tell:
		case <-ctx.Done():
			return nil
		}
		for _, text := range p.announcements() {
			p.announce(ctx, text)
		}
	}
}

func (p *Positions) announce(ctx context.Context, text string) {
	limited, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	if err := p.store.Announce(limited, text); err != nil && ctx.Err() == nil {
		p.cfg.Logger.Warn("other replicas could not be told how far edges are", "error", err.Error())
	}
}
