// Package redirect answers visitors. It finds the link of a request's slug, decides where to send the visitor, records a
// click and sends the answer.
//
// The package guarantees:
//
//   - A redirect waits for nothing, does not allocate and logs nothing.
//   - A click is in the spool before its visitor is answered.
//   - Every request gets a valid HTTP answer, whatever its bytes are.
//   - Password attempts take only a bounded share of the processor from redirects.
//   - Rate limits use a fixed amount of memory.
//
// Other packages hold the links (table), render pages (pages), decide whether a client may try a password (lockout) and compare it
// (passwords), read broken addresses (brokenpath), ship clicks from the spool (ship), forward the control plane's paths (proxy), and
// manage connections and their deadlines (listen).
//
// Some behaviour is not in the specification. A path with a slash after the slug is another path and gets 404, unless the link
// forwards paths. A link whose destination is this host gets 508 and records no click.
package redirect

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/shortline/shortline/edge/internal/brokenpath"
	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/latency"
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/passwords"
	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/edge/internal/ratelimit"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

// Config configures a Handler.
type Config struct {
	// BaseURL is the public address of this service, such as https://sho.rt. Links that lead back to it are not
	// followed. Required.
	BaseURL string
	// ConsoleURL is the address of the console if it is not at BaseURL.
	ConsoleURL string
	// StrictHosts answers 421 if a request's host is neither that of BaseURL or ConsoleURL nor a custom domain in service.
	StrictHosts bool
	// TLS means that the service also has a port for TLS: requests without TLS for hosts with a certificate get 308.
	TLS bool
	// HSTS is the max-age of Strict-Transport-Security for the service's own names, in seconds; 0 means no header. Only a BaseURL
	// with https and without a port has one: browsers apply it to all ports of a host.
	HSTS int64
	// Brand is shown on pages.
	Brand pages.Brand
	// Trusted are the proxies that are trusted to report a client's address.
	Trusted visitor.Prefixes
	// ClientIPHeader is the header in which they report it.
	ClientIPHeader visitor.Source
	// RateLimit is how many requests for links a client may make per minute at this handler; 0 means no limit.
	RateLimit int
	// FreeRedirects exempts successful redirects from RateLimit.
	FreeRedirects bool
	// MaxConnections is the maximum number of connections of the handler's server; 0 means 65,536. See conns.Max.
	MaxConnections int
	// VerifyLimit is how many password comparisons a client may cause per minute; 0 means no limit. A password that was
	// correct a moment ago is not compared again.
	VerifyLimit int
	// HashWait is how long a password waits while others are compared, before it is refused; 0 means 2 s.
	HashWait time.Duration
	// ConversionLimit and ConversionKeyLimit are how many conversions browsers may send per minute from one client and with
	// one publishable key; 0 means no limit.
	ConversionLimit, ConversionKeyLimit int
	// Anonymize is the part of a visitor's address that is removed from clicks. The zero value removes nothing.
	Anonymize visitor.Anonymize
	// HonorDNT neither sets nor reads the visitor's cookie if the request has "DNT: 1" or "Sec-GPC: 1".
	HonorDNT bool
	// Now is the clock for lockouts and expiry. nil means the time at which the server received the request.
	Now func() time.Time
}

// Upstream answers paths that are not links, such as the control plane's.
type Upstream interface {
	// Owns reports whether a path, in its raw form, belongs to the upstream.
	Owns(path []byte) bool
	// Serve answers a request. client is the visitor's address.
	Serve(ctx *fasthttp.RequestCtx, client netip.Addr)
}

// Deps are the dependencies of a Handler. Geo, Agents, Upstream and Ready may be nil. If Lockout is nil, the handler
// creates its own table. If Quota is nil, limits of clicks are not enforced.
type Deps struct {
	Table    *table.Table
	Spool    *spool.Spool
	Agents   *visitor.Agents
	Geo      *visitor.Geo
	Lockout  *lockout.Table
	Quota    *quota.Table
	Hosts    *hosts.Table // host names of custom domains; nil: there are none
	Upstream Upstream
	// Missing counts requests for slugs that do not exist; nil counts none.
	Missing *missing.Table
	// Conversions takes conversions; nil: there is no address for them.
	Conversions ConversionSink
	// Reports takes reports of links; nil: there is no form for them.
	Reports abuse.ReportSink
	// Tracer creates a span for one in sixteen answers, except those of the upstream. nil means no spans.
	Tracer trace.Tracer
	Ready  func() bool // whether the table may be used for answers; nil means always
	// Unready returns the reasons why visitors should be sent to other edges, for /readyz; none means that this edge is
	// ready. Reasons need no escapes in JSON. Visits are answered all the same. It may be nil.
	Unready func() []string
	Logger  *slog.Logger
}

