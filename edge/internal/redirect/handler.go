// Package redirect answers visitors: it turns a request into a slug, the slug into a link, the link and what is
// known of the visitor into a decision, and that into an answer and a click.
//
// It promises that a redirect waits for nobody, allocates nothing and logs nothing; that a click is in the
// spool before its visitor is answered; that whatever bytes a request is made of, it gets an answer of HTTP;
// and that guessing a link's password costs redirects nothing but a bounded share of the processor; and that a limit, if one is set, is kept in fixed memory.
//
// It leaves to others: the links (package table), who may guess a password now (package lockout), where a click goes from
// the spool (package ship), the paths of the control plane (package proxy), the connections and their deadlines (package
// listen).
//
// Choices where the contract is silent: a slug in percent-encoding is not a slug, and a slash after a slug is
// another path; both are 404. A link whose destination turns out to be this very host answers 508, and is no
// click.
package redirect

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	mrand "math/rand/v2"
	"net"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

// Config is what a Handler needs to know.
type Config struct {
	// BaseURL is where visitors reach this service, such as https://sho.rt: links that lead back to it are
	// not followed. Required.
	BaseURL string
	// Brand is what pages carry.
	Brand Brand
	// Trusted are the proxies whose word is taken for a client's address.
	Trusted visitor.Prefixes
	// RateLimit is how many requests for links a client may make in a minute; 0 means no limit. It is this handler's own.
	RateLimit int
	// FreeRedirects leaves visits that lead to a destination out of the limit.
	FreeRedirects bool
	// VerifyLimit is how many passwords of links a client may have compared in a minute; 0 means no limit. A password that was
	// found right a moment ago isn't compared.
	VerifyLimit int
	// Anonymize is what of a visitor's address is left out of clicks; "" is nothing.
	Anonymize visitor.Anonymize
	// Now is the clock of locks and of expiry; nil means the time at which the server took the request.
	Now func() time.Time
}

// Upstream answers the paths that are not links, such as the control plane's.
type Upstream interface {
	// Owns reports whether a path, as it stands in the request, is the upstream's.
	Owns(path []byte) bool
	// Serve answers a request. client is the visitor's address.
	Serve(ctx *fasthttp.RequestCtx, client netip.Addr)
}

// Deps are the parts that a Handler works with. Geo, Agents, Upstream and Ready may be nil; so may Lockout, for a table that
// is this handler's own.
type Deps struct {
	Table    *table.Table
	Spool    *spool.Spool
	Agents   *visitor.Agents
	Geo      *visitor.Geo
	Lockout  *lockout.Table
	Upstream Upstream
	// Tracer makes a span for each answer that is timed, one in sixteen, if it is not the upstream's; nil means none.
	Tracer trace.Tracer
	Ready  func() bool // whether the table is fit to answer from; nil means always
	Logger *slog.Logger
}

// Handler answers requests. It is for any number of goroutines.
type Handler struct {
	cfg      Config
	deps     Deps
	own      decision.Home
	base     string // BaseURL without a slash at its end
	idBase   uint64
	pages    *pages
	policy   []byte
	refusals map[int]*refusal
	tally    *tally
	latency  *latency
	hasher   *hasher
	limiter  *limiter // nil without a limit
	attempts *limiter // of passwords; nil without a limit
	tooMany  *refusal
	pool     sync.Pool
}

// New makes a Handler. The error names everything that is wrong with the configuration.
func New(cfg Config, deps Deps) (*Handler, error) {
	own, urlErr := decision.ParseHome(cfg.BaseURL)
	p, brandErr := newPages(cfg.Brand)
	if err := errors.Join(urlErr, brandErr); err != nil {
		return nil, err
	}
	if deps.Logger == nil {
		deps.Logger = slog.Default()
	}
	if deps.Lockout == nil {
		deps.Lockout = lockout.New(lockout.Config{Now: cfg.Now, Logger: deps.Logger})
	}
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	h := &Handler{
		cfg: cfg, deps: deps, own: own, base: strings.TrimRight(cfg.BaseURL, "/"), idBase: binary.LittleEndian.Uint64(seed[:]),
		pages: p, policy: []byte(p.policy), refusals: newRefusals(p), tally: new(tally), latency: new(latency), hasher: newHasher(),
		limiter: newLimiter(cfg.RateLimit), attempts: newLimiter(cfg.VerifyLimit), tooMany: newTooMany(p),
	}
	h.pool.New = func() any { return new(work) }
	return h, nil
}

