package redirect

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/valyala/fasthttp"
)

// lookup finds the link that a request asks for. If the host finds slugs in any case, t gets the link's own spelling.
func (h *Handler) lookup(t *target) (e table.Entry, ok bool) {
	var buf [link.MaxKey]byte
	key := t.slug
	if t.site != nil {
		key = link.AppendKey(buf[:0], t.site.Domain, t.slug)
	} else if t.deepSlug {
		key = link.AppendKey(buf[:0], 0, t.slug)
	}
	if e, ok = h.deps.Table.Lookup(key); ok || !h.slugs(t).Fold {
		return e, ok
	}
	if e, ok = h.deps.Table.LookupFolded(key); ok {
		t.slug = slugOf(&e, len(t.slug))
	}
	return e, ok
}

// slugs returns which slugs the host of a request has.
func (h *Handler) slugs(t *target) snapshot.SlugForm {
	if h.deps.Hosts == nil {
		return snapshot.SlugForm{}
	}
	return h.deps.Hosts.Slugs(t.site)
}

// leadsHome reports whether a URL leads to the host that the visitor asked, or to that of BASE_URL. A redirect there would
// be a loop.
func (h *Handler) leadsHome(url string, t target) bool {
	return h.own.Has(url) || t.site != nil && t.site.Home.Has(url)
}

// namesOf returns the names of the service itself, whatever their port is. A name of the machine itself stands for all of them:
// people who try the service use any.
func namesOf(addresses ...string) (names []decision.Home) {
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" {
			continue
		}
		name := strings.TrimRight(strings.ToLower(u.Hostname()), ".")
		addr, err := netip.ParseAddr(name)
		switch {
		case name == "localhost", err == nil && addr.IsLoopback():
			names = append(names, decision.HomeOf("localhost"), decision.HomeOf("127.0.0.1"), decision.HomeOf("[::1]"))
		case err == nil && addr.Is6():
			names = append(names, decision.HomeOf("["+name+"]"))
		default:
			names = append(names, decision.HomeOf(name))
		}
	}
	return names
}

// asksService reports whether the host of a request is a name of the service itself.
func (h *Handler) asksService(host []byte) bool {
	for i := range h.names {
		if h.names[i].Is(view(host), h.scheme) {
			return true
		}
	}
	return false
}

// misdirected reports whether the host of a request is unknown and such hosts are refused.
func (h *Handler) misdirected(host []byte, t target) bool {
	return h.cfg.StrictHosts && t.site == nil && !t.own && !h.asksService(host)
}

// refuseHost answers a request for a host at which there are no links, neither those of the service nor those of a domain. The
// paths for health checks, crawlers and browsers are answered at every host: load balancers choose the host of their checks,
// and a workspace can claim any name.
func (h *Handler) refuseHost(ctx *fasthttp.RequestCtx, t target, r *pages.Refusal) {
	bounded(ctx)
	if !h.serveFixedPath(ctx, t.path) {
		h.tally.add(ctx.ConnID(), cRefused)
		h.answer(ctx, r)
	}
}

// visitSite answers a visit of a custom domain's root or of a slug that does not exist there, and reports whether the
// domain has an address for such visitors.
func (h *Handler) visitSite(ctx *fasthttp.RequestCtx, t target) bool {
	if !ctx.IsGet() && !ctx.IsHead() || h.deps.Ready != nil && !h.deps.Ready() {
		return false
	}
	to := t.site.NotFoundURL
	if string(t.path) == "/" {
		to = t.site.RootURL
	}
	if to == "" || h.leadsHome(to, t) {
		return false
	}
	h.tally.add(ctx.ConnID(), cMissing)
	if ctx.IsGet() {
		h.countMissing(t)
	}
	sendTo(ctx, to)
	return true
}

// countMissing counts a GET for a slug that does not exist.
func (h *Handler) countMissing(t target) {
	if h.deps.Missing == nil || t.slug == nil || len(t.rest) > 0 {
		return
	}
	if t.site != nil {
		h.deps.Missing.Add(t.site.Name, t.site.Domain, t.slug)
		return
	}
	h.deps.Missing.Add("", 0, t.slug)
}

// addressOf returns the public address of a link.
func (h *Handler) addressOf(t target) string {
	if t.site == nil {
		return h.base + "/" + t.public()
	}
	if h.cfg.TLS && t.site.Certificate != nil {
		return "https://" + t.site.Name + h.securePort + "/" + t.public()
	}
	return h.scheme + "://" + t.site.Name + "/" + t.public()
}
