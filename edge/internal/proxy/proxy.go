// Package proxy forwards the control plane's paths, so that one address can serve links, the API and the console.
//
// Bodies stream in both directions in bounded memory, including event streams. The upstream can trust the X-Forwarded
// headers, because the proxy writes them and drops those of clients. If the upstream is unreachable, clients get a
// clear error and links keep working. The proxy decides which paths belong to the upstream. The upstream decides what
// a client may do. Requests for a protocol switch are forwarded without the switch.
package proxy

import (
	"bytes"
	"cmp"
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
	"github.com/shortline/shortline/shared/framing"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

// paths are the control plane's. Each includes everything below it, except "/", which is the root alone. One with a slash at its end is
// not itself the control plane's, but only a single long segment below it, such as the token of a shared report. So a link may have the
// slug "share".
var paths = []string{"/", "/api", "/mcp", "/console", "/login", "/admin", "/static", "/share/"}

// minToken is the minimum length of the segment that follows a path with a slash at its end.
const minToken = 16

// Config configures a Proxy.
type Config struct {
	// Dial opens a connection to the upstream. Required.
	Dial func(ctx context.Context) (net.Conn, error)
	// Scheme and Host are the scheme and host of the public address, for the X-Forwarded headers.
	Scheme, Host string
	// Token is sent with every request, so that the upstream trusts X-Forwarded-For. "" sends none.
	Token config.Secret
	// MaxBody is the maximum size of a request body in bytes; 0 means 12 MiB.
	MaxBody int64
	// MaxInFlight is the maximum number of requests in flight to the upstream; 0 means 256.
	MaxInFlight int
	// MaxPerClient is the maximum for one client, an IPv4 address or an IPv6 /64; 0 means a quarter of MaxInFlight,
	// but at least one. A request is in flight until the client has read its answer.
	MaxPerClient int
	// MaxUploads is the maximum number of requests in flight whose body is still arriving; 0 means a quarter of
	// MaxInFlight, but at least one. One client may have a quarter of them, but at least one. Bodies of up to 16 KiB
	// do not count, because they are read before the request is in flight. The same holds for the first 16 KiB of a
	// body of unknown length.
	MaxUploads int
	// Patience is how long the upstream may take to begin its answer, and how long a client may take to read a piece of
	// it; 0 means 60 seconds. The pause between two pieces of a streamed answer may be longer.
	Patience time.Duration
	// Tracer creates a span for each request; nil means no spans.
	Tracer trace.Tracer
	// Logger logs when the upstream becomes unreachable or reachable; nil means slog.Default().
	Logger *slog.Logger
}

// Stats holds the counters of a Proxy.
type Stats struct {
	Requests uint64 // passed on
	Failed   uint64 // forwarded requests that the upstream did not answer
	Refused  uint64 // rejected because too many requests were in flight, of all clients or of one
	InFlight int64
}

// Proxy forwards requests. It is safe for concurrent use.
type Proxy struct {
	cfg       Config
	transport *http.Transport
	ctx       context.Context // its end cancels all requests
	stop      context.CancelFunc
	away      atomic.Bool

	mu      sync.Mutex
	all     places // requests in flight
	uploads places // requests in flight whose body is still arriving

	requests, failed, refused atomic.Uint64
	inFlight                  atomic.Int64
}

// New returns a Proxy. Call Close to cancel its requests.
func New(cfg Config) (*Proxy, error) {
	if cfg.Dial == nil {
		return nil, errors.New("proxy: Dial is required")
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
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	p := &Proxy{cfg: cfg, all: newPlaces(cfg.MaxInFlight, cfg.MaxPerClient), uploads: newPlaces(cfg.MaxUploads, max(cfg.MaxUploads/4, 1))}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.transport = &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return cfg.Dial(ctx) },
		DisableCompression:     true, // forward bodies unchanged
		MaxIdleConnsPerHost:    64,
		MaxConnsPerHost:        cfg.MaxInFlight,
		IdleConnTimeout:        30 * time.Second,
		ResponseHeaderTimeout:  cfg.Patience,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return p, nil
}

// Close cancels every request in flight, including streams.
func (p *Proxy) Close() {
	p.stop()
	p.transport.CloseIdleConnections()
}

// Stats returns the counters.
func (p *Proxy) Stats() Stats {
	return Stats{p.requests.Load(), p.failed.Load(), p.refused.Load(), p.inFlight.Load()}
}

// Owns reports whether a path belongs to the upstream.
func (p *Proxy) Owns(path []byte) bool {
	for _, own := range paths {
		if len(path) < len(own) || string(path[:len(own)]) != own {
			continue
		}
		if len(own) > 1 && own[len(own)-1] == '/' {
			if token, _, _ := bytes.Cut(path[len(own):], []byte("?")); len(token) >= minToken && bytes.IndexByte(token, '/') < 0 {
				return true
			}
			continue
		}
		if len(path) == len(own) || len(own) > 1 && path[len(own)] == '/' {
			return true
		}
	}
	return false
}

// Serve forwards a request and its answer. from is the visitor's address.
func (p *Proxy) Serve(ctx *fasthttp.RequestCtx, from netip.Addr) {
	if framing.Climbs(ctx.Request.Header.RequestURI()) {
		p.fail(ctx, fasthttp.StatusNotFound,
			"There is nothing at this address. A path must not contain the segments . or .., also not in encoded form.")
		return
	}
	x := &exchange{proxy: p, conn: ctx.Conn(), from: client.Key(from)}
	x.ctx, x.cancel = context.WithCancel(p.ctx)
	req, err := x.request(ctx, from)
	if err != nil {
		x.cancel()
		p.fail(ctx, fasthttp.StatusBadRequest, "The request is malformed.")
		return
	}
	// A slow sender must not take a place while its body arrives, so read a small body before taking one.
	if x.body != nil && x.body.remaining <= inMemory {
		x.body.arrive(inMemory)
		if why := x.body.fault(); why != 0 {
			x.cancel()
			p.misread(ctx, why)
			return
		}
	}
	if status := p.acquirePlaces(x); status != 0 {
		x.cancel()
		if x.body != nil && !x.body.done.Load() {
			ctx.SetConnectionClose()
		}
		p.refused.Add(1)
		if status == fasthttp.StatusTooManyRequests {
			p.fail(ctx, status, "You have too many requests in progress. Try again soon.")
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
		p.cfg.Logger.Info("control plane reachable")
	}
	x.respond(ctx, resp)
}

// acquirePlaces takes a place for a request, and one for its body if that is still arriving. It returns 0, or the status with
// which to reject the request. After 0, the caller must call releasePlaces.
func (p *Proxy) acquirePlaces(x *exchange) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status := p.all.acquire(x.from); status != 0 {
		return status
	}
	if x.body != nil && !x.body.done.Load() {
		if status := p.uploads.acquire(x.from); status != 0 {
			p.all.release(x.from)
			return status
		}
		x.uploads = true
	}
	return 0
}

func (p *Proxy) releasePlaces(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all.release(x.from)
	if x.uploads {
		p.uploads.release(x.from)
	}
}

// misread rejects a request because of its body.
func (p *Proxy) misread(ctx *fasthttp.RequestCtx, status int) {
	ctx.SetConnectionClose() // part of the body has not been read
	switch status {
	case fasthttp.StatusRequestEntityTooLarge:
		p.fail(ctx, status, "The request body is too large for this address.")
	case fasthttp.StatusRequestTimeout:
		p.fail(ctx, status, "The request body took too long to arrive.")
	default:
		p.fail(ctx, fasthttp.StatusBadRequest, "The request body is malformed or incomplete.")
	}
}

// unanswered answers a request that the upstream did not answer. If the client is at fault, the answer says so.
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
		p.cfg.Logger.Warn("control plane unreachable", "error", err)
	}
	var dial *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &dial) && dial.Op == "dial", p.ctx.Err() != nil:
		p.fail(ctx, fasthttp.StatusServiceUnavailable,
			"The control plane is not reachable at the moment. Links still work. Try again soon.")
	case errors.As(err, &slow) && slow.Timeout():
		p.fail(ctx, fasthttp.StatusGatewayTimeout, "The control plane took too long to answer.")
	default:
		p.fail(ctx, fasthttp.StatusBadGateway, "The control plane sent an invalid answer.")
	}
}