// work is the memory of one request. It goes back to a pool when the request is answered.
type work struct {
	visitor.Visitor
	event     click.Event
	location  []byte
	decoded   []byte // the visitor's UTM values where they came escaped
	forwarded [][]byte
}

// Crawler is what a link's barrier asks.
func (w *work) Crawler() bool { return w.Agent().Preview }

// Serve answers one request.
func (h *Handler) Serve(ctx *fasthttp.RequestCtx) {
	defer h.rescue(ctx)
	exact(ctx)
	header := &ctx.Request.Header
	t := split(header.RequestURI())

	if t.slug != nil && len(t.rest) == 0 && (header.IsGet() || header.IsHead()) {
		// The usual length of a request without a body is -2, none given.
		if n := header.ContentLength(); n != -2 && !h.framed(ctx, maxIdleBody) {
			return
		}
		if e, ok := h.deps.Table.Lookup(t.slug); ok {
			h.follow(ctx, &e, t)
			return
		}
	}
	h.others(ctx, t)
}

// others answers what is not a visit of a link that exists.
func (h *Handler) others(ctx *fasthttp.RequestCtx, t target) {
	if t.slug == nil || len(t.rest) > 0 { // else answer looks at it
		header := &ctx.Request.Header
		if a := scanAsker(header.RawHeaders()); misfits(header, a.unsound, a.encoded) {
			h.misframed(ctx)
			return
		}
	}
	if up := h.deps.Upstream; up != nil && up.Owns(t.path) {
		if h.framed(ctx, maxProxiedBody) {
			h.tally.add(ctx.ConnID(), cProxied)
			up.Serve(ctx, h.clientIP(ctx))
		}
		return
	}
	if t.slug == nil || len(t.rest) > 0 {
		switch action := string(t.rest); {
		case action == "/verify":
			if h.framed(ctx, maxVerifyBody) && !h.over(ctx) {
				h.verify(ctx, t)
			}
			return
		case !h.framed(ctx, maxIdleBody):
			return
		case action == "/info":
			if !h.over(ctx) {
				h.info(ctx, t)
			}
			return
		}
	} else if !h.framed(ctx, maxIdleBody) {
		return
	}
	if h.fixed(ctx, t.path) || h.over(ctx) {
		return
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		if t.slug != nil && len(t.rest) == 0 {
			if _, ok := h.deps.Table.Lookup(t.slug); ok {
				h.refuseMethod(ctx, "GET, HEAD")
				return
			}
		}
	}
	h.missing(ctx)
}

// missing answers what leads nowhere. An edge that has no links yet doesn't claim that there is none.
func (h *Handler) missing(ctx *fasthttp.RequestCtx) {
	if h.deps.Ready != nil && !h.deps.Ready() {
		h.refuse(ctx, fasthttp.StatusServiceUnavailable)
		h.unready(ctx)
		return
	}
	h.tally.add(ctx.ConnID(), cMissing)
	h.refuse(ctx, fasthttp.StatusNotFound)
}

func (h *Handler) unready(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cUnavailable)
	ctx.Response.Header.Set("Retry-After", "1")
}

func (h *Handler) gone(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cGone)
	h.refuse(ctx, fasthttp.StatusGone)
}

