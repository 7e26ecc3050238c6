package presence

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// Positions knows how far each connected edge has applied the changes of links, so that the answer to a change can wait
// for the edges. It is safe for concurrent use.
//
// An edge that asks for the changes after a revision has applied that revision; this is the fastest signal (see Observe).
// Edges of older releases do not name themselves when they ask, so only their reports show how far they are. With several
// replicas an edge asks only one of them. A replica that waits for a revision therefore announces that revision, and the
// other replicas announce which of their edges have applied it. If an announcement gets lost, the reports in the database
// serve instead; they lag some seconds behind.
//
// An edge counts as connected for Alive after its last request or report.
type Positions struct {
	cfg     PositionsConfig
	store   *store.Store
	replica string // names this process in announcements

	mu       sync.Mutex
	edges    map[string]*position
	moved    chan struct{} // closed and replaced when an edge applies something
	wanted   snapshot.Cursor
	until    time.Time     // end of the interest in wanted
	announce chan struct{} // capacity 1: edges have reached wanted
}

// PositionsConfig has a working zero value.
type PositionsConfig struct {
	// Local means that there is exactly one edge, in this process. Otherwise edges may be connected to other replicas.
	Local bool
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

type position struct {
	applied   snapshot.Cursor
	seen      time.Time
	announced snapshot.Cursor // last announced to other replicas
	remote    bool            // the edge is connected to another replica
}

const (
	pollEvery = 250 * time.Millisecond // of the database, while Await waits
	wantedFor = 12 * time.Second       // longer than any caller waits
)

// NewPositions returns Positions that share an open store with other replicas.
func NewPositions(cfg PositionsConfig, st *store.Store) *Positions {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Positions{cfg: cfg, store: st, replica: store.NewID(), edges: map[string]*position{}, moved: make(chan struct{}),
		announce: make(chan struct{}, 1)}
	if !cfg.Local {
		st.OnAnnouncement(p.receive)
	}
	return p
}

// Observe returns a Source that records in p from which cursor each edge asks for changes.
func (p *Positions) Observe(links snapshot.Source) snapshot.Source { return observed{links, p} }

type observed struct {
	snapshot.Source
	positions *Positions
}

func (o observed) Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	if edge := snapshot.Asker(ctx); edge != "" {
		o.positions.Applied(edge, after)
	}
	return o.Source.Changes(ctx, after)
}

// Applied records that an edge connected to this replica has applied a cursor.
func (p *Positions) Applied(edge string, at snapshot.Cursor) {
	p.note(edge, at, p.cfg.Now(), false)
}

// note records the cursor of an edge at a time. remote means that the edge is connected to another replica.
func (p *Positions) note(edge string, applied snapshot.Cursor, seen time.Time, remote bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.edges[edge]
	if e == nil {
		if len(p.edges) >= maxEdges {
			p.removeStale(p.cfg.Now())
		}
		if len(p.edges) >= maxEdges {
			return
		}
		e = &position{}
		p.edges[edge] = e
	}
	newer := !seen.Before(e.seen)
	// Reports and requests overtake each other, so within one incarnation a lower revision is outdated. Cursors of
	// different incarnations cannot be compared, so the newest one counts. A restored database has a new incarnation.
	if same := applied.Incarnation == e.applied.Incarnation; same && applied.Revision > e.applied.Revision || !same && newer {
		e.applied = applied
		close(p.moved)
		p.moved = make(chan struct{})
	}
	if newer {
		e.seen, e.remote = seen, remote
	}
	if p.due(e, p.cfg.Now()) {
		wake(p.announce)
	}
}

// removeStale removes edges that are not connected. The caller holds mu.
func (p *Positions) removeStale(now time.Time) {
	for id, e := range p.edges {
		if now.Sub(e.seen) > Alive {
			delete(p.edges, id)
		}
	}
}

// due reports whether another replica waits for an announcement of this edge. The caller holds mu.
func (p *Positions) due(e *position, now time.Time) bool {
	return now.Before(p.until) && !e.remote && reached(e.applied, p.wanted) && !reached(e.announced, p.wanted)
}

func reached(at, want snapshot.Cursor) bool {
	return at.Incarnation == want.Incarnation && at.Revision >= want.Revision
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Await waits until every connected edge has applied a revision, or until ctx ends. It returns the number of edges that
// have applied it and the number of connected edges. The end of ctx is no error.
func (p *Positions) Await(ctx context.Context, revision uint64) (applied, connected int, err error) {
	lasting := context.WithoutCancel(ctx) // the numbers are returned even if ctx has ended already
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
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for poll := true; ; {
		p.mu.Lock()
		applied, connected = p.countEdges(want)
		moved := p.moved
		p.mu.Unlock()
		if applied == connected {
			return applied, connected, nil
		}
		if poll && !p.cfg.Local { // repeated, because an announcement can get lost
			poll = false
			p.sendPosition(lasting, fmt.Sprintf("wanted %s %d %d", p.replica, want.Incarnation, want.Revision))
		}
		select {
		case <-moved:
		case <-again.C:
			poll = true
			if !p.cfg.Local {
				if err := p.readReports(lasting); err != nil {
					p.cfg.Logger.Warn("edge reports not readable", "error", err.Error())
				}
			}
		case <-ctx.Done():
			return applied, connected, nil
		}
	}
}

const storeTimeout = 2 * time.Second

func (p *Positions) incarnation(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	n, err := p.store.Incarnation(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the incarnation: %w", err)
	}
	return n, nil
}

// countEdges returns how many edges have applied a cursor, and how many are connected. The caller holds mu.
func (p *Positions) countEdges(want snapshot.Cursor) (applied, connected int) {
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

// readReports records the cursors in the reports of edges that are connected to any replica.
func (p *Positions) readReports(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	reports, err := Reports(ctx, p.store, p.cfg.Now().Add(-Alive).UnixMilli())
	for _, r := range reports {
		p.note(r.Edge, r.Status.Cursor, time.UnixMilli(r.SeenAt), true)
	}
	return err
}

// receive handles an announcement of any replica: "wanted REPLICA INCARNATION REVISION" or
// "applied REPLICA INCARNATION EDGE@REVISION ...".
func (p *Positions) receive(text string) {
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

// want records that another replica waits for a cursor. A replica that asks again has not heard the announcement, which may
// have been lost, so it is repeated.
func (p *Positions) want(c snapshot.Cursor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	if !now.Before(p.until) || c.Incarnation != p.wanted.Incarnation || c.Revision > p.wanted.Revision {
		p.wanted = c
	}
	p.until = now.Add(wantedFor)
	for _, e := range p.edges {
		e.announced = snapshot.Cursor{}
	}
	wake(p.announce)
}

// announcements returns what other replicas wait for, in texts of at most store.MaxAnnouncement bytes.
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

// Run sends announcements to other replicas until ctx ends.
func (p *Positions) Run(ctx context.Context) error {
	for {
		select {
		case <-p.announce:
		case <-ctx.Done():
			return nil
		}
		for _, text := range p.announcements() {
			p.sendPosition(ctx, text)
		}
	}
}

func (p *Positions) sendPosition(ctx context.Context, text string) {
	limited, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := p.store.Announce(limited, text); err != nil && ctx.Err() == nil {
		p.cfg.Logger.Warn("edge positions not announced", "error", err.Error())
	}
}