func (p *Proxy) fail(ctx *fasthttp.RequestCtx, status int, message string) {
	p.allowAnswer(ctx.Conn())
	ctx.Response.SetStatusCode(status)
	ctx.Response.Header.SetContentType("application/json")
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.Set("X-Content-Type-Options", "nosniff")
	if status == fasthttp.StatusServiceUnavailable || status == fasthttp.StatusTooManyRequests {
		ctx.Response.Header.Set("Retry-After", "5")
	}
	ctx.Response.SetBodyRaw(apierror.Body(status, message, nil, ""))
}

// allowAnswer gives an answer, or the next piece of one, the time to be written. The server's own time may have passed while the
// upstream worked on the request, or while its body arrived.
func (p *Proxy) allowAnswer(conn net.Conn) {
	_ = conn.SetWriteDeadline(time.Now().Add(p.cfg.Patience)) // an error means that the connection is closed
}

// exchange is one forwarded request with its answer.
type exchange struct {
	proxy  *Proxy
	conn   net.Conn // the client's
	from   netip.Addr
	ctx    context.Context
	cancel context.CancelFunc
	body   *upload
	// uploads means that the exchange has a place in Proxy.uploads.
	uploads bool
	span    trace.Span // nil without a tracer
	status  int        // the upstream's status; 0: no answer
	ended   sync.Once
}

