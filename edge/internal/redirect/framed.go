package redirect

import "github.com/valyala/fasthttp"

// Maximum sizes of request bodies on the redirect's own paths, in bytes.
const (
	maxIdleBody   = 1 << 10 // for methods that need no body
	maxVerifyBody = 4 << 10
)

// framed reports whether the request's body has at most limit bytes. If it has more, framed refuses the request.
func (h *Handler) framed(ctx *fasthttp.RequestCtx, limit int) bool {
	status := bodyStatus(ctx, limit)
	if status != 0 {
		h.misframed(ctx, status)
	}
	return status == 0
}

// bodyStatus reads the request's body, unless limit says that it goes to the control plane. It returns 0, or the status with which to
// refuse the request.
func bodyStatus(ctx *fasthttp.RequestCtx, limit int) int {
	switch {
	case ctx.Request.Header.ContentLength() > limit:
		return fasthttp.StatusRequestEntityTooLarge
	case limit <= maxReportBody:
		return readBody(ctx, limit)
	}
	return 0
}

// misframed refuses a request that another server could understand in another way, or whose body is too large.
func (h *Handler) misframed(ctx *fasthttp.RequestCtx, status int) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, status)
	ctx.SetConnectionClose() // the rest must not be read as a request
}