// follow answers a visit of a link.
func (h *Handler) follow(ctx *fasthttp.RequestCtx, e *table.Entry, t target) {
	w := h.pool.Get().(*work)
	defer h.pool.Put(w)
	header := &ctx.Request.Header
	if !e.Plain() {
		h.deps.Table.Prepare(e)
	}
	now := h.now(ctx).UnixMilli()
	f := h.read(ctx, w, t.query, now)
	if misfits(header, f.unsound, f.encoded) {
		h.misframed(ctx)
		return
	}
	if h.limiter != nil && !h.cfg.FreeRedirects && h.overAt(ctx, h.limiter, w.event.IP) {
		return
	}
	d := decision.Choice{Target: e.Destination()}
	var presets link.UTM
	if !e.Plain() {
		h.meet(ctx, w, f)
		if k := standing(e).Meet(w); k != decision.Follow {
			if h.limiter != nil && h.cfg.FreeRedirects && h.overAt(ctx, h.limiter, w.event.IP) {
				return
			}
			h.stop(ctx, e, k, t)
			return
		}
		if e.SmartRouting() || e.ABTesting() {
			d = h.deps.Table.Compiled(e).Choose(w, mrand.Uint64())
		}
		if e.HasUTM() {
			presets = h.deps.Table.Compiled(e).Record.UTM
		}
	}
	if h.own.Has(d.Target) {
		h.loop(ctx)
		return
	}
	if header.IsHead() {
		ctx.Response.Header.SetContentLength(0) // the server leaves it out otherwise
	} else {
		h.click(ctx, w, e.Num(), e.Owner(), d, presets)
	}
	ctx.Response.SetStatusCode(fasthttp.StatusFound)
	ctx.Response.Header.SetCanonical(nameLocation, w.locate(d.Target, presets, t.query))
}

// standing is what of a link may stand in the way. It looks at what the table's entry holds, which is at hand, and
// not at the compiled link, which may be far from the processor.
func standing(e *table.Entry) decision.Barrier {
	return decision.Barrier{ExpiresAt: e.ExpiresAt(), Inactive: e.Inactive(), HasPassword: e.HasPassword(), HasPreview: e.HasPreview()}
}

// stop answers a visit of a link that isn't followed, at least not yet.
func (h *Handler) stop(ctx *fasthttp.RequestCtx, e *table.Entry, k decision.Outcome, t target) {
	if k == decision.Gone {
		h.gone(ctx)
		return
	}
	r := &h.deps.Table.Compiled(e).Record
	if k == decision.AskPassword {
		h.form(ctx, r, view(t.query))
		return
	}
	h.tally.add(ctx.ConnID(), cPreviews)
	h.page(ctx, h.pages.previewPage(r, h.base+"/"+r.Slug), h.policy)
}

// read writes down what the request says, as a click would carry it.
func (h *Handler) read(ctx *fasthttp.RequestCtx, w *work, query []byte, now int64) facts {
	header := &ctx.Request.Header
	f := scanHeader(header.RawHeaders(), w.forwarded[:0], len(h.cfg.Trusted) > 0)
	w.forwarded = f.forwarded
	agent := header.UserAgent()
	ev := &w.event
	*ev = click.Event{
		Time: now, IP: visitorIP(ctx, f, h.cfg.Trusted), Prefetch: f.prefetch,
		UserAgent:      view(agent[:min(len(agent), click.MaxUserAgent)]),
		Referer:        view(f.referer[:min(len(f.referer), click.MaxReferer)]),
		AcceptLanguage: view(f.language[:min(len(f.language), click.MaxAcceptLanguage)]),
	}
	if len(query) > 0 {
		ev.UTM, w.decoded = link.VisitorUTM(query, w.decoded[:0])
	}
	return f
}

// meet makes w the visitor of whom read has written, for decisions to ask.
func (h *Handler) meet(ctx *fasthttp.RequestCtx, w *work, f facts) {
	w.Reset(visitor.Input{
		UserAgent: ctx.Request.Header.UserAgent(), AcceptLanguage: f.language, Referer: f.referer,
		UTM: w.event.UTM, IP: w.event.IP, UnixMilli: w.event.Time,
	}, h.deps.Geo, h.deps.Agents)
}

// click puts the visit into the spool. What the spool has no room for it counts itself.
func (h *Handler) click(ctx *fasthttp.RequestCtx, w *work, num, owner uint64, d decision.Choice, presets link.UTM) {
	ev := &w.event
	ev.Link, ev.Owner, ev.Rule, ev.Variant = num, owner, d.Rule, d.Variant
	ev.UTM = ev.UTM.Or(presets)
	ev.IP = h.cfg.Anonymize.Address(ev.IP) // rules and limits have had the whole one
	conn := ctx.ConnID()
	h.deps.Spool.Append(uint32(conn), ev)
	h.tally.add(conn, cRedirects)
	if !d.Rule.IsZero() {
		h.tally.add(conn, cRules)
	} else if !d.Variant.IsZero() {
		h.tally.add(conn, cVariants)
	}
}

