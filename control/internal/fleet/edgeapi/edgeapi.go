// Package edgeapi serves edges in other processes over HTTP: links, reports and the lockout exchange.
//
//	GET  /edge/v1/snapshot                      the newest full document; supports ranges and ETag, so an edge can resume
//	GET  /edge/v1/changes?incarnation=&after=   the delta after a revision, held until there is one. 204: ask again.
//	                                            410: too old, take a snapshot. The header Shortline-Edge names the edge
//	                                            that asks, which has applied that revision.
//	GET  /edge/v1/hosts?incarnation=&after=     the host names of custom domains that changed after a revision, held until
//	                                            there is a change. 204: ask again. A revision that is not known gets all.
//	POST /edge/v1/status                        the status of an edge as JSON. 204, or 200 with orders and
//	                                            acknowledgements as JSON. 409: another live edge has the same id. 403: the
//	                                            edge belongs to another token.
//	POST /edge/v1/reports                       a visitor's report of a link as JSON. 204: stored. 410: no such link. 429: too
//	                                            many reports came from the client.
//	POST /edge/v1/guesses                       password attempts since the last report as JSON; 200 with the failures of
//	                                            those clients at all edges as JSON
//	GET  /edge/v1/guesses?after=                the failures of all clients that changed after a version, held until there
//	                                            is a change. 204: ask again.
//	POST /edge/v1/limits                        clicks of limited links as JSON; 200 with the totals that changed as JSON
//
// It authenticates edges: an edge presents one of the tokens as a bearer token, and cannot report for an edge that belongs
// to another token. It limits concurrent requests of each kind. Tokens are compared in constant time and never logged.
// Slow or silent edges do not block other edges. Documents contain password hashes, so the listener should encrypt
// connections. Edges verify answers themselves (package snapshot), so nothing here does.
package edgeapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/snapshot"
)

// Prefix is the common prefix of all paths that Server serves.
const Prefix = "/edge/v1/"

// MinToken is the minimum length of a token in bytes.
const MinToken = 16

