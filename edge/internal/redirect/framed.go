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
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, status)
	ctx.SetConnectionClose() // the rest of the body must not be read as a request
	return false
}

// misframed refuses a request that another server could parse differently.
func (h *Handler) misframed(ctx *fasthttp.RequestCtx) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, fasthttp.StatusBadRequest)
	ctx.SetConnectionClose()
}
