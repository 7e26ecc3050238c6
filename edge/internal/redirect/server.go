package redirect

import (
	"cmp"
	"errors"
	"io"
	"net"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/conns"
	"github.com/valyala/fasthttp"
)

const defaultConnections = 65536

// Limits of the server.
const (
	maxHeader      = 8 << 10 // bytes of the request line and the header
	maxProxiedBody = 12 << 20
)

// Timeouts are the timeouts for the listener of a Handler's server. The idle timeout is longer than that of load
// balancers, so that the load balancer closes idle connections.
var Timeouts = listen.Timeouts{Read: 5 * time.Second, Write: 10 * time.Second, Idle: 75 * time.Second}

// NewServer returns the HTTP server for a Handler. The server must serve l. It has small limits, adds no header but
// Date, and sends every refusal in the service's own form.
//
// The server does not normalize header names. That would cost more than the handler's one case-insensitive comparison
// per line.
func NewServer(h *Handler, l *listen.Listener) *fasthttp.Server {
	l.Clock(h.latency)
	limit := conns.Max(cmp.Or(h.cfg.MaxConnections, defaultConnections))
	l.AwaitHeads(limit)
	l.AnswerVisits(func() (listen.Answer, listen.Settle) { v := newVisits(h); return v.Answer, v.awaitClicks })
	return &fasthttp.Server{
		Handler:      h.handle,
		ErrorHandler: h.misread,

		ReadBufferSize:  maxHeader,
		WriteBufferSize: 4 << 10,
		// With streaming this is how much of a body is read before the handler is called, else the maximum size of a
		// body. Only an upstream accepts larger bodies than a report.
		MaxRequestBodySize:           maxReportBody,
		StreamRequestBody:            h.deps.Upstream != nil,
		DisablePreParseMultipartForm: true,

		ConnState:   l.State, // instead of the server's own timeouts
		Concurrency: limit,

		DisableHeaderNamesNormalizing: true,
		NoDefaultServerHeader:         true,
		NoDefaultContentType:          true,
		CloseOnShutdown:               true,
		SecureErrorLogMessage:         true,
		Logger:                        silent{},
	}
}

// silent drops the server's log messages about single connections. Peers that disconnect or send garbage need no
// attention from operators, and refused requests are counted.
type silent struct{}

func (silent) Printf(string, ...any) {}

// misread answers a request that the server could not parse.
func (h *Handler) misread(ctx *fasthttp.RequestCtx, err error) {
	h.tally.add(ctx.ConnID(), cRefused)
	status := fasthttp.StatusBadRequest
	var small *fasthttp.ErrSmallBuffer
	var netErr net.Error
	switch {
	case errors.As(err, &small):
		status = fasthttp.StatusRequestHeaderFieldsTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		status = fasthttp.StatusRequestEntityTooLarge
	case errors.As(err, &netErr) && netErr.Timeout():
		status = fasthttp.StatusRequestTimeout
	}
	ctx.Response.Reset()
	h.refuse(ctx, status)
	ctx.SetConnectionClose()
}

// readBody reads a request's body of at most limit bytes, if the server has not read it already. It returns 0, or the
// status with which to refuse the request.
func readBody(ctx *fasthttp.RequestCtx, limit int) int {
	if !ctx.Request.IsBodyStream() {
		if len(ctx.Request.Body()) > limit {
			return fasthttp.StatusRequestEntityTooLarge
		}
		return 0
	}
	body, err := io.ReadAll(io.LimitReader(ctx.RequestBodyStream(), int64(limit)+1))
	switch {
	case err != nil:
		return fasthttp.StatusBadRequest
	case len(body) > limit:
		return fasthttp.StatusRequestEntityTooLarge
	}
	ctx.Request.SetBodyRaw(body)
	return 0
}