// Handler answers requests. It is safe for concurrent use.
type Handler struct {
	cfg         Config
	deps        Deps
	own         decision.Home
	names       []decision.Home // of the service; the first one is that of BaseURL
	hsts        []byte          // for the service's own names; nil: none
	proxies     proxies         // which header lines have the visitor's address
	base        string          // BaseURL without a trailing slash
	scheme      string          // of BaseURL
	securePort  string          // of https addresses, with a colon; "": 443
	idBase      uint64
	pages       *pages.Service
	tally       *tally
	latency     *latency.Recorder
	passwords   *passwords.Checker
	limiter     *ratelimit.Limiter // nil without a limit
	attempts    *ratelimit.Limiter // limits password comparisons; nil without a limit
	reports     *ratelimit.Limiter // limits reports of links; nil without Reports
	desks       chan struct{}      // one element for each report that waits for the control plane
	conversions *conversionServer  // nil without a ConversionSink
	origin      string             // of BaseURL
	pool        sync.Pool
	loops       atomic.Uint64 // that answer requests
}

// New returns a Handler. The error names every problem of the configuration.
func New(cfg Config, deps Deps) (*Handler, error) {
	own, urlErr := decision.ParseHome(cfg.BaseURL)
	p, brandErr := pages.New(cfg.Brand)
	if err := errors.Join(urlErr, brandErr); err != nil {
		return nil, err
	}
	if deps.Logger == nil {
		deps.Logger = slog.Default()
	}
	if deps.Lockout == nil {
		deps.Lockout = lockout.New(lockout.Config{Now: cfg.Now, Logger: deps.Logger})
	}
	cfg.HashWait = cmp.Or(cfg.HashWait, hashWait)
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	h := &Handler{
		cfg: cfg, deps: deps, own: own, proxies: proxiesOf(&cfg), base: strings.TrimRight(cfg.BaseURL, "/"),
		idBase: binary.LittleEndian.Uint64(seed[:]),
		pages:  p, tally: new(tally), latency: new(latency.Recorder), passwords: passwords.New(cfg.HashWait),
		limiter: ratelimit.New(cfg.RateLimit), attempts: ratelimit.New(cfg.VerifyLimit), names: namesOf(cfg.BaseURL, cfg.ConsoleURL),
	}
	h.conversions = newConversionServer(&cfg, deps.Conversions)
	if deps.Reports != nil {
		h.reports, h.desks, h.origin = ratelimit.New(reportsAMinute), make(chan struct{}, reportsAtOnce), originOf(cfg.BaseURL)
	}
	h.scheme, _, _ = strings.Cut(strings.ToLower(h.base), "://")
	h.securePort, h.hsts = securePortOf(cfg.BaseURL), ownHSTS(&cfg)
	h.pool.New = func() any { return new(work) }
	return h, nil
}

// work is the memory of one request. It returns to a pool when the request is answered.
type work struct {
	request
	visitor.Visitor
	event     click.Event
	receipts  []spool.Receipt // of clicks that must be on the disk before the answer is sent
	location  []byte
	deeper    []byte // the destination with a visitor's path
	guess     brokenpath.Guess
	decoded   []byte // the visitor's UTM values, if they were escaped
	clickID   []byte // for the destination; empty: none
	parameter string // name of the parameter with clickID

	// The redirect.
	status int
	target []byte // value of Location
	cookie []byte // value of Set-Cookie; empty: none
}

// Crawler reports whether the visitor is a preview crawler, for decision.Barrier.
func (w *work) Crawler() bool { return w.Agent().Preview }

// Serve answers one request.
func (h *Handler) Serve(ctx *fasthttp.RequestCtx) {
	defer h.rescue(ctx)
	header := &ctx.Request.Header
	if ambiguous(header.RawHeaders()) {
		h.misframed(ctx, fasthttp.StatusBadRequest)
		return
	}
	t := split(header.RequestURI())
	if h.deps.Hosts != nil {
		host := h.deps.Hosts.Lookup(header.Host())
		if name, secure := listen.Secured(ctx.Conn()); secure || host != nil {
			if h.atHost(ctx, host, name, secure, t) {
				return
			}
			t.take(host)
		}
	}

	if t.slug != nil && len(t.rest) == 0 && (header.IsGet() || header.IsHead()) {
		// -2 means no Content-Length, which is usual for a request without a body.
		if n := header.ContentLength(); n != -2 && !h.framed(ctx, maxIdleBody) {
			return
		}
		if e, ok := h.lookup(&t); ok && !h.misdirected(header.Host(), t) {
			h.visit(ctx, &e, t)
			return
		}
	}
	h.serveOther(ctx, t)
}

