package redirect

import (
	"encoding/json"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/valyala/fasthttp"
)

var (
	// Constant header lines are set as one field whose name contains all of them except the last value. The server writes
	// names unchanged, while it copies and checks each value. That is safe because no part of the name comes from a
	// request. Every page and every JSON answer has these lines; redirects do not.
	fixedName    = []byte("Cache-Control: private, no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy")
	jsonPolicyB  = []byte("default-src 'none'; frame-ancestors 'none'") // content security policy of answers that are not pages
	typeHTML     = []byte("text/html; charset=utf-8")
	typeJSON     = []byte("application/json")
	nameID       = []byte("X-Request-ID")
	nameLocation = []byte("Cache-Control: private, no-store\r\nLocation")
	// nameLasting is for 301 and 308. Browsers may keep such a redirect, but must ask again before each use, so every
	// visit is counted and a change of the link takes effect.
	nameLasting = []byte("Cache-Control: private, max-age=0\r\nLocation")
)

// pagesOf returns the pages with the brand of a custom domain, or with that of the service if site is nil.
func (h *Handler) pagesOf(site *hosts.Host) *pages.Set {
	if site == nil {
		return h.pages.Own
	}
	return h.pages.Of(pages.Brand{Name: site.BrandName, LogoURL: site.BrandLogo})
}

// asksHTML reports whether a request prefers pages to JSON.
func asksHTML(ctx *fasthttp.RequestCtx) bool {
	return prefersHTML(first(ctx.Request.Header.RawHeaders(), "accept"))
}

// languageAsked returns the language of the pages that a request prefers.
func languageAsked(ctx *fasthttp.RequestCtx) pages.Language {
	return pages.LanguageOf(view(first(ctx.Request.Header.RawHeaders(), "accept-language")))
}

// refuse answers with the refusal of a status, as HTML or JSON, whichever the client prefers.
func (h *Handler) refuse(ctx *fasthttp.RequestCtx, status int) {
	h.answer(ctx, h.pages.Refusals[status])
}

func (h *Handler) answer(ctx *fasthttp.RequestCtx, r *pages.Refusal) {
	ctx.Response.SetStatusCode(r.Status)
	if asksHTML(ctx) {
		var site *hosts.Host // the caller may not have found it yet
		if h.deps.Hosts != nil {
			site = h.deps.Hosts.Lookup(ctx.Request.Header.Host())
		}
		h.page(ctx, h.pagesOf(site).Refusal(r, languageAsked(ctx)))
		return
	}
	h.head(ctx, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(r.JSON)
}

// refuseMethod answers 405 with the allowed methods.
func (h *Handler) refuseMethod(ctx *fasthttp.RequestCtx, allow string) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, fasthttp.StatusMethodNotAllowed)
	ctx.Response.Header.Set("Allow", allow)
}

// refuseWith answers with a JSON error with the given message.
func (h *Handler) refuseWith(ctx *fasthttp.RequestCtx, status int, message string, problems ...apierror.Field) {
	ctx.Response.SetStatusCode(status)
	h.head(ctx, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(apierror.Body(status, message, problems, ""))
}

// page answers with a rendered page.
func (h *Handler) page(ctx *fasthttp.RequestCtx, p pages.Page) {
	h.head(ctx, typeHTML, p.Policy)
	ctx.Response.SetBodyRaw(p.HTML)
}

// json answers 200 with a value.
func (h *Handler) json(ctx *fasthttp.RequestCtx, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: cannot render an answer: " + err.Error())
	}
	h.head(ctx, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(b)
}

// head sets the fields of all answers except redirects: media type, security headers and the id of the request.
func (h *Handler) head(ctx *fasthttp.RequestCtx, mediaType, policy []byte) {
	ctx.Response.Header.SetContentTypeBytes(mediaType)
	ctx.Response.Header.SetCanonical(fixedName, policy)
	var buf [16]byte
	asked := first(ctx.Request.Header.RawHeaders(), "x-request-id")
	ctx.Response.Header.SetCanonical(nameID, requestID(h.idBase^ctx.ID(), asked, buf[:0]))
}

// requestID returns id if it is safe for headers and logs. Otherwise it appends number to buf.
func requestID(number uint64, id, buf []byte) []byte {
	if len(id) > 0 && len(id) <= 64 && slugLike(id) {
		return id
	}
	const digits = "0123456789abcdef"
	for ; len(buf) < 16; number >>= 4 {
		buf = append(buf, digits[number&15])
	}
	return buf
}

// slugLike reports whether all bytes of a client's id are harmless in headers and logs.
func slugLike(id []byte) bool {
	for _, c := range id {
		if !slugByte[c] && c != '.' && c != ':' {
			return false
		}
	}
	return true
}