// Config holds the settings of a Server. Tokens are required.
type Config struct {
	// Tokens authenticate edges. Each entry is a token or name=token. With several, a token can be replaced without an
	// interruption.
	Tokens []string
	// Senders is the maximum number of snapshots that are sent at a time; 0 means 4.
	Senders int
	// Held is the maximum number of requests for changes that are held at a time; 0 means 4,096.
	Held int
	// Hold is how long a request is held without a change; 0 means 25 s.
	Hold time.Duration
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Validate reports all problems in one error. The error contains no token.
func (c Config) Validate() error {
	var problems []error
	if len(c.Tokens) == 0 {
		problems = append(problems, errors.New("EDGE_TOKENS: at least one token is required"))
	}
	for i, t := range c.Tokens {
		if len(t) < MinToken || strings.ContainsAny(t, " \t\r\n") {
			problems = append(problems, fmt.Errorf("EDGE_TOKENS: token %d must have at least %d bytes and no spaces", i+1, MinToken))
		}
	}
	if c.Senders < 0 || c.Held < 0 || c.Hold < 0 {
		problems = append(problems, fmt.Errorf("edgeapi: negative setting: %d senders, %d held, %v", c.Senders, c.Held, c.Hold))
	}
	return errors.Join(problems...)
}

// Deps are the capabilities that a Server offers to edges. All are required.
type Deps struct {
	Links   snapshot.Source
	Reports snapshot.Reporter // presence.ErrForeign is answered with 403
	Lockout lockout.Exchange
	Limits  limit.Exchange
	Hosts   snapshot.HostSource // nil: requests for hosts get 404
	Abuse   abuse.ReportSink    // nil: reports of links get 404
}

// Limits of one request. They replace the write timeout of the HTTP server.
const (
	writeStall  = 30 * time.Second // for one write to a slow edge
	sendTimeout = 30 * time.Minute // for a whole snapshot
	statusBytes = 256 << 10        // enough for a reason for each of 100 links
	maxEdgeID   = 64
	retryAfter  = "2" // seconds
)

// Server is an http.Handler for the paths below Prefix.
type Server struct {
	metric.Set // makes it a prometheus.Collector

	cfg         Config
	deps        Deps
	log         *slog.Logger
	tokens      Tokens
	identities  []string // of tokens
	mux         *http.ServeMux
	senders     chan struct{} // one entry for each snapshot that is being sent
	held        chan struct{} // one for each held request for changes
	heldLockout chan struct{} // one for each held request for lockout changes; the same limit as held
	heldHosts   chan struct{} // one for each held request for hosts; the same limit as held

	refused  atomic.Uint64
	answered [routes][6]atomic.Uint64 // by the first digit of the status code
}

const (
	routeSnapshot = iota
	routeChanges
	routeStatus
	routeAttempts
	routeStates
	routeLimits
	routeAbuse
	routeHosts
	routes
)

var routeNames = [routes]string{"snapshot", "changes", "status", "told", "guesses", "limits", "reports", "hosts"}

// New returns a Server. The error names all problems of the settings.
func New(cfg Config, deps Deps) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Hold = cmp.Or(cfg.Hold, 25*time.Second)
	s := &Server{
		cfg: cfg, deps: deps, log: cmp.Or(cfg.Logger, slog.Default()), mux: http.NewServeMux(),
		senders: make(chan struct{}, cmp.Or(cfg.Senders, 4)), held: make(chan struct{}, cmp.Or(cfg.Held, 4096)),
	}
	s.heldLockout = make(chan struct{}, cap(s.held))
	s.heldHosts = make(chan struct{}, cap(s.held))
	s.Set = s.metrics()
	s.tokens = NewTokens(cfg.Tokens)
	s.identities = s.tokens.identities()
	s.mux.HandleFunc("GET "+Prefix+"snapshot", s.route(routeSnapshot, s.snapshot))
	s.mux.HandleFunc("GET "+Prefix+"changes", s.route(routeChanges, s.changes))
	s.mux.HandleFunc("GET "+Prefix+"hosts", s.route(routeHosts, s.hosts))
	s.mux.HandleFunc("POST "+Prefix+"status", s.route(routeStatus, s.status))
	s.mux.HandleFunc("POST "+Prefix+"reports", s.route(routeAbuse, s.abuseReport))
	s.mux.HandleFunc("POST "+Prefix+"guesses", s.route(routeAttempts, s.reportAttempts))
	s.mux.HandleFunc("POST "+Prefix+"limits", s.route(routeLimits, s.shareCounts))
	s.mux.HandleFunc("GET "+Prefix+"guesses", s.route(routeStates, s.stateChanges))
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, control: http.NewResponseController(w), code: http.StatusOK, last: time.Now().Add(sendTimeout)}
	defer a.end()
	w = a
	w.Header().Set("Cache-Control", "no-store")
	identity, ok := s.tokens.identify(bearer(r))
	if !ok {
		s.refused.Add(1)
		w.Header().Set("WWW-Authenticate", `Bearer realm="edge"`)
		http.Error(w, "a token of an edge is required", http.StatusUnauthorized)
		return
	}
	s.mux.ServeHTTP(w, r.WithContext(presence.WithCaller(r.Context(), presence.Caller{Identity: identity, Identities: s.identities})))
}

func (s *Server) route(which int, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		if a, ok := w.(*answer); ok {
			s.answered[which][min(a.code/100, 5)].Add(1)
		}
	}
}

// answer extends the write deadline at each write. It deliberately has no ReadFrom, which would be a single write.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	code    int
	last    time.Time
}

func (a *answer) WriteHeader(code int) {
	a.code = code
	a.extend()
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(b []byte) (int, error) {
	a.extend()
	return a.ResponseWriter.Write(b)
}

func (a *answer) extend() {
	next := time.Now().Add(writeStall)
	if next.After(a.last) {
		next = a.last
	}
	_ = a.control.SetWriteDeadline(next) // fails only on connections without deadlines, as in tests
}

// end removes the deadline, so that it does not apply to the next request on the connection.
func (a *answer) end() {
	_ = a.control.Flush()
	_ = a.control.SetWriteDeadline(time.Time{})
}

func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	select {
	case s.senders <- struct{}{}:
		defer func() { <-s.senders }()
	default:
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "too many snapshots are being sent", http.StatusTooManyRequests)
		return
	}
	doc, err := s.deps.Links.Snapshot(r.Context())
	if err != nil {
		s.fail(w, r, "open a snapshot", err)
		return
	}
	defer doc.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	file, ok := doc.(io.ReadSeeker)
	if !ok {
		// A broken copy needs no handling here: the edge verifies the checksum of the document.
		_, _ = io.Copy(w, doc)
		return
	}
	tag, err := etag(file)
	if err != nil {
		s.fail(w, r, "read a snapshot", err)
		return
	}
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, file)
}

