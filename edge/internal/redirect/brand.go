package redirect

import (
	"sync"
	"sync/atomic"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/valyala/fasthttp"
)

// maxBrands bounds the brands whose pages an edge keeps: each has up to 60 pages, of about 4 KB. Pages of others are rendered for each
// visitor.
const maxBrands = 250

// brands keeps the pages of the brands of custom domains. It is safe for concurrent use.
type brands struct {
	kept sync.Map // pages by Brand
	n    atomic.Int64
}

// of returns the pages of a brand, or nil if no page can show it.
func (b *brands) of(brand Brand) *pages {
	if p, ok := b.kept.Load(brand); ok {
		return p.(*pages)
	}
	p, err := newPages(brand)
	if err != nil {
		return nil
	}
	// Brands of domains that are gone stay until there are too many, then all are rendered again when they are needed.
	if b.n.Add(1) > maxBrands {
		b.kept.Clear()
		b.n.Store(1)
	}
	b.kept.Store(brand, p)
	return p
}

// pagesOf returns the pages with the brand of the custom domain that a visitor asked, or with that of the service.
func (h *Handler) pagesOf(t target) *pages { return h.pagesFor(t.site) }

// pagesAt is pagesOf for answers that are given before the request's target is known.
func (h *Handler) pagesAt(ctx *fasthttp.RequestCtx) *pages {
	if h.deps.Hosts == nil {
		return h.pages
	}
	return h.pagesFor(h.deps.Hosts.Lookup(ctx.Request.Header.Host()))
}

func (h *Handler) pagesFor(site *hosts.Host) *pages {
	if site == nil || site.BrandName == "" && site.BrandLogo == "" {
		return h.pages
	}
	brand := Brand{Name: site.BrandName, LogoURL: site.BrandLogo}
	if brand.Name == "" {
		brand.Name = h.pages.brand.Name
	}
	if p := h.brands.of(brand); p != nil {
		return p
	}
	return h.pages
}

// refusalPage returns the page of a refusal in a language, which is already rendered for the brand of the service, own.
func (p *pages) refusalPage(r *refusal, own *pages, l pageLanguage) []byte {
	if p == own {
		return r.html[l]
	}
	text := &r.texts[r.spoken(l)]
	if html, ok := p.refusals.Load(text); ok {
		return html.([]byte)
	}
	html := p.notify(*text, r.spoken(l))
	p.refusals.Store(text, html)
	return html
}
