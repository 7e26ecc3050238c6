// Package proxy passes the control plane's paths on to it, so that one address can serve links, the API and
// the console.
//
// It promises that bodies stream both ways in bounded memory, event streams included; that the upstream can
// believe the X-Forwarded headers, which are written here and never taken from a client; and that an upstream
// which is away costs a visitor a clear answer and the edge nothing. It decides which paths are the upstream's;
// whether a client may do what it asks is the upstream's business. Requests to switch protocols are passed on
// without the switch.
package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/shortline/shortline/shared/client"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

// DefaultPaths are the control plane's: the root and, each with all that lies below it, the API, the console
// and what the console is made of.
var DefaultPaths = []string{"/", "/api", "/console", "/login", "/admin", "/static"}

// Config says where the upstream is and what belongs to it.
type Config struct {
	// Dial opens a connection to the upstream. Required.
	Dial func(ctx context.Context) (net.Conn, error)
	// Paths are the upstream's, each with all that lies below it, except "/", which is the root alone. nil
	// means DefaultPaths.
	Paths []string
	// Scheme and Host are those of the public address; they tell the upstream how it was asked.
	Scheme, Host string
	// Token goes with every request, so that the upstream believes X-Forwarded-For; "" sends none.
	Token config.Secret
	// MaxBody is the largest request body that is passed on, in bytes; 0 means 12 MiB.
	MaxBody int64
	// MaxInFlight bounds the requests that are with the upstream at one time; 0 means 256.
	MaxInFlight int
	// MaxPerClient bounds those of one client, an IPv4 address or an IPv6 /64; 0 means a quarter of MaxInFlight, but one at
	// least. A request whose client reads its answer slowly is in flight for as long.
	MaxPerClient int
	// MaxUploads bounds the requests among those in flight whose body has not arrived whole; 0 means a quarter of
	// MaxInFlight, but one at least. One client may have a quarter of them, but one at least. Bodies of up to 16 KiB don't
	// count: they are read before the request is in flight, as is that much of one whose length is not known.
	MaxUploads int
	// Patience is how long the upstream may take to begin its answer, and how long a client may take to read a piece of
	// it; 0 means 60 seconds. An answer that streams may be silent for longer.
	Patience time.Duration
	// Tracer makes a span for each request; nil means none.
	Tracer trace.Tracer
	// Logger is told when the upstream stops and starts answering; nil means slog.Default().
	Logger *slog.Logger
}

// Stats counts what a Proxy has passed on.
type Stats struct {
	Requests uint64 // passed on
	Failed   uint64 // of these, not answered by the upstream
	Refused  uint64 // turned away because too many were in flight, of all or of one client
	InFlight int64
}

// Proxy passes requests on. It is for any number of goroutines.
type Proxy struct {
	cfg       Config
	transport *http.Transport
	ctx       context.Context // ends all requests
	stop      context.CancelFunc
	away      atomic.Bool

	mu      sync.Mutex
	all     places // requests in flight
	uploads places // those of them whose body is still arriving

	requests, failed, refused atomic.Uint64
	inFlight                  atomic.Int64
}

// New makes a Proxy. Close it to end what it has begun.
func New(cfg Config) (*Proxy, error) {
	if cfg.Dial == nil {
		return nil, errors.New("proxy: a way to dial the upstream is required")
	}
	if cfg.Paths == nil {
		cfg.Paths = DefaultPaths
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = 12 << 20
	}
	if cfg.MaxInFlight <= 0 {
		cfg.MaxInFlight = 256
	}
	if cfg.MaxPerClient <= 0 {
		cfg.MaxPerClient = max(cfg.MaxInFlight/4, 1)
	}
	if cfg.MaxUploads <= 0 {
		cfg.MaxUploads = max(cfg.MaxInFlight/4, 1)
	}
	if cfg.Patience <= 0 {
		cfg.Patience = 60 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	p := &Proxy{cfg: cfg, all: newPlaces(cfg.MaxInFlight, cfg.MaxPerClient), uploads: newPlaces(cfg.MaxUploads, max(cfg.MaxUploads/4, 1))}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.transport = &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return cfg.Dial(ctx) },
		DisableCompression:     true, // bodies are passed on as they are
		MaxIdleConnsPerHost:    64,
		MaxConnsPerHost:        cfg.MaxInFlight,
		IdleConnTimeout:        30 * time.Second,
		ResponseHeaderTimeout:  cfg.Patience,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return p, nil
}

// Close ends every request that is with the upstream, streams included.
func (p *Proxy) Close() {
	p.stop()
	p.transport.CloseIdleConnections()
}

// Stats returns the counters.
func (p *Proxy) Stats() Stats {
	return Stats{p.requests.Load(), p.failed.Load(), p.refused.Load(), p.inFlight.Load()}
}

