package redirect

import "github.com/valyala/fasthttp"

// framed reports whether the request's body is acceptable. If it is not, framed refuses the request.
func (h *Handler) framed(ctx *fasthttp.RequestCtx, limit int) bool {
	status := framing(&ctx.Request.Header, limit)
	if status == 0 && limit <= maxReportBody {
		status = readBody(ctx, limit)
	}
	if status == 0 {
		return true
	}
	h.misframed(ctx, status)
	return false
}

// misframed refuses a request that another server could parse differently, or whose body is too large.
func (h *Handler) misframed(ctx *fasthttp.RequestCtx, status int) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, status)
	ctx.SetConnectionClose() // the rest must not be read as a request
}
