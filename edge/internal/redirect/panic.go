package redirect

import (
	"fmt"
	"runtime/debug"

	"github.com/valyala/fasthttp"
)

// rescue turns a panic into an answer. It must be deferred.
func (h *Handler) rescue(ctx *fasthttp.RequestCtx) {
	if cause := recover(); cause != nil {
		h.panicked(ctx, cause)
	}
}

// panicked answers a request whose handler panicked, and counts it. The counter should stay 0.
func (h *Handler) panicked(ctx *fasthttp.RequestCtx, cause any) {
	h.tally.add(ctx.ConnID(), cPanics)
	ctx.Response.Reset()
	ctx.Response.SetStatusCode(fasthttp.StatusInternalServerError)
	h.head(ctx, typeJSON, jsonPolicyB)
	id := string(ctx.Response.Header.PeekBytes(nameID))
	h.deps.Logger.Error("request handler panicked", "request_id", id, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	ctx.Response.SetBodyRaw(h.pages.Refusals[fasthttp.StatusInternalServerError].JSONWith(id))
	ctx.SetConnectionClose()
}
