// Package edgeapi is what edges across a network call: a snapshot.Source as HTTP.
//
//	GET  /edge/v1/snapshot                      the newest full document; ranges and ETag, so that it can be resumed
//	GET  /edge/v1/changes?incarnation=&after=   the delta after a revision, held until there is one; 204: ask again,
//	                                            410: too old, take a snapshot. The header Shortline-Edge names the edge
//	                                            that asks, which has applied that revision
//	POST /edge/v1/status                        what an edge says of itself, as JSON; 204, or 200 with orders as JSON;
//	                                            409: another live edge has the same identity; 403: the edge that it
//	                                            names belongs to another token
//	POST /edge/v1/guesses                       guesses at passwords since the last such report, as JSON; 200 with what
//	                                            is held against those clients by all edges, as JSON
//	GET  /edge/v1/guesses?after=                the same of all clients for whom it changed after a mark, held until there
//	                                            is any; 204: ask again
//
// The last two are there where the source is a lockout.Exchange.
//
// It owns who may ask (an edge shows one of the tokens as a bearer token, and reports for no edge that belongs to another
// token) and how many may at once. It promises that
// tokens are compared in a time that doesn't depend on them and never appear in a log, and that slow or silent
// edges hold up nobody else. Documents hold password hashes: the connection should be encrypted, which is left to
// whoever listens. Answers are bytes that the snapshot package verifies, so nothing here does.
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

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/snapshot"
)

// Prefix begins the path of all that Server serves.
const Prefix = "/edge/v1/"

// MinToken is how long a token must be, in bytes.
const MinToken = 16

// Config says who may ask for what. Tokens are required.
type Config struct {
	// Tokens are what edges identify themselves with, each either a token or name=token. Several let an old one be
	// replaced.
	Tokens []string
	// Senders is how many snapshots are sent at a time; 0 means 4.
	Senders int
	// Held is how many questions for changes are held at a time; 0 means 4,096.
	Held int
	// Hold is how long at most; 0 means 25 s.
	Hold time.Duration
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Validate reports every problem, without showing a token.
func (c Config) Validate() error {
	var problems []error
	if len(c.Tokens) == 0 {
		problems = append(problems, errors.New("EDGE_TOKENS: no token is given, so no edge could ask"))
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

// What an answer may take. The server's own write timeout, if it has one, doesn't count here.
const (
	writeStall  = 30 * time.Second // for the next part of an answer to be taken
	sendWithin  = 30 * time.Minute // for a whole snapshot
	statusBytes = 256 << 10        // with a reason for each of 100 links
	maxEdgeID   = 64
	busyAgain   = "2" // seconds
)

// Server is an http.Handler for the paths below Prefix.
type Server struct {
	cfg     Config
	log     *slog.Logger
	source  snapshot.Source
	tokens  Tokens
	all     []string // identities of tokens
	mux     *http.ServeMux
	senders chan struct{}
	held    chan struct{}
	asking  chan struct{} // edges that wait for lockout changes; the same limit as held

	refused  atomic.Uint64
	answered [routes][6]atomic.Uint64 // by the status's first digit
}

const (
	routeSnapshot = iota
	routeChanges
	routeStatus
	routeAttempts
	routeStates
	routes
)

var routeNames = [routes]string{"snapshot", "changes", "status", "told", "guesses"}

// New makes a server of a source. The error names every problem of the settings.
func New(cfg Config, source snapshot.Source) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Hold = cmp.Or(cfg.Hold, 25*time.Second)
	s := &Server{
		cfg: cfg, log: cmp.Or(cfg.Logger, slog.Default()), source: source, mux: http.NewServeMux(),
		senders: make(chan struct{}, cmp.Or(cfg.Senders, 4)), held: make(chan struct{}, cmp.Or(cfg.Held, 4096)),
	}
	s.asking = make(chan struct{}, cap(s.held))
	s.tokens = NewTokens(cfg.Tokens)
	s.all = s.tokens.identities()
	s.mux.HandleFunc("GET "+Prefix+"snapshot", s.route(routeSnapshot, s.snapshot))
	s.mux.HandleFunc("GET "+Prefix+"changes", s.route(routeChanges, s.changes))
	s.mux.HandleFunc("POST "+Prefix+"status", s.route(routeStatus, s.status))
	if ex, ok := source.(lockout.Exchange); ok {
		s.mux.HandleFunc("POST "+Prefix+"guesses", s.route(routeAttempts, s.reportAttempts(ex)))
		s.mux.HandleFunc("GET "+Prefix+"guesses", s.route(routeStates, s.stateChanges(ex)))
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, control: http.NewResponseController(w), code: http.StatusOK, last: time.Now().Add(sendWithin)}
	defer a.end()
	w = a
	w.Header().Set("Cache-Control", "no-store")
	identity, ok := s.tokens.who(bearer(r))
	if !ok {
		s.refused.Add(1)
		w.Header().Set("WWW-Authenticate", `Bearer realm="edge"`)
		http.Error(w, "an edge's token is required", http.StatusUnauthorized)
		return
	}
	s.mux.ServeHTTP(w, r.WithContext(withCaller(r.Context(), caller{identity, s.all})))
}

func (s *Server) route(which int, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		if a, ok := w.(*answer); ok {
			s.answered[which][min(a.code/100, 5)].Add(1)
		}
	}
}

// answer is a response whose every part must be taken in time. It has no ReadFrom on purpose: that would be one part.
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
	_ = a.control.SetWriteDeadline(next) // a connection without deadlines, as in tests, has none to set
}