// suffixes are the endpoints behind a slug. A request gets the first row whose path and method it has.
var suffixes = []struct {
	path    string
	post    bool // whether the row is only for POST
	maxBody int
	serve   func(*Handler, *fasthttp.RequestCtx, target)
}{
	{path: "/verify", maxBody: maxVerifyBody, serve: (*Handler).verify},
	{path: "/report", post: true, maxBody: maxReportBody, serve: (*Handler).report},
	{path: "/report", maxBody: maxIdleBody, serve: (*Handler).report},
	{path: "/info", maxBody: maxIdleBody, serve: (*Handler).info},
}

// serveOther answers every request that is not a visit of an existing link.
func (h *Handler) serveOther(ctx *fasthttp.RequestCtx, t target) {
	up := h.deps.Upstream
	if up != nil && (t.site != nil || !up.Owns(t.path)) {
		up = nil
	}
	if t.slug == nil && h.conversions != nil && h.serveConversion(ctx, &t) {
		return
	}
	if h.misdirected(ctx.Request.Header.Host(), t) {
		h.refuseHost(ctx, t, h.pages.Refusals[fasthttp.StatusMisdirectedRequest])
		return
	}
	if up != nil {
		if h.framed(ctx, maxProxiedBody) {
			h.tally.add(ctx.ConnID(), cProxied)
			up.Serve(ctx, h.clientIP(ctx))
		}
		return
	}
	if t.slug == nil || len(t.rest) > 0 {
		h.splitExtended(&t)
		h.verifyDeeper(ctx, &t)
		for _, s := range suffixes {
			if string(t.rest) == s.path && (!s.post || ctx.IsPost()) {
				if h.framed(ctx, s.maxBody) && !h.refuseOverLimit(ctx) {
					s.serve(h, ctx, t)
				}
				return
			}
		}
	}
	if !h.framed(ctx, maxIdleBody) {
		return
	}
	if h.serveFixedPath(ctx, t.path) {
		return
	}
	w := h.pool.Get().(*work)
	defer h.pool.Put(w)
	if h.visitAnother(ctx, &t, &w.guess) || h.refuseOverLimit(ctx) {
		return
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		if t.slug != nil && len(t.rest) == 0 {
			if e, ok := h.lookup(&t); ok && h.refuseBeforeStart(ctx, &e) {
				h.refuseMethod(ctx, "GET, HEAD")
				return
			}
		}
	}
	if t.site != nil && h.visitSite(ctx, t) {
		return
	}
	h.missing(ctx)
	if ctx.IsGet() && ctx.Response.StatusCode() == fasthttp.StatusNotFound {
		h.countMissing(t)
	}
}

// missing answers 404. An edge that has not loaded its links yet answers 503, because it does not know all links.
func (h *Handler) missing(ctx *fasthttp.RequestCtx) {
	if h.deps.Ready != nil && !h.deps.Ready() {
		h.refuseUnready(ctx)
		return
	}
	h.tally.add(ctx.ConnID(), cMissing)
	h.refuse(ctx, fasthttp.StatusNotFound)
}

// refuseUnready answers 503 because this edge does not know yet what it needs for an answer.
func (h *Handler) refuseUnready(ctx *fasthttp.RequestCtx) {
	h.refuse(ctx, fasthttp.StatusServiceUnavailable)
	h.tally.add(ctx.ConnID(), cUnavailable)
	ctx.Response.Header.Set("Retry-After", "1")
}

func (h *Handler) serveGone(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cGone)
	h.refuse(ctx, fasthttp.StatusGone)
}

// visit answers a visit of an existing link that the server has parsed.
func (h *Handler) visit(ctx *fasthttp.RequestCtx, e *table.Entry, t target) {
	w := h.pool.Get().(*work)
	defer h.pool.Put(w)
	if !e.Plain() {
		h.deps.Table.Prepare(e)
	}
	if w.of(ctx, h.proxies); h.redirect(w, e, t) && h.durable(w) {
		w.send(ctx)
	}
}

