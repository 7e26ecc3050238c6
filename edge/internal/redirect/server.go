package redirect

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/conns"
	"github.com/valyala/fasthttp"
)

// Limits of a connection.
const (
	maxHeader      = 8 << 10 // bytes of request line and header together
	maxProxiedBody = 12 << 20
	maxConnections = 65536
)

// Timeouts are those that the listener of a Handler's server has to keep. Idle connections are kept for longer
// than load balancers do, so that it is they who close them.
var Timeouts = listen.Timeouts{Read: 5 * time.Second, Write: 10 * time.Second, Idle: 75 * time.Second}

// NewServer makes the HTTP server that a Handler is meant to run in, and which must serve l: small limits, no header of its own making
// but Date, and every refusal in the service's own form.
//
// Header names are not normalized, as that costs more than the one comparison without regard to case that the
// handler makes for each line.
func NewServer(h *Handler, l *listen.Listener) *fasthttp.Server {
	l.Foresee(foresight{h})
	l.Clock(h.latency)
	l.AwaitHeads(conns.Max(maxConnections))
	return &fasthttp.Server{
		Handler:      h.handle,
		ErrorHandler: h.misread,

		ReadBufferSize:  maxHeader,
		WriteBufferSize: 4 << 10,
		// With streaming this is how much is read before the handler sees the request, else the most that
		// is taken. Only an upstream takes more than a password.
		MaxRequestBodySize:           maxVerifyBody,
		StreamRequestBody:            h.deps.Upstream != nil,
		DisablePreParseMultipartForm: true,

		ConnState:   l.State, // in place of timeouts of the server's own
		Concurrency: maxConnections,

		DisableHeaderNamesNormalizing: true,
		NoDefaultServerHeader:         true,
		NoDefaultContentType:          true,
		CloseOnShutdown:               true,
		SecureErrorLogMessage:         true,
		Logger:                        silent{},
	}
}

// silent drops what the server would log of single connections: peers that vanish or send nonsense are not an
// operator's business, and those that were answered with a refusal are counted.
type silent struct{}

func (silent) Printf(string, ...any) {}

// misread answers what the server could not read as a request.
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

// readBody takes in a request's body of at most limit bytes, if the server has left it to the handler. It
// returns 0, or the status to refuse the request with.
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
