package redirect

import (
	"bytes"

	"github.com/shortline/shortline/edge/internal/brokenpath"
	"github.com/shortline/shortline/shared/link"
	"github.com/valyala/fasthttp"
)

// visitAnother answers a visit of a link that the first look-up has not found: because the link gets the path behind its slug, or
// because the address is broken. It reports whether it has answered.
func (h *Handler) visitAnother(ctx *fasthttp.RequestCtx, t *target, g *brokenpath.Guess) bool {
	if !ctx.IsGet() && !ctx.IsHead() {
		return false
	}
	if t.slug != nil && (len(t.rest) > 0 || t.extended) {
		if e, ok := h.lookup(t); ok && (len(t.rest) == 0 || e.Terms().Forward) {
			if !link.Forwardable(t.rest) {
				return false
			}
			t.deepen()
			h.visit(ctx, &e, *t)
			return true
		}
	}
	e, ok := h.forgive(t, g)
	switch {
	case ok && t.preview:
		h.look(ctx, &e, *t)
	case ok:
		h.visit(ctx, &e, *t)
	}
	return ok
}

// deepen makes the path after the slug the destination's. A slash alone is none.
func (t *target) deepen() {
	if len(t.rest) > 1 {
		t.deep = len(t.path) - len(t.rest)
	}
	t.rest = nil
}

// verifyDeeper splits the path behind a slug from the end that stands for sending a password.
func (h *Handler) verifyDeeper(ctx *fasthttp.RequestCtx, t *target) {
	const end = "/verify"
	if t.slug == nil || !ctx.IsPost() || len(t.rest) <= len(end) || !bytes.HasSuffix(t.rest, []byte(end)) {
		return
	}
	if e, ok := h.lookup(t); !ok || !e.Terms().Forward || !link.Forwardable(t.rest) {
		return
	}
	size := len(t.path) - len(end)
	t.deep = len(t.path) - len(t.rest)
	t.path, t.rest = t.path[:size], t.path[size:]
}

// deepen returns a destination with the visitor's path. It is valid until w is reused.
func (w *work) deepen(destination string, t *target) string {
	w.deeper = link.AppendPath(w.deeper[:0], destination, t.deeper())
	return view(w.deeper)
}