// Owns reports whether a path is the upstream's.
func (p *Proxy) Owns(path []byte) bool {
	for _, own := range p.cfg.Paths {
		if len(path) < len(own) || string(path[:len(own)]) != own {
			continue
		}
		if len(path) == len(own) || len(own) > 1 && path[len(own)] == '/' {
			return true
		}
	}
	return false
}

// Serve passes a request on and answers with what comes back. from is the visitor's address.
func (p *Proxy) Serve(ctx *fasthttp.RequestCtx, from netip.Addr) {
	if climbs(ctx.Request.Header.RequestURI()) {
		p.fail(ctx, fasthttp.StatusBadRequest, "The path must not hold the segments . and .. in any spelling.")
		return
	}
	x := &exchange{proxy: p, conn: ctx.Conn(), from: client.Key(from)}
	x.ctx, x.cancel = context.WithCancel(p.ctx)
	req, err := x.request(ctx, from)
	if err != nil {
		x.cancel()
		p.fail(ctx, fasthttp.StatusBadRequest, "The request could not be understood.")
		return
	}
	// Who sends slowly waits outside: a place is for requests that the upstream can answer, or nearly.
	if x.body != nil && x.body.owed <= inMemory {
		x.body.arrive(inMemory)
		if why := x.body.fault(); why != 0 {
			x.cancel()
			p.misread(ctx, why)
			return
		}
	}
	if status := p.enter(x); status != 0 {
		x.cancel()
		if x.body != nil && !x.body.done.Load() {
			ctx.SetConnectionClose()
		}
		p.refused.Add(1)
		if status == fasthttp.StatusTooManyRequests {
			p.fail(ctx, status, "Too many of your requests are being answered. Try again soon.")
		} else {
			p.fail(ctx, status, "Too many requests are waiting for the control plane. Try again soon.")
		}
		return
	}
	p.requests.Add(1)
	p.inFlight.Add(1)
	resp, err := p.transport.RoundTrip(req)
	if err != nil {
		x.end()
		p.unanswered(ctx, x, err)
		return
	}
	if p.away.CompareAndSwap(true, false) {
		p.cfg.Logger.Info("the control plane answers again")
	}
	x.respond(ctx, resp)
}

// enter takes a place for a request, and one for its body if that is still arriving. It returns 0, or the status to refuse
// it with. Whoever was let in leaves.
func (p *Proxy) enter(x *exchange) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status := p.all.take(x.from); status != 0 {
		return status
	}
	if x.body != nil && !x.body.done.Load() {
		if status := p.uploads.take(x.from); status != 0 {
			p.all.leave(x.from)
			return status
		}
		x.uploads = true
	}
	return 0
}

func (p *Proxy) leave(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all.leave(x.from)
	if x.uploads {
		p.uploads.leave(x.from)
	}
}

// misread refuses a request whose body the client did not send as it should.
func (p *Proxy) misread(ctx *fasthttp.RequestCtx, status int) {
	ctx.SetConnectionClose() // part of the body has not been read
	switch status {
	case fasthttp.StatusRequestEntityTooLarge:
		p.fail(ctx, status, "The body of the request is larger than this address takes.")
	case fasthttp.StatusRequestTimeout:
		p.fail(ctx, status, "The body of the request took too long to arrive.")
	default:
		p.fail(ctx, fasthttp.StatusBadRequest, "The body of the request is broken or incomplete.")
	}
}

// unanswered tells a client that the upstream gave no answer, and why if that was the client's doing.
func (p *Proxy) unanswered(ctx *fasthttp.RequestCtx, x *exchange, err error) {
	if x.body != nil {
		if why := x.body.fault(); why != 0 {
			p.misread(ctx, why)
			return
		}
	}
	ctx.SetConnectionClose() // part of the body may not have been read
	p.failed.Add(1)
	if p.away.CompareAndSwap(false, true) {
		p.cfg.Logger.Warn("the control plane does not answer", "error", err)
	}
	var dial *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &dial) && dial.Op == "dial", p.ctx.Err() != nil:
		p.fail(ctx, fasthttp.StatusServiceUnavailable, "The control plane can't be reached at the moment. Links work. Try again soon.")
	case errors.As(err, &slow) && slow.Timeout():
		p.fail(ctx, fasthttp.StatusGatewayTimeout, "The control plane took too long to answer.")
	default:
		p.fail(ctx, fasthttp.StatusBadGateway, "The control plane gave no proper answer.")
	}
}

func (p *Proxy) fail(ctx *fasthttp.RequestCtx, status int, message string) {
	ctx.Response.SetStatusCode(status)
	ctx.Response.Header.SetContentType("application/json")
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.Set("X-Content-Type-Options", "nosniff")
	if status == fasthttp.StatusServiceUnavailable || status == fasthttp.StatusTooManyRequests {
		ctx.Response.Header.Set("Retry-After", "5")
	}
	ctx.Response.SetBodyRaw(apierror.Body(status, message, nil, ""))
}

