package redirect

import (
	"bytes"
	mrand "math/rand/v2"
	"strings"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

// remembered is how long a browser keeps the cookie after each visit: 30 days in seconds.
const remembered = "2592000"

var nameSetCookie = []byte("Set-Cookie")

// cookieAttributes returns the part of Set-Cookie after the value. The cookie belongs to the host of the short URL.
func cookieAttributes(baseURL string) string {
	attributes := "; Max-Age=" + remembered + "; Path=/; HttpOnly; SameSite=Lax"
	if strings.HasPrefix(strings.ToLower(baseURL), "https:") {
		attributes += "; Secure"
	}
	return attributes
}

// choose returns the destination of a link with rules or an A/B test. It must follow meet.
func (h *Handler) choose(ctx *fasthttp.RequestCtx, w *work, plan *table.Plan, query []byte) decision.Choice {
	if plan.Needs() != 0 {
		return h.chooseRecognised(ctx, w, plan, query)
	}
	return plan.Choose(w, mrand.Uint64())
}

// chooseRecognised is choose for a link whose rules need to know the query or to recognise the visitor. It sets the
// cookie if the rules ask whether the visitor has been here before, and if the visit is redirected.
func (h *Handler) chooseRecognised(ctx *fasthttp.RequestCtx, w *work, plan *table.Plan, query []byte) decision.Choice {
	x := visitor.Extras{Query: query, Link: plan.Record.Num}
	needs, anonymous := plan.Needs(), false
	if needs&(rule.NeedsVisitor|rule.NeedsShare) != 0 {
		raw := ctx.Request.Header.RawHeaders()
		if anonymous = h.cfg.HonorDNT && optsOut(raw); !anonymous {
			x.Identity, x.Known = cookieIdentity(raw)
		}
	}
	w.Extend(x)
	d := plan.Choose(w, mrand.Uint64())
	if needs&rule.NeedsVisitor != 0 && !anonymous && !ctx.IsHead() && !h.own.Has(d.Target) {
		w.cookie = append(append(w.cookie[:0], visitor.Cookie...), '=')
		w.cookie = append(visitor.AppendIdentity(w.cookie, w.Identity()), h.cookieRest...)
		ctx.Response.Header.SetCanonical(nameSetCookie, w.cookie)
	}
	return d
}

// optsOut reports whether a raw header block contains "DNT: 1" or "Sec-GPC: 1".
func optsOut(raw []byte) bool {
	return string(first(raw, "dnt")) == "1" || string(first(raw, "sec-gpc")) == "1"
}

// cookieIdentity returns the first valid identity among the cookies of a raw header block.
func cookieIdentity(raw []byte) (id uint64, ok bool) {
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 0 {
			break
		}
		line := raw[:end]
		raw = raw[end+1:]
		for cookies := field(line, "cookie"); len(cookies) > 0; {
			one := cookies
			if n := bytes.IndexByte(cookies, ';'); n >= 0 {
				one, cookies = cookies[:n], cookies[n+1:]
			} else {
				cookies = nil
			}
			one = bytes.Trim(one, " \t")
			if len(one) > len(visitor.Cookie) && one[len(visitor.Cookie)] == '=' && string(one[:len(visitor.Cookie)]) == visitor.Cookie {
				if id, ok = visitor.ParseIdentity(one[len(visitor.Cookie)+1:]); ok {
					return id, true
				}
			}
		}
	}
	return 0, false
}
