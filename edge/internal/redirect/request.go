package redirect

import (
	"net"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/valyala/fasthttp"
)

// request is what a redirect needs of one request. Its bytes alias those of the request.
type request struct {
	facts
	head    bool // the method is HEAD
	host    []byte
	agent   []byte
	raw     []byte // the header lines
	conn    net.Conn
	id      uint64 // of the connection or the loop: chooses a stripe of the counters and a lane of the spool
	arrived time.Time

	ctx  *fasthttp.RequestCtx // nil until somebody needs it: see context
	loop *visits              // parses the request for ctx
}

// of fills w.request from a request that the server has parsed.
func (w *work) of(ctx *fasthttp.RequestCtx, from proxies) {
	header := &ctx.Request.Header
	w.request = request{
		facts: scanHeader(header.RawHeaders(), w.forwarded[:0], from), head: header.IsHead(), host: header.Host(),
		agent: header.UserAgent(), raw: header.RawHeaders(), conn: ctx.Conn(), id: ctx.ConnID(), arrived: arrival(ctx), ctx: ctx,
	}
	w.cookie, w.receipts = w.cookie[:0], w.receipts[:0]
}

// context returns the context for an answer that is no redirect.
func (r *request) context() *fasthttp.RequestCtx {
	if r.ctx == nil {
		r.ctx = r.loop.parse(r)
	}
	return r.ctx
}

// secure reports whether the request came over TLS.
func (r *request) secure() bool {
	_, secure := listen.Secured(r.conn)
	return secure
}

// durable waits until the clicks of w are on the disk. If they are not, it answers 503.
func (h *Handler) durable(w *work) bool {
	ok := spool.Durable(w.receipts)
	if !ok {
		h.refuseUnready(w.context())
	}
	return ok
}

// send writes the redirect that w holds as the answer of the server.
func (w *work) send(ctx *fasthttp.RequestCtx) {
	if w.head {
		ctx.Response.Header.SetContentLength(0) // otherwise the server omits the field
	}
	w.sendCookie(ctx)
	ctx.Response.SetStatusCode(w.status)
	ctx.Response.Header.SetCanonical(w.lines(), w.target)
}

func (w *work) sendCookie(ctx *fasthttp.RequestCtx) {
	if len(w.cookie) > 0 {
		ctx.Response.Header.SetCanonical(nameSetCookie, w.cookie)
	}
}

// lines are the header lines of the redirect up to the value of Location.
func (w *work) lines() []byte {
	if w.status == fasthttp.StatusMovedPermanently || w.status == fasthttp.StatusPermanentRedirect {
		return nameLasting
	}
	return nameLocation
}
