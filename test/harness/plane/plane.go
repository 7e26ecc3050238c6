// Package plane is a simulated control plane for edges. It serves valid or forged links as the test demands, and records
// the reports of edges. It implements the three paths of the real one and shares only the wire format with it.
package plane

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Token is the token of the edges.
const Token = "a-token-for-edges-of-tests"

// Plane is one simulated control plane. It is safe for concurrent use.
type Plane struct {
	addr   string
	server *http.Server

	mu          sync.Mutex
	changed     chan struct{} // closed at each change
	incarnation uint64
	revision    uint64
	links       map[string]link.Record
	document    []byte // full document of the current revision; nil: not built yet
	forgeries   [][]byte
	forgedDelta bool
	key         snapshot.SigningKey
	asked       int
	reports     []snapshot.Status
}

// New starts a control plane on addr, which a test gets from testkit.FreeAddr. Reopen needs a port that no outgoing connection takes.
func New(addr string) (*Plane, error) {
	p := &Plane{changed: make(chan struct{}), incarnation: uint64(time.Now().UnixNano()), links: map[string]link.Record{}}
	if err := p.listen(addr); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Plane) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	p.addr = l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /edge/v1/snapshot", p.snapshot)
	mux.HandleFunc("GET /edge/v1/changes", p.changes)
	mux.HandleFunc("POST /edge/v1/status", p.status)
	p.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Token {
			http.Error(w, "unknown token", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})}
	go func(s *http.Server) { _ = s.Serve(l) }(p.server) // until Close
	return nil
}

// URL returns the value for CONTROL_URL.
func (p *Plane) URL() string { return "http://" + p.addr }

// Close closes the listener and all connections at once.
func (p *Plane) Close() error { return p.server.Close() }

// Reopen listens on the same port again.
func (p *Plane) Reopen() error { return p.listen(p.addr) }

// Publish adds links, or replaces those with the same slug, in one revision. It returns the revision.
func (p *Plane) Publish(records ...link.Record) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revision++
	for _, r := range records {
		r.Revision = p.revision
		p.links[r.Key] = r
	}
	p.news()
	return p.revision
}

// Sign makes the control plane sign all documents and deltas from now on, including those of Document and Delta.
func (p *Plane) Sign(key snapshot.SigningKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.document = key, nil
}

// Forge serves the given bytes instead of full documents, each once, in turn. Until the last was served it refuses deltas,
// so that edges request full documents.
func (p *Plane) Forge(documents ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgeries = documents
	p.forgedDelta = false
	p.news()
}

// ForgeDeltas serves the given bytes instead of the next deltas, each once, in turn.
func (p *Plane) ForgeDeltas(deltas ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgeries = deltas
	p.forgedDelta = true
	p.news()
}

// Forgeries returns the number of forgeries that were not served yet.
func (p *Plane) Forgeries() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.forgeries)
}

// Document returns a full document of the published links with the given cursor.
func (p *Plane) Document(cur snapshot.Cursor) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.build(cur)
}

// Cursor returns the current cursor.
func (p *Plane) Cursor() snapshot.Cursor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return snapshot.Cursor{Incarnation: p.incarnation, Revision: p.revision}
}

// Delta returns the encoded changes after a revision.
func (p *Plane) Delta(after uint64) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delta(after)
}

// Reports returns the reports of the edges.
func (p *Plane) Reports() []snapshot.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reports)
}

// Requests returns the number of requests by edges.
func (p *Plane) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func (p *Plane) news() {
	p.document = nil
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Plane) build(cur snapshot.Cursor) ([]byte, error) {
	var b bytes.Buffer
	w, err := snapshot.NewFastWriter(&b, cur)
	if err != nil {
		return nil, err
	}
	w.Sign(p.key)
	for _, r := range p.links {
		if err := w.Add(&r); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (p *Plane) delta(after uint64) []byte {
	d := snapshot.Delta{Incarnation: p.incarnation, From: after, To: p.revision}
	for _, r := range p.links {
		if r.Revision > after {
			d.Upserts = append(d.Upserts, r)
		}
		d.After.Add(r.Key, r.Num, r.Revision)
	}
	return snapshot.AppendSignedDelta(nil, &d, p.key)
}

// forged removes the next forgery of a kind and returns it. The caller holds the lock.
func (p *Plane) forged(delta bool) ([]byte, bool) {
	if len(p.forgeries) == 0 || p.forgedDelta != delta {
		return nil, false
	}
	next := p.forgeries[0]
	p.forgeries = p.forgeries[1:]
	return next, true
}

func (p *Plane) snapshot(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	p.asked++
	doc, ok := p.forged(false)
	var err error
	if !ok {
		if p.document == nil {
			p.document, err = p.build(snapshot.Cursor{Incarnation: p.incarnation, Revision: p.revision})
		}
		doc = p.document
	}
	p.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(doc) // the edge detects an incomplete transfer
}

const hold = 20 * time.Second

func (p *Plane) changes(w http.ResponseWriter, r *http.Request) {
	incarnation, _ := strconv.ParseUint(r.URL.Query().Get("incarnation"), 10, 64) // an invalid value matches no incarnation
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	ctx, cancel := context.WithTimeout(r.Context(), hold)
	defer cancel()
	for first := true; ; first = false {
		p.mu.Lock()
		if first {
			p.asked++
		}
		if incarnation != p.incarnation || after > p.revision || len(p.forgeries) > 0 && !p.forgedDelta {
			p.mu.Unlock()
			http.Error(w, "request a snapshot", http.StatusGone)
			return
		}
		wire, ok := p.forged(true)
		if !ok && after < p.revision {
			wire, ok = p.delta(after), true
		}
		changed := p.changed
		p.mu.Unlock()
		if ok {
			_, _ = w.Write(wire) // the edge detects an incomplete transfer
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
}

func (p *Plane) status(w http.ResponseWriter, r *http.Request) {
	var s snapshot.Status
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.reports = append(p.reports, s)
	p.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}
