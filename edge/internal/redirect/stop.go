package redirect

import (
	"bytes"

	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/valyala/fasthttp"
)

// standing returns the properties of a link that can prevent a redirect. It reads the table's entry, which is in the
// processor's cache, and not the compiled link, which may not be.
func standing(e *table.Entry, terms *table.Terms, exhausted bool) decision.Barrier {
	return decision.Barrier{
		StartsAt: terms.StartsAt, ExpiresAt: terms.ExpiresAt, Inactive: e.Inactive(), Exhausted: exhausted,
		HasPassword: e.HasPassword(), HasPreview: e.HasPreview(),
	}
}

// at is a time as a decision.Visit. It is no crawler.
type at int64

func (t at) UnixMilli() int64 { return int64(t) }
func (at) Crawler() bool      { return false }

// refuseBeforeStart reports whether a link exists for visitors. Before its start it does not.
func (h *Handler) refuseBeforeStart(ctx *fasthttp.RequestCtx, e *table.Entry) bool {
	return e.Terms().StartsAt <= h.now(ctx).UnixMilli()
}

// open reports whether a link leads anywhere, apart from a password. If it does not, open answers the request.
func (h *Handler) open(ctx *fasthttp.RequestCtx, e *table.Entry, t target) bool {
	terms := e.Terms()
	k := decision.Barrier{
		StartsAt: terms.StartsAt, ExpiresAt: terms.ExpiresAt, Inactive: e.Inactive(), Exhausted: h.exhausted(e, &terms),
	}.Meet(at(h.now(ctx).UnixMilli()))
	if k == decision.Follow {
		return true
	}
	h.stop(ctx, e, k, t)
	return false
}

// stop answers a visit without a redirect to the link's destination.
func (h *Handler) stop(ctx *fasthttp.RequestCtx, e *table.Entry, k decision.Outcome, t target) {
	switch k {
	case decision.Absent:
		if t.site == nil || !h.visitSite(ctx, t) {
			h.missing(ctx)
		}
		return
	case decision.Gone:
		h.serveGone(ctx)
		return
	case decision.Ended:
		h.ended(ctx, &h.deps.Table.Compiled(e).Record, t)
		return
	}
	r := &h.deps.Table.Compiled(e).Record
	if k == decision.AskPassword {
		h.form(ctx, r, t)
		return
	}
	h.tally.add(ctx.ConnID(), cPreviews)
	h.page(ctx, h.pagesOf(t.site).Preview(r, h.addressOf(t), languageAsked(ctx)))
}

// ended answers for a link that has expired or is exhausted. Visitors and password forms are redirected to the link's
// ExpiredURL or else the domain's. Programs that ask for info, or send a password as JSON, get 410.
func (h *Handler) ended(ctx *fasthttp.RequestCtx, r *link.Record, t target) {
	forms := len(t.rest) == 0 || ctx.IsPost() && bytes.HasPrefix(ctx.Request.Header.ContentType(),
		[]byte("application/x-www-form-urlencoded"))
	to := r.ExpiredURL
	if to == "" && t.site != nil {
		to = t.site.ExpiredURL
	}
	if to == "" || !forms || h.leadsHome(to, t) {
		h.serveGone(ctx)
		return
	}
	h.tally.add(ctx.ConnID(), cEnded)
	sendTo(ctx, to)
}

// sendTo redirects a visit that is not a click.
func sendTo(ctx *fasthttp.RequestCtx, url string) {
	if ctx.IsHead() {
		ctx.Response.Header.SetContentLength(0)
	}
	ctx.Response.SetStatusCode(fasthttp.StatusFound)
	ctx.Response.Header.SetCanonical(nameLocation, []byte(url))
}

// exhausted reports whether the clicks of a link have reached its limit, as far as this edge may decide.
func (h *Handler) exhausted(e *table.Entry, terms *table.Terms) bool {
	return terms.Limit.Since != 0 && h.deps.Quota.Spent(e.Num(), terms.Limit)
}

// take counts the click of a person against the limit of a link. If the limit does not allow the click, take answers the
// request and returns false. Bots and prefetches do not count, as in reports.
func (h *Handler) take(w *work, e *table.Entry, terms *table.Terms, t target) bool {
	if w.event.Prefetch || w.Agent().Bot {
		return true
	}
	switch h.deps.Quota.Take(e.Num(), terms.Limit) {
	case quota.Granted:
		return true
	case quota.Unknown:
		h.refuseUnready(w.context())
	default:
		h.ended(w.context(), &h.deps.Table.Compiled(e).Record, t)
	}
	return false
}
