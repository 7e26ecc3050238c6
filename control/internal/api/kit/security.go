package kit

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// secureHeaders sets the security headers of every response. An endpoint, such as for images, may override them.
func (k *Kit) secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, X-API-Key, X-Report-Pass, X-Request-ID, X-Workspace"
	corsExposed = "ETag, Idempotency-Replayed, Link, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Content-Disposition, X-Request-ID, X-Config-Revision, X-Edges, Preference-Applied, X-QR-Warning, Deprecation, Sunset"
)

// cors allows pages of the listed origins to read responses, with credentials, and answers preflight requests.
func (k *Kit) cors(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		origin := r.Header.Get("Origin")
		if origin == "" {
			return next(c)
		}
		h.Add("Vary", "Origin")
		allowed := k.origins[strings.ToLower(origin)]
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
			h.Set("Access-Control-Expose-Headers", corsExposed)
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			if allowed {
				h.Set("Access-Control-Allow-Methods", corsMethods)
				h.Set("Access-Control-Allow-Headers", corsHeaders)
				h.Set("Access-Control-Max-Age", "600")
			}
			return c.NoContent(http.StatusNoContent)
		}
		return next(c)
	}
}

// calledOrigin returns the origin of the address that a browser called. A proxy that terminates TLS may not tell us. If
// BASE_URL is https, the scheme is https in any case: a page over plain http is not ours, because anybody on the network
// can forge it.
func (k *Kit) calledOrigin(r *http.Request) string {
	scheme := "http"
	if k.Secure || r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return originOf(&url.URL{Scheme: scheme, Host: r.Host})
}

// originOf returns the origin of an address as browsers write it: in lower case, without the scheme's default port.
func originOf(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return scheme + "://" + host
}

// AllowsOrigin reports whether a page of an origin may call the API: our own page, or one of a listed origin. Unlike checkOrigin, it does
// not trust the host that the browser called, which an attacker chooses by DNS rebinding.
func (k *Kit) AllowsOrigin(origin string) bool {
	origin = strings.ToLower(origin)
	return origin == k.origin || k.origins[origin]
}

// checkOrigin prevents cross-site request forgery. It refuses a request that is authenticated only by a cookie and may change
// something, unless our own page or a page of a listed origin sent it. Other sites can make a browser send cookies, but
// they cannot choose these headers.
func (k *Kit) checkOrigin(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if origin := strings.ToLower(r.Header.Get("Origin")); origin != "" {
		// The address that the browser called counts as ours, too, because we serve its pages.
		if origin == k.origin || k.origins[origin] || origin == k.calledOrigin(r) {
			return nil
		}
	} else if site := r.Header.Get("Sec-Fetch-Site"); site == "" || site == "same-origin" || site == "none" {
		// Every current browser sends one of the two headers with a request from another page. Tools send none.
		return nil
	}
	return problem.New(problem.Forbidden, "This request comes from another site.")
}
