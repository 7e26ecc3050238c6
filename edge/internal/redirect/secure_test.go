package redirect_test

import (
	"net/http"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// own is the host of BASE_URL.
var own = snapshot.Host{Name: "sho.rt", Challenges: []snapshot.Challenge{{Token: "tok", KeyAuthorization: "tok.thumb"}}}

func TestAppLinks(t *testing.T) {
	t.Parallel()
	apps := acme
	apps.AppleAppSite, apps.AssetLinks = []byte(`{"applinks":{}}`), []byte(`[{"relation":[]}]`)
	w := newWorld(t, nil, withHosts(t, apps, bare, own))
	for _, c := range []struct {
		host, path string
		status     int
		body       string
	}{
		{"go.acme.com", "/.well-known/apple-app-site-association", 200, `{"applinks":{}}`},
		{"go.acme.com", "/.well-known/assetlinks.json", 200, `[{"relation":[]}]`},
		{"go.acme.com", "/.well-known/assetlinks.json?x", 200, `[{"relation":[]}]`},
		{"go.bare.com", "/.well-known/apple-app-site-association", 404, ""},
		{"go.bare.com", "/.well-known/assetlinks.json", 404, ""},
		{"sho.rt", "/.well-known/assetlinks.json", 404, ""},
		{"go.acme.com", "/.well-known/other", 302, ""}, // as any other unknown path there
	} {
		got := w.get(c.path, "Host", c.host)
		if got.StatusCode != c.status || c.body != "" && (got.body != c.body || got.Header.Get("Content-Type") != "application/json") {
			t.Errorf("%s%s: %d %q %v", c.host, c.path, got.StatusCode, got.body, got.Header)
		}
	}
}

// Challenges are answered on each host that has one, whatever limits visitors.
func TestChallenges_are_not_limited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "plain", Destination: "https://example.com/"}}, withHosts(t, own),
		func(c *redirect.Config, _ *redirect.Deps) {
			c.RateLimit, c.StrictHosts, c.TLS = 2, true, true
		})
	for range 5 {
		if got := w.get("/.well-known/acme-challenge/tok", "Host", "sho.rt:80"); got.StatusCode != http.StatusOK ||
			got.body != "tok.thumb" {
			t.Errorf("%d %q", got.StatusCode, got.body)
		}
	}
	for _, path := range []string{"/.well-known/acme-challenge/", "/.well-known/acme-challenge/to", "/.well-known/acme-challenge/tok/x"} {
		if got := w.get(path, "Host", "sho.rt"); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	// The table knows this name, so STRICT_HOSTS permits it with any port. It has no certificate, so nothing is upgraded.
	if got := w.get("/plain", "Host", "sho.rt:8443"); got.StatusCode != http.StatusFound {
		t.Errorf("the own host: %d", got.StatusCode)
	}
	if got := w.get("/plain", "Host", "other.example"); got.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("an unknown host: %d", got.StatusCode)
	}
}

// A request without TLS is redirected whatever its method and body are, and nothing after a large body is read.
func TestUpgrades_with_bodies(t *testing.T) {
	t.Parallel()
	certified := acme
	certified.Certificate = &snapshot.Certificate{Chain: [][]byte{{1}}, Key: "sealed"}
	w := newWorld(t, nil, withHosts(t, certified), func(c *redirect.Config, _ *redirect.Deps) {
		c.TLS, c.BaseURL = true, "https://sho.rt:8443"
	})
	for _, size := range []int{0, 100, 3000} {
		got := w.ask("POST", "/spring/verify?a=b", string(make([]byte, size)), "Host", "go.acme.com")
		if got.StatusCode != http.StatusPermanentRedirect || got.Header.Get("Location") != "https://go.acme.com:8443/spring/verify?a=b" ||
			got.Close != (size > 1<<10) {
			t.Errorf("%d bytes: %d %v, closed %v", size, got.StatusCode, got.Header, got.Close)
		}
	}
}
