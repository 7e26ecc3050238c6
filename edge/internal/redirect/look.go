package redirect

import (
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/valyala/fasthttp"
)

// look answers GET /{slug}+ with where a link leads, without a click. A protected link shows only that it is one, and a link that has
// ended only that it has: its destination may be the reason. Before its start, and if its workspace wants no previews, a link does
// not exist.
func (h *Handler) look(ctx *fasthttp.RequestCtx, e *table.Entry, t target) {
	if h.refuseOverLimit(ctx) {
		return
	}
	if !h.refuseBeforeStart(ctx, e) || h.deps.Hosts != nil && h.deps.Hosts.HidesPreviews(e.Owner()) {
		h.missing(ctx)
		return
	}
	h.tally.add(ctx.ConnID(), cInfos)
	r := &h.deps.Table.Compiled(e).Record
	seen := pages.Look{Slug: string(t.slug), ShortURL: h.addressOf(t), State: pages.StateActive}
	terms := e.Terms()
	k := decision.Barrier{ExpiresAt: terms.ExpiresAt, Inactive: e.Inactive(), Exhausted: h.exhausted(e, &terms)}.
		Meet(at(h.now(ctx).UnixMilli()))
	switch {
	case r.PasswordHash != "":
		seen.State = pages.StateProtected
	case k != decision.Follow:
		seen.State = pages.StateEnded
	default:
		seen.Varies, seen.Title = e.SmartRouting() || e.ABTesting(), orNull(r.Title)
		to := r.Destination
		if r.Default != "" && e.SmartRouting() {
			to = r.Default
		}
		seen.Destination = &to
	}
	if !asksHTML(ctx) {
		h.json(ctx, seen)
		return
	}
	if h.deps.Reports != nil {
		seen.ReportURL = "/" + t.public() + "/report"
	}
	ctx.Response.Header.Set("Vary", "Accept, Accept-Language")
	ctx.Response.Header.Set("X-Robots-Tag", "noindex, nofollow")
	h.page(ctx, h.pagesOf(t.site).Look(seen, languageAsked(ctx)))
}
