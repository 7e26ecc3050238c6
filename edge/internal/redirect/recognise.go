package redirect

import (
	"bytes"
	mrand "math/rand/v2"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// remembered is how long a browser keeps the cookie after each visit: 30 days in seconds.
const remembered = "2592000"

var nameSetCookie = []byte("Set-Cookie")

// cookieRest is the part of Set-Cookie after the value. The cookie belongs to the host of the short URL.
const cookieRest = "; Max-Age=" + remembered + "; Path=/; HttpOnly; SameSite=Lax"

// encrypted reports whether the visitor's connection is encrypted, as far as this edge can tell: by its own port for TLS, or
// by a proxy in front of it. Browsers drop a cookie with the attribute Secure that arrives without encryption. A custom
// domain without a certificate has no encryption if TLS ends at this edge.
func (h *Handler) encrypted(r *request, t target) bool {
	if secure := r.secure(); secure || h.scheme != "https" {
		return secure
	}
	return t.site == nil || !h.cfg.TLS || h.behindTLS(r.conn, r.raw)
}

// choose returns the destination of a link with rules or an A/B test. It must follow meet.
func (h *Handler) choose(w *work, e *table.Entry, t target) decision.Choice {
	var own decision.Chooser
	c := h.deps.Table.Chooser(e, &own)
	if c.Needs() != 0 {
		return h.chooseRecognised(w, e, c, t)
	}
	return c.Choose(w, mrand.Uint64())
}

// chooseRecognised is choose for a link that needs to know the query or to recognise the visitor. It sets the cookie if the
// rules ask whether the visitor has been here before, or if a cookie makes variants sticky, and if the visit is redirected.
// Rules and variants see the same identity.
func (h *Handler) chooseRecognised(w *work, e *table.Entry, c *decision.Chooser, t target) decision.Choice {
	x := visitor.Extras{Query: t.query, Link: e.Num()}
	needs, anonymous := c.Needs(), false
	byCookie := c.Sticky() == link.StickyCookie
	if needs&(rule.NeedsVisitor|rule.NeedsShare) != 0 {
		if anonymous = h.cfg.HonorDNT && optsOut(w.raw); !anonymous {
			if x.Identity, x.Known = cookieIdentity(w.raw); !x.Known && byCookie {
				// A new visitor needs an identity of its own, because networks share addresses.
				x.Identity, x.Fresh = mrand.Uint64(), true
			}
		}
	}
	w.Extend(x)
	d := c.Choose(w, mrand.Uint64())
	if c.Sticky() != link.NotSticky {
		w.event.Visitor = max(1, w.Share()) // 0 is a click without a visitor
	}
	if (needs&rule.NeedsVisitor != 0 || byCookie) && !anonymous && !w.head && !h.leadsHome(d.Target, t) {
		w.cookie = append(append(w.cookie[:0], visitor.Cookie...), '=')
		w.cookie = append(visitor.AppendIdentity(w.cookie, w.Identity()), cookieRest...)
		if h.encrypted(&w.request, t) {
			w.cookie = append(w.cookie, "; Secure"...)
		}
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
