package redirect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

func lookLinks() []link.Record {
	return []link.Record{
		{Key: "spring", Destination: "https://example.com/sale?x=<b>&y", Title: "Spring <Sale>"},
		{Key: "locked", Destination: "https://secret.example/", Title: "Secret", PasswordHash: secret()},
		{Key: "off", Destination: "https://evil.example/", Title: "Evil", Inactive: true},
		{Key: "expired", Destination: "https://evil.example/", ExpiresAt: epoch.UnixMilli() - 1},
		{Key: "later", Destination: "https://evil.example/", StartsAt: epoch.Add(time.Hour).UnixMilli()},
		{Key: "rules", Destination: "https://example.com/", Default: "https://default.example/", SmartRouting: true, Rules: []link.Rule{
			ruleFor(1, "https://m.example/", one("device", "equals", `"MOBILE"`))}},
	}
}

func TestLook_states(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lookLinks())
	for _, c := range []struct {
		path, holds, lacks string
		status             int
	}{
		{"/spring+", `"destination":"https://example.com/sale?x=\u003cb\u003e\u0026y"`, "", 200},
		{"/spring%2B", `"state":"active"`, "", 200},
		{"/spring+.", `"state":"active"`, "", 200},
		{"/locked+", `{"slug":"locked","shortUrl":"https://sho.rt/locked","state":"protected","title":null,"destination":null,"varies":false}`, "", 200},
		{"/off+", `"state":"ended","title":null,"destination":null`, "evil", 200},
		{"/expired+", `"state":"ended"`, "evil", 200},
		{"/later+", "", "evil", 404},
		{"/rules+", `"destination":"https://default.example/","varies":true`, "", 200},
		{"/nothing+", "", "", 404},
	} {
		a := w.get(c.path)
		if a.StatusCode != c.status || !strings.Contains(a.body, c.holds) || c.lacks != "" && strings.Contains(a.body, c.lacks) {
			t.Errorf("%s: %d %s", c.path, a.StatusCode, a.body)
		}
	}
	if s := w.handler.Stats(); s.Redirects != 0 || s.Infos != 7 {
		t.Errorf("a preview is a click: %+v", s)
	}
	if a := w.get("/spring+more"); a.StatusCode != http.StatusFound { // spaces of a sentence
		t.Errorf("%d", a.StatusCode)
	}
}

func TestLook_page(t *testing.T) {
	t.Parallel()
	host := acme
	host.BrandName, host.NotFoundURL = "Acme <Inc>", ""
	sale := link.Record{Key: link.Key(36, "sale"), Destination: "https://example.com/"}
	w := newWorld(t, append(lookLinks(), sale), withHosts(t, host))
	for language, holds := range map[string]string{
		"": `lang="en"`, "en-GB,en": "This link leads to", "de-AT,de;q=0.9": "Dieser Link führt zu", "fr": "Ce lien mène", "es": "Este enlace",
		"ja": "移動先", "ar": `lang="ar" dir="rtl"`, "pt": "This link leads to", "<script>": `lang="en"`,
	} {
		a := w.get("/spring+", "Accept", browser, "Accept-Language", language)
		if a.StatusCode != http.StatusOK || !strings.Contains(a.body, holds) || !strings.Contains(a.body, "https://example.com/sale?x=&lt;b&gt;&amp;y") ||
			!strings.Contains(a.body, `content="noindex"`) || !strings.Contains(a.body, `href="https://sho.rt/spring"`) ||
			strings.Contains(a.body, "<Sale>") || a.Header.Get("X-Robots-Tag") == "" {
			t.Errorf("%q: %d %s", language, a.StatusCode, a.body)
		}
	}
	if a := w.get("/sale+", "Accept", browser, "Host", "go.acme.com"); !strings.Contains(a.body, "Acme &lt;Inc&gt;") {
		t.Errorf("brand: %s", a.body)
	}
	if a := w.get("/locked+", "Accept", browser); strings.Contains(a.body, "secret.example") || strings.Contains(a.body, "Secret") {
		t.Errorf("a protected link shows %s", a.body)
	}
}

// A workspace can turn previews off; then the address is that of nothing.
func TestLook_off(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lookLinks(), withBase(t, snapshot.Base{Hidden: []uint64{77}}))
	if a := w.get("/spring+", "Accept", browser); a.StatusCode != http.StatusNotFound || strings.Contains(a.body, "example.com") {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if a := w.get("/spring"); a.StatusCode != http.StatusFound {
		t.Errorf("visit: %d", a.StatusCode)
	}
}

func TestLook_is_limited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lookLinks(), func(c *redirect.Config, _ *redirect.Deps) { c.RateLimit = 2 })
	for _, want := range []int{200, 200, 429} {
		if a := w.get("/spring+"); a.StatusCode != want {
			t.Errorf("%d instead of %d", a.StatusCode, want)
		}
	}
}
