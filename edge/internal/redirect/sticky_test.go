package redirect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// stickyLinks are links with two arms. Visitors of the rule's country are not drawn.
func stickyLinks() []link.Record {
	variants := []link.Variant{{ID: link.ID{1}, Target: "https://a.example/", Weight: 50},
		{ID: link.ID{2}, Target: "https://b.example/", Weight: 50}}
	of := func(key string, how link.Stickiness) link.Record {
		return link.Record{Key: key, Destination: "https://own.example/", ABTesting: true, Variants: variants, Stickiness: how}
	}
	ruled := of("ruled", link.StickyCookie)
	ruled.SmartRouting, ruled.Rules = true, []link.Rule{
		ruleFor(9, "https://rule.example/", one("language", "contains", `"de"`)),
		ruleFor(8, "https://returning.example/",
			`{"operator":"AND","conditions":[{"type":"visitor","operator":"equals",`+
				`"value":"returning"},{"type":"language","operator":"contains","value":"fr"}]}`),
	}
	locked := of("locked", link.StickyCookie)
	locked.PasswordHash = secret()
	site := of(link.Key(5, "cookie"), link.StickyCookie)
	off := of("off", link.StickyCookie)
	off.ABTesting = false
	return []link.Record{of("cookie", link.StickyCookie), of("hash", link.StickyHash), ruled, locked, site, off, of("none", link.NotSticky)}
}

func TestSticky_cookie(t *testing.T) {
	t.Parallel()
	edges := []*world{newWorld(t, stickyLinks(), trusting), newWorld(t, stickyLinks(), trusting)}
	seen, identities := map[string]int{}, map[string]bool{}
	const visitors = 200
	for range visitors {
		first := edges[0].get("/cookie") // all with the same address and the same browser
		where, cookie := first.Header.Get("Location"), first.cookie(t)
		seen[where]++
		identities[cookie] = true
		for i, w := range edges {
			again := w.get("/cookie", "Cookie", cookie, "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i), "User-Agent", "another")
			if again.Header.Get("Location") != where || again.cookie(t) != cookie {
				t.Fatalf("edge %d: %v, was at %s with %s", i, again.Header, where, cookie)
			}
		}
	}
	if len(identities) != visitors {
		t.Errorf("%d visitors have %d identities", visitors, len(identities))
	}
	if seen["https://a.example/"] < visitors/4 || seen["https://b.example/"] < visitors/4 {
		t.Errorf("%v", seen)
	}
	clicks := edges[0].clicks(2 * visitors)
	numbers := map[uint64]bool{}
	for i := 0; i < len(clicks); i += 2 {
		if clicks[i].Visitor == 0 || clicks[i].Visitor != clicks[i+1].Visitor || clicks[i].Variant != clicks[i+1].Variant {
			t.Fatalf("two clicks of one visitor: %+v %+v", clicks[i], clicks[i+1])
		}
		numbers[clicks[i].Visitor] = true
	}
	if len(numbers) != visitors {
		t.Errorf("%d visitors have %d numbers", visitors, len(numbers))
	}
	if got := edges[0].ask(http.MethodHead, "/cookie", ""); got.Header["Set-Cookie"] != nil || got.StatusCode != http.StatusFound {
		t.Errorf("HEAD: %v", got.Header)
	}
}

// A visitor keeps the variant at every edge, also at one that has just started, without a cookie.
func TestSticky_hash(t *testing.T) {
	t.Parallel()
	edges := []*world{newWorld(t, stickyLinks(), trusting), newWorld(t, stickyLinks(), trusting)}
	seen := map[string]int{}
	const visitors = 100
	for i := range visitors {
		headers := []string{"X-Forwarded-For", fmt.Sprintf("10.0.%d.7", i)}
		where := ""
		for _, w := range edges {
			for range 2 {
				got := w.get("/hash", headers...)
				if where == "" {
					where = got.Header.Get("Location")
					seen[where]++
				}
				if got.Header.Get("Location") != where || got.Header["Set-Cookie"] != nil {
					t.Fatalf("visitor %d: %v, was at %s", i, got.Header, where)
				}
			}
		}
	}
	if seen["https://a.example/"] < visitors/4 || seen["https://b.example/"] < visitors/4 {
		t.Errorf("%v", seen)
	}
	for _, e := range edges[1].clicks(2 * visitors) {
		if e.Visitor == 0 {
			t.Fatal("a click without a visitor")
		}
	}
}

func TestSticky_objection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stickyLinks(), func(c *redirect.Config, _ *redirect.Deps) { c.HonorDNT = true })
	where := w.get("/cookie", "DNT", "1", "Cookie", "sl_v=0123456789abcdef").Header.Get("Location")
	for i := range 20 { // with the hash, the cookie does not matter
		got := w.get("/cookie", "Sec-GPC", "1", "Cookie", fmt.Sprintf("sl_v=%016x", i))
		if got.Header.Get("Location") != where || got.Header["Set-Cookie"] != nil {
			t.Fatalf("%v", got.Header)
		}
	}
}

