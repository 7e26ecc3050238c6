package redirect

import (
	"strings"
	"time"

	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/valyala/fasthttp"
)

// info answers GET /{slug}/info with the public properties of a link. The destination is not among them. Browsers get a page.
func (h *Handler) info(ctx *fasthttp.RequestCtx, t target) {
	e, ok := h.lookup(&t)
	if !ok || !h.refuseBeforeStart(ctx, &e) {
		h.missing(ctx)
		return
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		h.refuseMethod(ctx, "GET, HEAD")
		return
	}
	r := &h.deps.Table.Compiled(&e).Record
	if !h.open(ctx, &e, t) {
		return
	}
	h.tally.add(ctx.ConnID(), cInfos)
	if asksHTML(ctx) {
		h.page(ctx, h.pagesOf(t.site).Preview(r, h.addressOf(t), languageAsked(ctx)))
		return
	}
	h.json(ctx, struct {
		Slug             string  `json:"slug"`
		Title            *string `json:"title"`
		RequiresPassword bool    `json:"requiresPassword"`
		ExpiresAt        *string `json:"expiresAt"`
		CreatedAt        *string `json:"createdAt"`
		OGTitle          *string `json:"ogTitle"`
		OGDescription    *string `json:"ogDescription"`
		OGImageURL       *string `json:"ogImageUrl"`
	}{
		string(t.slug), orNull(r.Title), r.PasswordHash != "", instant(r.ExpiresAt), instant(r.CreatedAt),
		orNull(r.Preview.Title), orNull(r.Preview.Description), orNull(r.Preview.ImageURL),
	})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// instant formats a time like the API: ISO 8601 in UTC, or null if unixMilli is 0.
func instant(unixMilli int64) *string {
	if unixMilli == 0 {
		return nil
	}
	return orNull(time.UnixMilli(unixMilli).UTC().Format("2006-01-02T15:04:05.000Z"))
}

// robots lets crawlers fetch links and the pictures that previews name, because the crawlers of social networks obey robots.txt.
// The longest match counts (RFC 9309, 2.2.2); Allow is first for crawlers that stop at the first match. Pages contain a noindex
// tag against search engines.
const robots = "User-agent: *\nAllow: /api/og-images/\nDisallow: /api/\n"

// readiness returns the answer of /readyz, for load balancers and other health checks.
func (h *Handler) readiness() (status int, body string) {
	var reasons []string
	if h.deps.Unready != nil {
		reasons = h.deps.Unready()
	}
	if len(reasons) == 0 {
		return fasthttp.StatusOK, `{"status":"ready"}`
	}
	return fasthttp.StatusServiceUnavailable, `{"status":"not ready","reasons":["` + strings.Join(reasons, `","`) + `"]}`
}

// fixed reports whether serveFixedPath answers a path.
func fixed(path []byte) bool {
	switch string(path) {
	case "/robots.txt", "/favicon.ico", "/healthz", "/readyz":
		return true
	}
	return false
}

// serveFixedPath answers the serveFixedPath paths of every edge, such as /robots.txt. It returns false for other paths.
func (h *Handler) serveFixedPath(ctx *fasthttp.RequestCtx, path []byte) bool {
	if !fixed(path) {
		return false
	}
	var media, body, cache string
	status := fasthttp.StatusOK
	switch string(path) {
	case "/robots.txt":
		media, body, cache = "text/plain; charset=utf-8", robots, "public, max-age=86400"
	case "/favicon.ico":
		media, body, cache = "image/svg+xml", pages.Icon, "public, max-age=86400"
	case "/healthz":
		media, body, cache = "application/json", `{"status":"ok"}`, "no-store"
	case "/readyz":
		media, cache = "application/json", "no-store"
		status, body = h.readiness()
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		h.refuseMethod(ctx, "GET, HEAD")
		return true
	}
	ctx.Response.SetStatusCode(status)
	ctx.Response.Header.SetContentType(media)
	ctx.Response.Header.Set("Cache-Control", cache)
	ctx.Response.Header.Set("X-Content-Type-Options", "nosniff")
	ctx.Response.Header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	ctx.Response.SetBodyString(body)
	return true
}
