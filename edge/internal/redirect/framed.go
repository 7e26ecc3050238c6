package redirect

import (
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/valyala/fasthttp"
)

// framed reports whether the request's body is acceptable. If it is not, framed refuses the request.
func (h *Handler) framed(ctx *fasthttp.RequestCtx, limit int) bool {
	status := framing(&ctx.Request.Header, limit)
	if status == 0 && limit <= maxReportBody {
		status = readBody(ctx, limit)
	}
	if status == 0 {
		return true
	}
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, status)
	ctx.SetConnectionClose() // the rest of the body must not be read as a request
	return false
}

// exact closes the connection after the answer if the request's packet held more bytes and nothing has checked them.
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

// misframed refuses a request that another server could parse differently.
func (h *Handler) misframed(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, fasthttp.StatusBadRequest)
	ctx.SetConnectionClose()
}
