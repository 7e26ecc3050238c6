package redirect

import (
	"encoding/json"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/valyala/fasthttp"
)

// refusal is an answer that leads nowhere, rendered once in both of its forms.
type refusal struct {
	status     int
	html, json []byte
}

// notices are the texts of refusals by status: a heading and a sentence for people, the sentence for programs.
var notices = map[int]struct{ heading, text string }{
	fasthttp.StatusBadRequest:                  {"Bad request", "The request could not be understood."},
	fasthttp.StatusNotFound:                    {"Link not found", "There is no link at this address. Check it for typing errors."},
	fasthttp.StatusMethodNotAllowed:            {"Method not allowed", "This address does not take that method."},
	fasthttp.StatusRequestTimeout:              {"Request timeout", "The request took too long to arrive."},
	fasthttp.StatusGone:                        {"Link no longer available", "This link has expired or has been turned off."},
	fasthttp.StatusRequestEntityTooLarge:       {"Request too large", "The body of the request is larger than this address takes."},
	fasthttp.StatusUnsupportedMediaType:        {"Unsupported media type", "Send the password as JSON or as a form."},
	fasthttp.StatusTooManyRequests:             {"Too many attempts", "There were too many wrong passwords. Wait a while and try again."},
	fasthttp.StatusRequestHeaderFieldsTooLarge: {"Request header too large", "The header of the request, with its address, is larger than 8 KiB."},
	fasthttp.StatusInternalServerError:         {"Something went wrong", "The request could not be answered. It has been noted."},
	fasthttp.StatusServiceUnavailable:          {"Not available", "The service can't answer this at the moment. Try again soon."},
	fasthttp.StatusLoopDetected:                {"Redirect loop", "This link leads back to this very service, so it is not followed."},
}

func newRefusals(p *pages) map[int]*refusal {
	all := make(map[int]*refusal, len(notices))
	for status, n := range notices {
		all[status] = newRefusal(p, status, n.heading, n.text)
	}
	return all
}

func newRefusal(p *pages, status int, heading, text string) *refusal {
	return &refusal{
		status: status,
		html:   p.render(p.notice, page{Heading: heading, Text: text}),
		json:   apierror.Body(status, text, nil, ""),
	}
}

// newTooMany is for who asks too much; the notice of that status is for who guesses.
func newTooMany(p *pages) *refusal {
	return newRefusal(p, fasthttp.StatusTooManyRequests, "Too many requests", "There were too many requests from your address. Wait a while and try again.")
}

// Constant header lines are put in as one field, whose name holds all of them but the value of the last. The
// server writes a name as it is, while it copies and checks each field's value; and none of a name comes from a
// request. These stand on every page and every JSON answer, but not on redirects.
const fixedLines = "Cache-Control: private, no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy"

// jsonPolicy is the content security policy of answers that are no page.
const jsonPolicy = "default-src 'none'; frame-ancestors 'none'"

var (
	fixedName    = []byte(fixedLines)
	jsonPolicyB  = []byte(jsonPolicy)
	typeHTML     = []byte("text/html; charset=utf-8")
	typeJSON     = []byte("application/json")
	nameID       = []byte("X-Request-ID")
	nameLocation = []byte("Cache-Control: private, no-store\r\nLocation")
)

// refuse answers with one of the fixed refusals, as a page or as JSON, whichever the client prefers.
func (h *Handler) refuse(ctx *fasthttp.RequestCtx, status int) {
	h.answer(ctx, h.refusals[status])
}

func (h *Handler) answer(ctx *fasthttp.RequestCtx, r *refusal) {
	a := scanAsker(ctx.Request.Header.RawHeaders())
	if r.status != fasthttp.StatusBadRequest && misfits(&ctx.Request.Header, a.unsound, a.encoded) {
		h.misframed(ctx)
		return
	}
	ctx.Response.SetStatusCode(r.status)
	if prefersHTML(a.accept) {
		h.head(ctx, a.id, typeHTML, h.policy)
		ctx.Response.SetBodyRaw(r.html)
		return
	}
	h.head(ctx, a.id, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(r.json)
}

// refuseMethod answers 405 and names the methods that are taken here.
func (h *Handler) refuseMethod(ctx *fasthttp.RequestCtx, allow string) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuse(ctx, fasthttp.StatusMethodNotAllowed)
	ctx.Response.Header.Set("Allow", allow)
}

// refuseWith answers with a JSON error of its own words.
func (h *Handler) refuseWith(ctx *fasthttp.RequestCtx, status int, message string, problems ...apierror.Field) {
	ctx.Response.SetStatusCode(status)
	h.head(ctx, scanAsker(ctx.Request.Header.RawHeaders()).id, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(apierror.Body(status, message, problems, ""))
}

// page answers with a rendered page.
func (h *Handler) page(ctx *fasthttp.RequestCtx, body, policy []byte) {
	h.head(ctx, scanAsker(ctx.Request.Header.RawHeaders()).id, typeHTML, policy)
	ctx.Response.SetBodyRaw(body)
}

// json answers 200 with a value.
func (h *Handler) json(ctx *fasthttp.RequestCtx, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an answer can't be rendered: " + err.Error())
	}
	h.head(ctx, scanAsker(ctx.Request.Header.RawHeaders()).id, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(b)
}

// head sets the fields that all answers but redirects have: media type, security, and the request id, which is
// the one that the request came with if that is a sane one.
func (h *Handler) head(ctx *fasthttp.RequestCtx, id, mediaType, policy []byte) {
	ctx.Response.Header.SetContentTypeBytes(mediaType)
	ctx.Response.Header.SetCanonical(fixedName, policy)
	var buf [16]byte
	ctx.Response.Header.SetCanonical(nameID, h.requestID(ctx, id, buf[:0]))
}

// requestID returns the id, or if there is none that is fit for a header and a log, a new one appended to buf.
func (h *Handler) requestID(ctx *fasthttp.RequestCtx, id, buf []byte) []byte {
	if len(id) > 0 && len(id) <= 64 && slugLike(id) {
		return id
	}
	const digits = "0123456789abcdef"
	for n := h.idBase ^ ctx.ID(); len(buf) < 16; n >>= 4 {
		buf = append(buf, digits[n&15])
	}
	return buf
}

// slugLike keeps foreign ids to bytes that are harmless in headers and logs.
func slugLike(id []byte) bool {
	for _, c := range id {
		if !slugByte[c] && c != '.' && c != ':' {
			return false
		}
	}
	return true
}
