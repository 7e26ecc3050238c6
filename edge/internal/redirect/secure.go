package redirect

import (
	"bytes"
	"crypto/subtle"
	"net"
	"net/url"
	"strconv"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/valyala/fasthttp"
)

// Paths that a host answers itself.
const (
	wellKnown     = "/.well-known/"
	challengePath = wellKnown + "acme-challenge/" // RFC 8555, 8.3
	applePath     = wellKnown + "apple-app-site-association"
	assetPath     = wellKnown + "assetlinks.json"
)

var (
	nameHSTS  = []byte("Strict-Transport-Security")
	typeBytes = []byte("application/octet-stream")
)

// atHost answers requests whose answer follows from their host, and reports whether it did: domains that are not in service,
// challenges of certificate authorities, TLS connections that were opened for another host, redirects to https, and app links.
// host is nil if it is unknown. The connection uses TLS if secure is true, and was then opened for the host called name.
func (h *Handler) atHost(ctx *fasthttp.RequestCtx, host *hosts.Host, name string, secure bool, t target) bool {
	if host != nil && host.Withdrawn {
		if !h.asksService(ctx.Request.Header.Host()) {
			r := h.pages.Refusals[fasthttp.StatusMisdirectedRequest]
			if host.Suspended {
				r = h.pages.Suspended
			}
			h.refuseHost(ctx, t, r)
			return true
		}
		host = nil // the name became the service's own after a workspace had taken it
	}
	special := host != nil && bytes.HasPrefix(t.path, []byte(wellKnown))
	switch {
	case special && bytes.HasPrefix(t.path, []byte(challengePath)) && (ctx.IsGet() || ctx.IsHead()):
		if h.framed(ctx, maxIdleBody) {
			h.challenge(ctx, host, t.path[len(challengePath):])
		}
		return true
	case secure && (host == nil || host.Name != name):
		if h.framed(ctx, maxIdleBody) {
			h.tally.add(ctx.ConnID(), cRefused)
			h.refuse(ctx, fasthttp.StatusMisdirectedRequest)
		}
		return true
	case host == nil:
		return false
	case secure:
		var buf [32]byte
		if age := h.appendHSTS(buf[:0], host); len(age) > 0 {
			ctx.Response.Header.SetCanonical(nameHSTS, age)
		}
	case h.cfg.TLS && host.Certificate != nil && !h.behindTLS(ctx.Conn(), ctx.Request.Header.RawHeaders()):
		h.upgrade(ctx, host, t)
		return true
	}
	if special && host.Domain != 0 && (ctx.IsGet() || ctx.IsHead()) {
		switch string(t.path) {
		case applePath:
			h.appLinks(ctx, host.AppleAppSite)
			return true
		case assetPath:
			h.appLinks(ctx, host.AssetLinks)
			return true
		}
	}
	return false
}

// bounded reads a small body. The connection ends after the answer if there is a larger one.
func bounded(ctx *fasthttp.RequestCtx) {
	if bodyStatus(ctx, maxIdleBody) != 0 {
		ctx.SetConnectionClose() // the rest of the body must not be read as a request
	}
}

// challenge answers a certificate authority that asks by http-01.
func (h *Handler) challenge(ctx *fasthttp.RequestCtx, host *hosts.Host, token []byte) {
	for _, c := range host.Challenges {
		if subtle.ConstantTimeCompare([]byte(c.Token), token) == 1 {
			h.head(ctx, typeBytes, jsonPolicyB)
			ctx.Response.SetBodyString(c.KeyAuthorization)
			return
		}
	}
	h.tally.add(ctx.ConnID(), cMissing)
	h.refuse(ctx, fasthttp.StatusNotFound)
}

// appLinks answers with a document of a domain for the operating systems of phones.
func (h *Handler) appLinks(ctx *fasthttp.RequestCtx, document []byte) {
	if !h.framed(ctx, maxIdleBody) || h.refuseOverLimit(ctx) {
		return
	}
	if len(document) == 0 {
		h.tally.add(ctx.ConnID(), cMissing)
		h.refuse(ctx, fasthttp.StatusNotFound)
		return
	}
	h.head(ctx, typeJSON, jsonPolicyB)
	ctx.Response.SetBodyRaw(document)
}

// ownHSTS returns the value of Strict-Transport-Security for the service's own names, or nil.
func ownHSTS(cfg *Config) []byte {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || cfg.HSTS <= 0 || u.Scheme != "https" || u.Port() != "" || u.Hostname() == "localhost" {
		return nil
	}
	return strconv.AppendInt([]byte("max-age="), cfg.HSTS, 10)
}

// appendHSTS appends the value of Strict-Transport-Security, which tells browsers to use https for the host from now on. It appends nothing
// if the owner of the host does not want that.
func (h *Handler) appendHSTS(b []byte, host *hosts.Host) []byte {
	if host.HSTS > 0 {
		return strconv.AppendInt(append(b, "max-age="...), host.HSTS, 10)
	}
	if host.Domain == 0 {
		b = append(b, h.hsts...)
	}
	return b
}

// behindTLS reports whether a trusted proxy says that the visitor has used https.
func (h *Handler) behindTLS(conn net.Conn, raw []byte) bool {
	return len(h.cfg.Trusted) > 0 && h.cfg.Trusted.Contains(peer(conn)) && string(first(raw, "x-forwarded-proto")) == "https"
}

// upgrade redirects a request to the same address with https.
func (h *Handler) upgrade(ctx *fasthttp.RequestCtx, host *hosts.Host, t target) {
	bounded(ctx)
	to := make([]byte, 0, len("https://")+len(host.Name)+len(h.securePort)+len(t.path)+1+len(t.query))
	to = append(append(append(append(to, "https://"...), host.Name...), h.securePort...), t.path...)
	if len(t.query) > 0 {
		to = append(append(to, '?'), t.query...)
	}
	h.tally.add(ctx.ConnID(), cUpgrades)
	if ctx.IsHead() {
		ctx.Response.Header.SetContentLength(0)
	}
	ctx.Response.SetStatusCode(fasthttp.StatusPermanentRedirect)
	ctx.Response.Header.SetCanonical(nameLasting, to)
}

// securePortOf returns the port of https addresses with its colon, or "" for 443. If BASE_URL has the scheme https, its
// port is also that of custom domains, because the same edges serve them.
func securePortOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "https" || u.Port() == "" || u.Port() == "443" {
		return ""
	}
	return ":" + u.Port()
}