// end takes the deadline away, so that it doesn't meet another request on the connection.
func (a *answer) end() {
	_ = a.control.Flush()
	_ = a.control.SetWriteDeadline(time.Time{})
}

func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	select {
	case s.senders <- struct{}{}:
		defer func() { <-s.senders }()
	default:
		w.Header().Set("Retry-After", busyAgain)
		http.Error(w, "enough snapshots are being sent", http.StatusTooManyRequests)
		return
	}
	doc, err := s.source.Snapshot(r.Context())
	if err != nil {
		s.fail(w, r, "open a snapshot", err)
		return
	}
	defer doc.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	file, ok := doc.(io.ReadSeeker)
	if !ok {
		// The edge sees by the document's own checksum whether it got all of it.
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

// etag names a document by its last bytes, which are its checksum.
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

// take takes one of the places to wait at, or answers that there is none.
func take(places chan struct{}, w http.ResponseWriter) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
		w.Header().Set("Retry-After", busyAgain)
		http.Error(w, "enough edges are waiting here", http.StatusTooManyRequests)
		return false
	}
}

func (s *Server) changes(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	incarnation, err1 := strconv.ParseUint(query.Get("incarnation"), 10, 64)
	after, err2 := strconv.ParseUint(query.Get("after"), 10, 64)
	if err1 != nil || err2 != nil {
		http.Error(w, "incarnation and after must be numbers", http.StatusBadRequest)
		return
	}
	if !take(s.held, w) {
		return
	}
	defer func() { <-s.held }()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Hold)
	defer cancel()
	if edge := r.Header.Get(snapshot.AskerHeader); edge != "" && len(edge) <= maxEdgeID {
		ctx = snapshot.WithAsker(ctx, edge)
	}
	wire, err := s.source.Changes(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: after})
	switch {
	case errors.Is(err, snapshot.ErrTooOld):
		http.Error(w, "take a snapshot", http.StatusGone)
	case err == nil && wire == nil, err != nil && ctx.Err() != nil:
		w.WriteHeader(http.StatusNoContent)
	case err != nil:
		s.fail(w, r, "build changes", err)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.Itoa(len(wire)))
		for len(wire) > 0 { // in parts, each with its time
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
		http.Error(w, "not a status", http.StatusBadRequest)
		return
	}
	if st.Edge == "" || len(st.Edge) > maxEdgeID || len(st.SetAside) > 100 || len(st.SetAsideReasons) > 100 || len(st.Run) > 64 || len(st.Before) > 64 || len(st.Address) > 255 || len(st.Repairs) > snapshot.MaxOrders {
		http.Error(w, "a status names its edge, and at most 100 links and 64 repairs", http.StatusBadRequest)
		return
	}
	to, ok := s.source.(snapshot.Reporter)
	if !ok {
		if err := s.source.Report(r.Context(), st); err != nil {
			s.fail(w, r, "take a status", err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer, err := to.AnswerTo(r.Context(), st)
	switch {
	case errors.Is(err, snapshot.ErrTwin):
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, errForeign):
		http.Error(w, err.Error(), http.StatusForbidden)
	case err != nil:
		s.fail(w, r, "take a status", err)
	case len(answer.Orders) == 0:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // an edge that doesn't get it is asked again
	}
}

// fail answers an error that is ours. What it was is for the log only.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, doing string, err error) {
	if r.Context().Err() == nil {
		s.log.Error("an edge could not be answered", "doing", doing, "error", err.Error())
	}
	w.Header().Set("Retry-After", busyAgain)
	http.Error(w, "not now", http.StatusServiceUnavailable)
}

var (
	answersDesc = prometheus.NewDesc("shortline_edgeapi_answers_total", "Answers to edges.", []string{"route", "code"}, nil)
	refusedDesc = prometheus.NewDesc("shortline_edgeapi_refused_total", "Requests without a token that is known.", nil, nil)
	sendingDesc = prometheus.NewDesc("shortline_edgeapi_snapshots_sending", "Snapshots that are being sent.", nil, nil)
	heldDesc    = prometheus.NewDesc("shortline_edgeapi_held_requests", "Edges that wait for changes.", nil, nil)
)

// Describe and Collect make the Server a prometheus.Collector.
func (s *Server) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{answersDesc, refusedDesc, sendingDesc, heldDesc} {
		ch <- d
	}
}

// Collect counts answers by the first digit of their status.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	for i := range s.answered {
		for class := 2; class <= 5; class++ {
			ch <- prometheus.MustNewConstMetric(answersDesc, prometheus.CounterValue, float64(s.answered[i][class].Load()), routeNames[i], strconv.Itoa(class)+"xx")
		}
	}
	ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(s.refused.Load()))
	ch <- prometheus.MustNewConstMetric(sendingDesc, prometheus.GaugeValue, float64(len(s.senders)))
	ch <- prometheus.MustNewConstMetric(heldDesc, prometheus.GaugeValue, float64(len(s.held)))
}
