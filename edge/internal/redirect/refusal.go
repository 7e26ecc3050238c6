package redirect

import (
	"encoding/json"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/valyala/fasthttp"
)

// refusal is an error answer, rendered once as HTML in each language with the brand of the service, and once as JSON.
type refusal struct {
	status int
	texts  [len(pageLanguages)]notice // the page of a language without a text is in English
	html   [len(pageLanguages)][]byte
	json   []byte
}

// notices are the texts of refusals by status. The page shows all of it; the JSON body contains the text.
var notices = map[int]notice{
	fasthttp.StatusBadRequest: {"Bad request", "The request is malformed.", ""},
	fasthttp.StatusNotFound: {"Link not found",
		"No link works at this address. Check it for typing errors, or try again later if the link starts later.",
		"If the address is right, ask the person who gave it to you."},
	fasthttp.StatusMethodNotAllowed: {"Method not allowed", "This address does not support that method.", ""},
	fasthttp.StatusRequestTimeout:   {"Request timeout", "The request took too long to arrive.", ""},
	fasthttp.StatusGone: {"Link no longer available", "This link has expired or has been turned off.",
		"Ask the person who gave it to you for a new one."},
	fasthttp.StatusRequestEntityTooLarge: {"Request too large", "The request body is too large for this address.", ""},
	fasthttp.StatusUnsupportedMediaType:  {"Unsupported media type", "Send the password as JSON or as a form.", ""},
	fasthttp.StatusMisdirectedRequest: {"Unknown host", "This service does not answer for the host name of this address.",
		"Check the address, or ask the person who gave it to you."},
	fasthttp.StatusTooManyRequests:             {"Too many attempts", "Too many wrong passwords were entered. Wait a while and try again.", ""},
	fasthttp.StatusRequestHeaderFieldsTooLarge: {"Request header too large", "The request line and the header are larger than 8 KiB.", ""},
	fasthttp.StatusInternalServerError:         {"Something went wrong", "An internal error occurred. It has been logged.", "Try again later."},
	fasthttp.StatusServiceUnavailable:          {"Service unavailable", "The service cannot answer at the moment. Try again soon.", ""},
	fasthttp.StatusLoopDetected:                {"Redirect loop", "This link leads back to this service, so it is not followed.", "Tell the person who gave it to you."},
}

func newRefusals(p *pages) map[int]*refusal {
	all := make(map[int]*refusal, len(notices))
	for status, n := range notices {
		texts := [len(pageLanguages)]notice{n}
		others := translated[status]
		copy(texts[1:], others[:])
		all[status] = newRefusal(p, status, texts)
	}
	return all
}

func newRefusal(p *pages, status int, texts [len(pageLanguages)]notice) *refusal {
	r := &refusal{status: status, texts: texts, json: apierror.Body(status, texts[0].text, nil, "")}
	for i := range r.html {
		if l := r.spoken(pageLanguage(i)); int(l) == i {
			r.html[i] = p.notify(texts[i], l)
		} else {
			r.html[i] = r.html[l]
		}
	}
	return r
}

// spoken returns the language in which a visitor who wants l gets the page.
func (r *refusal) spoken(l pageLanguage) pageLanguage {
	if r.texts[l].heading == "" {
		return 0
	}
	return l
}

// newTooMany returns the refusal for the rate limit. The notice with the same status is for password attempts.
func newTooMany(p *pages) *refusal {
	return newRefusal(p, fasthttp.StatusTooManyRequests, tooManyTexts)
}

// newSuspended returns the refusal for a domain that is suspended. The notice with the same status is for links.
func newSuspended(p *pages) *refusal { return newRefusal(p, fasthttp.StatusGone, suspendedTexts) }

// Constant header lines are set as one field whose name contains all of them except the last value. The server writes
// names unchanged, while it copies and checks each value. That is safe because no part of the name comes from a
// request. Every page and every JSON answer has these lines; redirects do not.
const fixedLines = "Cache-Control: private, no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy"

// jsonPolicy is the content security policy of answers that are not pages.
const jsonPolicy = "default-src 'none'; frame-ancestors 'none'"

var (
	fixedName    = []byte(fixedLines)
	jsonPolicyB  = []byte(jsonPolicy)
	typeHTML     = []byte("text/html; charset=utf-8")
	typeJSON     = []byte("application/json")
	nameID       = []byte("X-Request-ID")
	nameLocation = []byte("Cache-Control: private, no-store\r\nLocation")
	// nameLasting is for 301 and 308. Browsers may keep such a redirect, but must ask again before each use, so every
	// visit is counted and a change of the link takes effect.
	nameLasting = []byte("Cache-Control: private, max-age=0\r\nLocation")
)

// refuse answers with the refusal of a status, as HTML or JSON, whichever the client prefers.
func (h *Handler) refuse(ctx *fasthttp.RequestCtx, status int) {
	h.answer(ctx, h.refusals[status])
}

func (h *Handler) answer(ctx *fasthttp.RequestCtx, r *refusal) {
	ctx.Response.SetStatusCode(r.status)
	if asksHTML(ctx) {
		p := h.pagesAt(ctx)
		h.head(ctx, typeHTML, p.policy)
		ctx.Response.SetBodyRaw(p.refusalPage(r, h.pages, languageAsked(ctx)))
		return
	}
	h.head(ctx, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(r.json)
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
func (h *Handler) page(ctx *fasthttp.RequestCtx, body, policy []byte) {
	h.head(ctx, typeHTML, policy)
	ctx.Response.SetBodyRaw(body)
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