// exchange is one request that is with the upstream, from the first byte to the last.
type exchange struct {
	proxy  *Proxy
	conn   net.Conn // the client's
	from   netip.Addr
	ctx    context.Context
	cancel context.CancelFunc
	body   *upload
	// uploads says that the exchange has a place among those whose body is still arriving.
	uploads bool
	span    trace.Span // nil without a tracer
	status  int        // what the upstream answered; 0: nothing
	ended   sync.Once
}

// end gives back what the exchange holds. It returns when nothing reads from the client any more.
func (x *exchange) end() {
	x.ended.Do(func() {
		x.cancel()
		x.endSpan()
		if x.body != nil {
			x.body.shut()
		}
		x.proxy.inFlight.Add(-1)
		x.proxy.leave(x)
	})
}

// hop are the fields that belong to one connection (RFC 9110, 7.6.1), and those that are written here, so a
// client's are not passed on. In lower case.
var hop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true,
	"upgrade": true, "content-length": true, "host": true, "expect": true, "proxy-authorization": true, "proxy-authenticate": true,
	"forwarded": true, "x-forwarded-for": true, "x-forwarded-host": true, "x-forwarded-proto": true, "x-forwarded-port": true,
	"x-forwarded-server": true, "x-real-ip": true, strings.ToLower(visitor.EdgeTokenHeader): true,
}

// request builds what is sent to the upstream.
func (x *exchange) request(ctx *fasthttp.RequestCtx, from netip.Addr) (*http.Request, error) {
	cfg := &x.proxy.cfg
	in := &ctx.Request.Header
	target := string(in.RequestURI())
	if !strings.HasPrefix(target, "/") { // absolute form
		_, after, _ := strings.Cut(target, "://")
		if n := strings.IndexByte(after, '/'); n >= 0 {
			target = after[n:]
		}
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	u.Scheme, u.Host = "http", "control"
	req := (&http.Request{Method: string(in.Method()), URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header)}).WithContext(x.ctx)
	// The public host is what the upstream makes links and checks origins with, so a client can't choose it.
	req.Host = cfg.Host
	if req.Host == "" {
		req.Host = string(in.Host())
	}
	dropped := listed(string(in.Peek("Connection")))
	for key, value := range in.All() {
		name := string(key)
		if lower := strings.ToLower(name); !hop[lower] && !dropped[lower] {
			req.Header.Add(name, string(value))
		}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = nil // send none rather than one of our own
	}
	if from.IsValid() {
		req.Header.Set("X-Forwarded-For", from.String())
	}
	if cfg.Token != "" {
		req.Header.Set(visitor.EdgeTokenHeader, cfg.Token.Reveal())
	}
	req.Header.Set("X-Forwarded-Proto", cfg.Scheme)
	req.Header.Set("X-Forwarded-Host", req.Host)
	x.trace(req)
	switch n := in.ContentLength(); {
	case n == 0 || n == -2:
	default:
		req.ContentLength = int64(n) // -1, chunked, is unknown here as there
		var from io.Reader = ctx.RequestBodyStream()
		if !ctx.Request.IsBodyStream() {
			from = strings.NewReader(string(ctx.Request.Body()))
		}
		x.body = &upload{from: from, owed: int64(n), left: cfg.MaxBody, conn: x.conn}
		req.Body = x.body
	}
	return req, nil
}

// listed reads the names that a Connection field lists.
func listed(connection string) map[string]bool {
	names := make(map[string]bool)
	for name := range strings.SplitSeq(connection, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			names[name] = true
		}
	}
	return names
}

// respond passes the upstream's answer on. Its body is read after the handler has returned.
func (x *exchange) respond(ctx *fasthttp.RequestCtx, resp *http.Response) {
	x.status = resp.StatusCode
	ctx.Response.SetStatusCode(resp.StatusCode)
	out := &ctx.Response.Header
	dropped := listed(resp.Header.Get("Connection"))
	for name, values := range resp.Header {
		lower := strings.ToLower(name)
		if lower == "server" || hop[lower] || dropped[lower] {
			continue
		}
		for _, v := range values {
			out.Add(name, v)
		}
	}
	if x.body != nil && !x.body.done.Load() {
		ctx.SetConnectionClose() // answered before the body was read to its end
	}
	if ctx.IsHead() {
		_ = resp.Body.Close()
		x.end()
		if resp.ContentLength > 0 {
			ctx.Response.SkipBody = true
			out.SetContentLength(int(resp.ContentLength))
		}
		return
	}
	if resp.Body == http.NoBody || resp.ContentLength == 0 || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close()
		x.end()
		return
	}
	size := -1
	if resp.ContentLength > 0 {
		size = int(resp.ContentLength)
	}
	ctx.Response.ImmediateHeaderFlush = size < 0
	ctx.Response.SetBodyStream(&download{exchange: x, body: resp.Body}, size)
}