// etag returns the ETag of a document: its last bytes, which are its checksum.
func etag(doc io.ReadSeeker) (string, error) {
	const sum = sha256.Size + 2
	if _, err := doc.Seek(-sum, io.SeekEnd); err != nil {
		return "", err
	}
	var b [sum]byte
	if _, err := io.ReadFull(doc, b[:]); err != nil {
		return "", err
	}
	_, err := doc.Seek(0, io.SeekStart)
	return `"` + base64.RawURLEncoding.EncodeToString(b[:]) + `"`, err
}

// acquire takes a slot for a held request. If there is none, it answers 429 and returns false.
func acquire(slots chan struct{}, w http.ResponseWriter) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "too many requests are held", http.StatusTooManyRequests)
		return false
	}
}

func (s *Server) changes(w http.ResponseWriter, r *http.Request) {
	s.await(w, r, s.held, "build changes", s.deps.Links.Changes)
}

// hosts answers with the host names of custom domains that changed.
func (s *Server) hosts(w http.ResponseWriter, r *http.Request) {
	if s.deps.Hosts == nil {
		http.NotFound(w, r)
		return
	}
	s.await(w, r, s.heldHosts, "read hosts", s.deps.Hosts.Hosts)
}

// await holds a request for what is new after a cursor until there is something.
func (s *Server) await(w http.ResponseWriter, r *http.Request, held chan struct{}, what string,
	next func(context.Context, snapshot.Cursor) ([]byte, error)) {
	query := r.URL.Query()
	incarnation, err1 := strconv.ParseUint(query.Get("incarnation"), 10, 64)
	after, err2 := strconv.ParseUint(query.Get("after"), 10, 64)
	if err1 != nil || err2 != nil {
		http.Error(w, "incarnation and after must be numbers", http.StatusBadRequest)
		return
	}
	if !acquire(held, w) {
		return
	}
	defer func() { <-held }()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Hold)
	defer cancel()
	if edge := r.Header.Get(snapshot.AskerHeader); edge != "" && len(edge) <= maxEdgeID {
		ctx = snapshot.WithAsker(ctx, edge)
	}
	wire, err := next(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: after})
	switch {
	case errors.Is(err, snapshot.ErrTooOld):
		http.Error(w, "take a snapshot", http.StatusGone)
	case err == nil && wire == nil, err != nil && ctx.Err() != nil:
		w.WriteHeader(http.StatusNoContent)
	case err != nil:
		s.fail(w, r, what, err)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.Itoa(len(wire)))
		for len(wire) > 0 { // in parts, each with its own write deadline
			n, err := w.Write(wire[:min(len(wire), 64<<10)])
			if err != nil {
				return
			}
			wire = wire[n:]
		}
	}
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	var st snapshot.Status
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, statusBytes)).Decode(&st); err != nil {
		http.Error(w, "the body is not a status", http.StatusBadRequest)
		return
	}
	if st.Edge == "" || len(st.Edge) > maxEdgeID || len(st.SetAside) > 100 || len(st.SetAsideReasons) > 100 || len(st.Run) > 64 ||
		len(st.Before) > 64 || len(st.Address) > 255 || len(st.Repairs) > snapshot.MaxOrders {
		http.Error(w, "a status must name its edge, and at most 100 links and 64 repairs", http.StatusBadRequest)
		return
	}
	if st.Missing != nil {
		if err := st.Missing.Validate(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	answer, err := s.deps.Reports.Report(r.Context(), st)
	switch {
	case errors.Is(err, snapshot.ErrTwin):
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, presence.ErrForeign):
		http.Error(w, err.Error(), http.StatusForbidden)
	case err != nil:
		s.fail(w, r, "record a status", err)
	case len(answer.Orders) == 0 && answer.MissingTaken == 0:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // orders that do not arrive are repeated later
	}
}

// fail answers 503 for an internal error. Only the log contains the error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, operation string, err error) {
	if r.Context().Err() == nil {
		s.log.Error("edge request failed", "operation", operation, "error", err.Error())
	}
	w.Header().Set("Retry-After", retryAfter)
	http.Error(w, "temporarily unavailable", http.StatusServiceUnavailable)
}

func (s *Server) metrics() metric.Set {
	set := metric.Set{
		metric.Total("shortline_edgeapi_refused_total", "Requests without a valid token.", s.refused.Load),
		metric.Gauge("shortline_edgeapi_snapshots_sending", "Snapshots being sent now.", func() int { return len(s.senders) }),
	}
	for i := range s.answered {
		for class := 2; class <= 5; class++ {
			set = append(set, metric.Total("shortline_edgeapi_answers_total", "Answers to edges.", s.answered[i][class].Load, "route",
				routeNames[i], "code", strconv.Itoa(class)+"xx"))
		}
	}
	return set
}