// locate gives the bytes of Location, to be read only. They are valid until w is used again.
func (w *work) locate(target string, presets link.UTM, query []byte) []byte {
	if len(query) == 0 && presets.IsZero() {
		// unsafe: the bytes belong to the table or to a plan, neither of which is ever written, and the response
		// copies them; on read-only pages, as the tests' constants are, a write would be a fault.
		return unsafe.Slice(unsafe.StringData(target), len(target))
	}
	w.location = link.AppendLocation(w.location[:0], target, presets, query)
	return w.location
}

func (h *Handler) loop(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cLoops)
	h.refuse(ctx, fasthttp.StatusLoopDetected)
}

func (h *Handler) now(ctx *fasthttp.RequestCtx) time.Time {
	if h.cfg.Now != nil {
		return h.cfg.Now()
	}
	return ctx.Time()
}

// clientIP is the visitor's address, for requests that are not read otherwise.
func (h *Handler) clientIP(ctx *fasthttp.RequestCtx) netip.Addr {
	f := scanHeader(ctx.Request.Header.RawHeaders(), nil, true)
	return visitorIP(ctx, f, h.cfg.Trusted)
}

func visitorIP(ctx *fasthttp.RequestCtx, f facts, trusted visitor.Prefixes) netip.Addr {
	return visitor.ClientIP(peer(ctx), f.forwarded, f.realIP, trusted)
}

// peer is the other end of the socket.
func peer(ctx *fasthttp.RequestCtx) netip.Addr {
	if a, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr()
	}
	return netip.Addr{}
}

// framed reports whether the request's body is one that is taken here, and refuses the request if it is not.
func (h *Handler) framed(ctx *fasthttp.RequestCtx, limit int) bool {
	status := framing(&ctx.Request.Header, limit)
	if status == 0 && limit <= maxVerifyBody {
		status = readBody(ctx, limit)
	}
	if status == 0 {
		return true
	}
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, status)
	ctx.SetConnectionClose() // what is left of the body must not be read as a request
	return false
}

// exact closes the connection after the answer if the request was not alone in its packet and the rest has not been
// looked at.
func exact(ctx *fasthttp.RequestCtx) {
	header := &ctx.Request.Header
	size := len(header.Method()) + len(header.RequestURI()) + len(header.Protocol()) + len("  \r\n") + len(header.RawHeaders())
	if header.ContentLength() != -2 {
		size = -1
	}
	if !listen.Exact(ctx.Conn(), size) {
		ctx.SetConnectionClose()
	}
}

// misframed refuses a request that another server could read differently.
func (h *Handler) misframed(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, fasthttp.StatusBadRequest)
	ctx.SetConnectionClose()
}

// rescue turns a panic into an answer, and a count that must stay 0.
func (h *Handler) rescue(ctx *fasthttp.RequestCtx) {
	cause := recover()
	if cause == nil {
		return
	}
	h.tally.add(ctx.ConnID(), cPanics)
	ctx.Response.Reset()
	ctx.Response.SetStatusCode(fasthttp.StatusInternalServerError)
	id := string(h.requestID(ctx, scanAsker(ctx.Request.Header.RawHeaders()).id, nil))
	h.head(ctx, []byte(id), typeJSON, jsonPolicyB)
	h.deps.Logger.Error("panic while answering a visitor", "request_id", id, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	ctx.Response.SetBodyRaw(apierror.Body(fasthttp.StatusInternalServerError, notices[fasthttp.StatusInternalServerError].text, nil, id))
	ctx.SetConnectionClose()
}

// view reads bytes of the request as a string without copying. That is safe because whatever gets it either
// is done with it before the request is answered (rules, the merge into the destination) or copies it (the
// spool, which writes the event into its segment); the race detector notices one that is neither.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// retryAfter rounds a wait up to the whole seconds that its header counts in.
func retryAfter(d time.Duration) string {
	return strconv.FormatInt(wholeSeconds(d), 10)
}

func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