func TestSticky_with_rules_passwords_and_without_a_test(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stickyLinks())
	ruled := w.get("/ruled", "Accept-Language", "de")
	if ruled.Header.Get("Location") != "https://rule.example/" || ruled.cookie(t) == "" {
		t.Errorf("a rule wins: %v", ruled.Header)
	}
	if got := w.get("/ruled", "Accept-Language", "fr"); got.Header.Get("Location") == "https://returning.example/" {
		t.Error("a visitor with a fresh identity is a new one")
	}
	got := w.get("/ruled", "Accept-Language", "fr", "Cookie", ruled.cookie(t))
	if got.Header.Get("Location") != "https://returning.example/" {
		t.Errorf("a visitor with a cookie returns: %v", got.Header)
	}
	e := w.clicks(3)
	if e[0].Visitor == 0 || e[0].Visitor != e[2].Visitor || e[0].Visitor == e[1].Visitor || !e[0].Variant.IsZero() {
		t.Errorf("%+v", e)
	}
	first := w.submit("/locked/verify", "correct horse")
	cookie := first.cookie(t)
	if cookie == "" || first.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d %v", first.StatusCode, first.Header)
	}
	for range 10 {
		if got := w.submit("/locked/verify", "correct horse", "Cookie", cookie); got.Header.Get("Location") != first.Header.Get(
			"Location") ||
			got.cookie(t) != cookie {
			t.Fatalf("%v", got.Header)
		}
	}
	for _, c := range w.clicks(11) {
		if c.Visitor == 0 {
			t.Fatal("a click without a visitor")
		}
	}
	for _, slug := range []string{"/off", "/none"} {
		if got := w.get(slug); got.Header["Set-Cookie"] != nil {
			t.Errorf("%s: %v", slug, got.Header)
		}
	}
	for _, c := range w.clicks(2) {
		if c.Visitor != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// The cookie belongs to the host of the short URL. It is Secure where the connection is encrypted, because browsers drop it
// otherwise.
func TestSticky_cookie_of_a_custom_domain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base   string
		tls    bool
		header []string
		secure bool
	}{
		{"https://sho.rt", false, nil, true}, // a proxy in front has the certificates of all hosts
		{"https://sho.rt", true, nil, false},
		{"https://sho.rt", true, []string{"X-Forwarded-Proto", "https"}, true},
		{"http://sho.rt", false, nil, false},
	} {
		w := newWorld(t, stickyLinks(), trusting, func(cfg *redirect.Config, d *redirect.Deps) {
			cfg.BaseURL, cfg.TLS = c.base, c.tls
			d.Hosts = newHosts(t, snapshot.Host{Name: "go.example.org", Domain: 5})
		})
		got := w.get("/cookie", append(c.header, "Host", "go.example.org")...).Header.Get("Set-Cookie")
		if !strings.HasPrefix(got, "sl_v=") || strings.HasSuffix(got, "; Secure") != c.secure || strings.Contains(got, "Domain") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