// end releases the resources of the exchange. It returns when nothing reads from the client any more.
func (x *exchange) end() {
	x.ended.Do(func() {
		x.cancel()
		x.endSpan()
		if x.body != nil {
			x.body.shut()
		}
		x.proxy.inFlight.Add(-1)
		x.proxy.releasePlaces(x)
	})
}

// hop lists the header fields, in lower case, that are not forwarded: those that belong to one connection (RFC 9110,
// 7.6.1) and those that the proxy writes itself.
var hop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true,
	"upgrade": true, "content-length": true, "host": true, "expect": true, "proxy-authorization": true, "proxy-authenticate": true,
	"forwarded": true, "x-forwarded-for": true, "x-forwarded-host": true, "x-forwarded-proto": true, "x-forwarded-port": true,
	"x-forwarded-server": true, "x-real-ip": true, strings.ToLower(visitor.EdgeTokenHeader): true,
}

// request builds the request to the upstream.
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
	req := (&http.Request{Method: string(in.Method()), URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header)}).WithContext(x.ctx)
	// The upstream builds links from the public host and checks origins with it, so a client must not choose it.
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
		req.Header["User-Agent"] = nil // send none instead of Go's default
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
		req.ContentLength = int64(n) // -1 means an unknown length in both APIs
		var from io.Reader = ctx.RequestBodyStream()
		if !ctx.Request.IsBodyStream() {
			from = strings.NewReader(string(ctx.Request.Body()))
		}
		x.body = &upload{from: from, remaining: int64(n), left: cfg.MaxBody, conn: x.conn}
		req.Body = x.body
	}
	return req, nil
}

// listed returns the names in a Connection field, in lower case.
func listed(connection string) map[string]bool {
	names := make(map[string]bool)
	for name := range strings.SplitSeq(connection, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			names[name] = true
		}
	}
	return names
}

// respond forwards the upstream's answer. The server reads its body after the handler has returned.
func (x *exchange) respond(ctx *fasthttp.RequestCtx, resp *http.Response) {
	x.status = resp.StatusCode
	x.proxy.allowAnswer(x.conn)
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
	if x.body != nil && !x.body.done.Load() { // the answer came before the end of the body
		x.body.drain()
		if !x.body.done.Load() {
			ctx.SetConnectionClose()
		}
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
	if resp.Body == http.NoBody || resp.ContentLength == 0 || resp.StatusCode == http.StatusNoContent ||
		resp.StatusCode == http.StatusNotModified {
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