// redirect chooses the destination of a visit of an existing link, and records the click. It reports whether w holds a redirect. If
// not, it has answered in another way, in the request's context.
func (h *Handler) redirect(w *work, e *table.Entry, t target) bool {
	now := h.at(w.arrived)
	h.fillClick(w, t.query, now.UnixMilli())
	if h.limiter != nil && !h.cfg.FreeRedirects && h.refuseVisitOverLimit(w, now) {
		return false
	}
	d := decision.Choice{Target: e.Destination()}
	var presets link.UTM
	var terms table.Terms
	if !e.Plain() {
		h.prepareVisitor(w)
		terms = e.Terms()
		if k := standing(e, &terms, h.exhausted(e, &terms)).Meet(w); k != decision.Follow {
			if h.limiter == nil || !h.cfg.FreeRedirects || !h.refuseVisitOverLimit(w, now) {
				h.stop(w.context(), e, k, t)
			}
			return false
		}
		if terms.Track && h.awaitsKeys(w) {
			return false
		}
		if e.SmartRouting() || e.ABTesting() {
			d = h.choose(w, e, t)
		}
		if e.HasUTM() {
			presets = h.deps.Table.Compiled(e).Record.UTM
		}
	}
	if h.leadsHome(d.Target, t) {
		h.refuseLoop(w.context())
		return false
	}
	if t.deep != 0 {
		d.Target = w.deepen(d.Target, &t)
	}
	if !w.head {
		if terms.Limit.Since != 0 && !h.take(w, e, &terms, t) {
			return false
		}
		recorded := h.click(w, e.Num(), e.Owner(), d, presets)
		if terms.Track {
			h.track(w, e, &terms, recorded)
		}
	}
	w.status, w.target = fasthttp.StatusFound, w.locate(d.Target, presets, t.query)
	if terms.Code != 0 {
		w.status = int(terms.Code)
	}
	return true
}

// fillClick fills w.event with the request's values for a click.
func (h *Handler) fillClick(w *work, query []byte, now int64) {
	w.clickID, w.parameter = w.clickID[:0], ""
	ev := &w.event
	*ev = click.Event{
		Time: now, IP: h.visitorIP(w.conn, &w.facts), Prefetch: w.prefetch,
		UserAgent:      view(w.agent[:min(len(w.agent), click.MaxUserAgent)]),
		Referer:        view(w.referer[:min(len(w.referer), click.MaxReferer)]),
		AcceptLanguage: view(w.language[:min(len(w.language), click.MaxAcceptLanguage)]),
	}
	if len(query) > 0 {
		ev.UTM, w.decoded = link.VisitorUTM(query, w.decoded[:0])
	}
}

// prepareVisitor prepares w.Visitor for decisions. It must follow fillClick.
func (h *Handler) prepareVisitor(w *work) {
	w.Reset(visitor.Input{
		UserAgent: w.agent, AcceptLanguage: w.language, Referer: w.referer,
		UTM: w.event.UTM, IP: w.event.IP, UnixMilli: w.event.Time,
	}, h.deps.Geo, h.deps.Agents)
}

// click appends the visit to the spool and reports whether it is there. The spool counts clicks for which it has no space.
func (h *Handler) click(w *work, num, owner uint64, d decision.Choice, presets link.UTM) bool {
	ev := &w.event
	ev.Link, ev.Owner, ev.Rule, ev.Variant = num, owner, d.Rule, d.Variant
	ev.UTM = ev.UTM.Or(presets)
	ev.IP = h.cfg.Anonymize.Address(ev.IP) // rules and limits have already used the whole address
	receipt, recorded := h.deps.Spool.Put(uint32(w.id), ev)
	if receipt != (spool.Receipt{}) {
		w.receipts = append(w.receipts, receipt)
	}
	h.tally.add(w.id, cRedirects)
	if !d.Rule.IsZero() {
		h.tally.add(w.id, cRules)
	} else if !d.Variant.IsZero() {
		h.tally.add(w.id, cVariants)
	}
	return recorded
}

// locate returns the value of Location. The caller must not change it. It is valid until w is reused.
func (w *work) locate(target string, presets link.UTM, query []byte) []byte {
	if len(query) == 0 && presets.IsZero() && w.parameter == "" {
		// unsafe: the bytes belong to the table or to a plan, which are never written, and the response copies them.
		// In tests they are constants on read-only pages, where a write would fault.
		return unsafe.Slice(unsafe.StringData(target), len(target))
	}
	w.location = link.AppendTracked(w.location[:0], target, presets, query, w.parameter, w.clickID)
	return w.location
}

func (h *Handler) refuseLoop(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cLoops)
	h.refuse(ctx, fasthttp.StatusLoopDetected)
}

func (h *Handler) now(ctx *fasthttp.RequestCtx) time.Time { return h.at(arrival(ctx)) }

// at returns the time of a request that arrived at the given time.
func (h *Handler) at(arrived time.Time) time.Time {
	if h.cfg.Now != nil {
		return h.cfg.Now()
	}
	return arrived
}

// arrival returns the time at which the server received a request. For the loop's requests, only the context's start is set.
func arrival(ctx *fasthttp.RequestCtx) time.Time {
	if t := ctx.Time(); !t.IsZero() {
		return t
	}
	return ctx.ConnTime()
}

// view returns bytes of the request as a string without copying them. That is safe because every user either finishes
// with the string before the request is answered (rules, merging the query) or copies it (the spool). The race detector
// finds a user that does neither.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
