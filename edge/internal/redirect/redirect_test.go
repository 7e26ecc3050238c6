package redirect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/visitor"
)

var preview = link.Preview{Title: "See this", Description: "A picture", ImageURL: "https://img.test/a.webp", TwitterCard: "summary"}

func ruleFor(id byte, target, conditions string) link.Rule {
	return link.Rule{ID: link.ID{id}, Name: fmt.Sprint("rule ", id), Target: target, Conditions: []byte(conditions)}
}

const onPhone = `{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}`

// samples are links for every row of the specification's table.
func samples() []link.Record {
	return []link.Record{
		{Key: "plain", Destination: "https://example.com/a%2Fb//c/../d?x=1#frag"},
		{Key: "off", Destination: "https://example.com/", Inactive: true},
		{Key: "expired", Destination: "https://example.com/", ExpiresAt: epoch.UnixMilli()},
		{Key: "expires", Destination: "https://example.com/soon", ExpiresAt: epoch.Add(time.Hour).UnixMilli()},
		{Key: "social", Destination: "https://example.com/social", Preview: preview},
		{Key: "hidden", Destination: "https://example.com/hidden", Preview: preview, PasswordHash: secret(), Title: "Plans"},
		{Key: "hiddenoff", Destination: "https://example.com/hidden", PasswordHash: secret(), Inactive: true},
		{Key: "presets", Destination: "https://example.com/p", UTM: link.UTM{Source: "news", Medium: "mail"}},
		{Key: "routed", Destination: "https://example.com/orig", Default: "https://example.com/default", SmartRouting: true,
			Rules: []link.Rule{
				ruleFor(1, "https://m.example.com/", onPhone), ruleFor(2, "https://never.example.com/", onPhone)}},
		{Key: "routedoff", Destination: "https://example.com/orig", Default: "https://example.com/default",
			Rules: []link.Rule{ruleFor(1, "https://m.example.com/", onPhone)}},
		{Key: "both", Destination: "https://example.com/orig", Default: "https://example.com/default", SmartRouting: true, ABTesting: true,
			Rules: []link.Rule{ruleFor(1, "https://m.example.com/", onPhone)},
			Variants: []link.Variant{{ID: link.ID{9}, Target: "https://v.example.com/", Weight: 1},
				{ID: link.ID{8}, Target: "https://zero.example.com/", Weight: 0}}},
		{Key: "zeros", Destination: "https://example.com/orig", Default: "https://example.com/default", SmartRouting: true, ABTesting: true,
			Variants: []link.Variant{{ID: link.ID{9}, Target: "https://v.example.com/", Weight: 0}}},
		{Key: "aboff", Destination: "https://example.com/orig",
			Variants: []link.Variant{{ID: link.ID{9}, Target: "https://v.example.com/", Weight: 1}}},
		{Key: "loop", Destination: "https://u@SHO.rt.:443/plain"},
	}
}

func TestRedirect_every_row(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	type row struct {
		name, target string
		headers      []string
		status       int
		location     string
		holds        string // expected part of the body
		click        bool
		rule         byte
		variant      byte
	}
	rows := []row{
		{name: "plain, byte for byte", target: "/plain", status: 302, location: "https://example.com/a%2Fb//c/../d?x=1#frag", click: true},
		{name: "slugs have case", target: "/PLAIN", status: 404},
		{name: "unknown", target: "/nothing", status: 404},
		{name: "too short", target: "/ab", status: 404},
		{name: "too long", target: "/" + strings.Repeat("a", 51), status: 404},
		{name: "not slug characters", target: "/pla.in", status: 404},
		{name: "percent-encoded", target: "/pl%61in", status: 302, location: "https://example.com/a%2Fb//c/../d?x=1#frag", click: true},
		{name: "trailing slash", target: "/plain/", status: 302, location: "https://example.com/a%2Fb//c/../d?x=1#frag", click: true},
		{name: "below a slug", target: "/plain/x", status: 404},
		{name: "root", target: "/", status: 404},
		{name: "encoded line break", target: "/plain%0d%0aX:y", status: 302,
			location: "https://example.com/a%2Fb//c/../d?x=1#frag", click: true},
		{name: "inactive", target: "/off", status: 410},
		{name: "expired", target: "/expired", status: 410},
		{name: "not yet expired", target: "/expires", status: 302, location: "https://example.com/soon", click: true},
		{name: "crawler", target: "/social", headers: []string{"User-Agent", crawler}, status: 200,
			holds: `property="og:title" content="See this"`},
		{name: "crawler, no preview", target: "/plain", headers: []string{"User-Agent", crawler}, status: 302,
			location: "https://example.com/a%2Fb//c/../d?x=1#frag", click: true},
		{name: "crawler, password", target: "/hidden", headers: []string{"User-Agent", crawler}, status: 200,
			holds: `action="/hidden/verify"`},
		{name: "browser, preview", target: "/social", status: 302, location: "https://example.com/social", click: true},
		{name: "password", target: "/hidden", status: 200, holds: `action="/hidden/verify"`},
		{name: "password, wrong before", target: "/hidden?error=invalid_password", status: 200, holds: `role="alert"`},
		{name: "password, inactive", target: "/hiddenoff", status: 410},
		{name: "presets", target: "/presets", status: 302, location: "https://example.com/p?utm_source=news&utm_medium=mail", click: true},
		{name: "presets, overridden", target: "/presets?utm_source=me&q=1", status: 302,
			location: "https://example.com/p?utm_source=me&utm_medium=mail&q=1", click: true},
		{name: "query passed on", target: "/plain?x=2&y=3", status: 302, location: "https://example.com/a%2Fb//c/../d?x=1&y=3#frag",
			click: true},
		{name: "first rule that matches", target: "/routed", headers: []string{"User-Agent", phone}, status: 302,
			location: "https://m.example.com/", click: true, rule: 1},
		{name: "no rule, default", target: "/routed", status: 302, location: "https://example.com/default", click: true},
		{name: "routing off", target: "/routedoff", headers: []string{"User-Agent", phone}, status: 302,
			location: "https://example.com/orig",
			click:    true},
		{name: "rule before variant", target: "/both", headers: []string{"User-Agent", phone}, status: 302,
			location: "https://m.example.com/",
			click:    true, rule: 1},
		{name: "variant after rules", target: "/both", status: 302, location: "https://v.example.com/", click: true, variant: 9},
		{name: "weights all 0", target: "/zeros", status: 302, location: "https://example.com/default", click: true},
		{name: "A/B off", target: "/aboff", status: 302, location: "https://example.com/orig", click: true},
		{name: "loop", target: "/loop", status: 508},
	}
	var want []row
	for _, r := range rows {
		a := w.get(r.target, r.headers...)
		if a.StatusCode != r.status {
			t.Errorf("%s: status %d, want %d", r.name, a.StatusCode, r.status)
		}
		if l := a.Header.Get("Location"); l != r.location {
			t.Errorf("%s: Location %q, want %q", r.name, l, r.location)
		}
		if !strings.Contains(a.body, r.holds) {
			t.Errorf("%s: body lacks %q: %s", r.name, r.holds, a.body)
		}
		if a.StatusCode >= 400 {
			var e struct {
				StatusCode     int
				Message, Error string
			}
			if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.StatusCode != a.StatusCode || e.Message == "" || e.Error == "" {
				t.Errorf("%s: error body %q", r.name, a.body)
			}
		}
		if r.click {
			want = append(want, r)
		}
	}
	clicks := w.clicks(len(want))
	for i := range min(len(clicks), len(want)) {
		e, r := clicks[i], want[i]
		if e.Rule != (link.ID{r.rule}) || e.Variant != (link.ID{r.variant}) || e.Owner != 77 || e.Link == 0 {
			t.Errorf("%s: click %+v", r.name, e)
		}
	}
	if s := w.handler.Stats(); s.Redirects != uint64(len(want)) || s.Loops != 1 || s.Rules != 2 || s.Variants != 1 || s.Previews != 1 ||
		s.Forms != 3 || s.Gone != 3 {
		t.Errorf("stats = %+v", s)
	}
}

func TestRedirect_head_of_a_redirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	got := w.raw("GET /plain HTTP/1.1\r\nHost: sho.rt\r\nConnection: close\r\n\r\n")
	var names []string
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\r\n\r\n"), "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	if s := strings.Join(names[1:], ","); s != "Date,Content-Length,Cache-Control,Location,Connection" {
		t.Errorf("fields = %s in\n%s", s, got)
	}
	if !strings.Contains(got, "\r\nCache-Control: private, no-store\r\n") {
		t.Errorf("no Cache-Control in\n%s", got)
	}
	head := w.raw("HEAD /plain HTTP/1.1\r\nHost: sho.rt\r\nConnection: close\r\n\r\n")
	if cut := func(s string) string { a, b, _ := strings.Cut(s, "Date: "); return a + b[31:] }; cut(head) != cut(got) {
		t.Errorf("HEAD differs:\n%s\n%s", head, got)
	}
	w.clicks(1)
}

func TestRedirect_click_carries_raw_facts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples(), func(c *redirect.Config, _ *redirect.Deps) {
		c.Trusted, _ = visitor.ParsePrefixes("127.0.0.0/8")
	})
	w.get("/presets?utm_source=m%C3%A9&utm_term=a+b&z=1", "User-Agent", phone, "Referer", "https://from.test/x", "Accept-Language",
		"de-CH,de;q=0.8",
		"X-Forwarded-For", "1.2.3.4, 198.51.100.9", "Sec-Purpose", "prefetch;prerender")
	e := w.clicks(1)[0]
	want := link.UTM{Source: "mé", Medium: "mail", Term: "a b"}
	if e.UserAgent != phone || e.Referer != "https://from.test/x" || e.AcceptLanguage != "de-CH,de;q=0.8" ||
		e.IP.String() != "198.51.100.9" ||
		!e.Prefetch || e.UTM != want || e.Time != epoch.UnixMilli() || e.Link != 8 {
		t.Errorf("click = %+v", e)
	}
}

func TestRedirect_forwarded_addresses_need_a_trusted_peer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	w.get("/plain", "X-Forwarded-For", "1.2.3.4", "X-Real-IP", "1.2.3.4")
	if e := w.clicks(1)[0]; e.IP.String() != "127.0.0.1" || e.Prefetch {
		t.Errorf("click = %+v", e)
	}
}

func TestRedirect_address_behind_proxies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples(), func(c *redirect.Config, _ *redirect.Deps) {
		c.Trusted, _ = visitor.ParsePrefixes("127.0.0.0/8, 10.0.0.0/8")
	})
	for header, want := range map[string]string{
		"X-Real-IP: 2001:db8::1\r\n": "2001:db8::1",
		"x-forwarded-for: 192.0.2.1, 198.51.100.2\r\nX-FORWARDED-FOR:10.1.1.1\r\nX-Real-IP: 192.0.2.9\r\n": "198.51.100.2",
		"X-Forwarded-For: junk\r\n": "127.0.0.1",
		"":                          "127.0.0.1",
	} {
		w.raw("GET /plain HTTP/1.1\r\nHost: sho.rt\r\n" + header + "Connection: close\r\n\r\n")
		if e := w.clicks(1); len(e) == 1 && e[0].IP.String() != want {
			t.Errorf("%q: address %v, want %s", header, e[0].IP, want)
		}
	}
}

func TestRedirect_errors_are_pages_for_browsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples(), func(c *redirect.Config, _ *redirect.Deps) {
		c.Brand = pages.Brand{Name: `A<b>"c`, LogoURL: "https://cdn.test/logo.svg"}
	})
	a := w.get("/nothing", "Accept", browser)
	if a.StatusCode != 404 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || strings.Contains(a.body, "<b>") ||
		!strings.Contains(a.body, "A&lt;b&gt;") {
		t.Errorf("page = %d %q %s", a.StatusCode, a.Header.Get("Content-Type"), a.body)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cache-Control": "private, no-store",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	csp := a.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "img-src https://cdn.test;") ||
		strings.Contains(csp, "unsafe") {
		t.Errorf("policy = %q", csp)
	}
	if a.Header.Get("X-Request-ID") == "" {
		t.Error("no request id")
	}
	if id := w.get("/nothing", "X-Request-ID", "abc-1").Header.Get("X-Request-ID"); id != "abc-1" {
		t.Errorf("request id %q is not the one that was sent", id)
	}
	for accept, html := range map[string]bool{"*/*": false, "": false, "application/json, text/html;q=0.5": false,
		"text/html;q=0.9, application/json;q=0.8": true, "text/html;q=0": false} {
		a := w.get("/nothing", "Accept", accept)
		if got := strings.HasPrefix(a.Header.Get("Content-Type"), "text/html"); got != html {
			t.Errorf("Accept %q: HTML %v, want %v", accept, got, html)
		}
	}
}

func TestRedirect_methods(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	for _, c := range []struct{ method, target, allow string }{
		{"POST", "/plain", "GET, HEAD"}, {"DELETE", "/plain", "GET, HEAD"}, {"GET", "/hidden/verify", "POST"},
		{"PUT", "/hidden/verify", "POST"},
		{"POST", "/plain/info", "GET, HEAD"}, {"POST", "/robots.txt", "GET, HEAD"},
	} {
		if a := w.ask(c.method, c.target, ""); a.StatusCode != 405 || a.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s = %d, Allow %q", c.method, c.target, a.StatusCode, a.Header.Get("Allow"))
		}
	}
	w.clicks(0)
}

func TestRedirect_info(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	a := w.get("/hidden/info")
	const want = `{"slug":"hidden","title":"Plans","requiresPassword":true,"expiresAt":null,"createdAt":null,"ogTitle":"See this","ogDescription":"A picture","ogImageUrl":"https://img.test/a.webp"}`
	if a.StatusCode != 200 || a.body != want {
		t.Errorf("info = %d %s", a.StatusCode, a.body)
	}
	if a := w.get("/expires/info"); !strings.Contains(a.body, `"expiresAt":"2026-03-04T11:00:00.000Z"`) {
		t.Errorf("info = %s", a.body)
	}
	for target, status := range map[string]int{"/off/info": 410, "/expired/info": 410, "/nothing/info": 404} {
		if a := w.get(target); a.StatusCode != status || strings.Contains(a.body, "example.com") {
			t.Errorf("%s = %d %s", target, a.StatusCode, a.body)
		}
	}
	w.clicks(0)
}

// A person who opens the info of a link gets a page without the destination, and programs get JSON.
func TestConsoleLow_info_is_a_page_for_people(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	a := w.ask("GET", "/hidden/info", "", "Accept", browser)
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(a.body, "See this") ||
		strings.Contains(a.body, "example.com") {
		t.Errorf("%d %v %s", a.StatusCode, a.Header, a.body)
	}
	for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.5"} {
		if a := w.ask("GET", "/hidden/info", "", "Accept", accept); a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("Accept: %s: %v", accept, a.Header)
		}
	}
	w.clicks(0)
}

// A link that starts later does not exist for visitors, and nothing says that they have made an error.
func TestConsoleLow_links_may_start_later(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "later", Destination: "https://example.com/", StartsAt: epoch.Add(time.Hour).UnixMilli()}})
	later, nothing := w.ask("GET", "/later", "", "Accept", "text/html"), w.ask("GET", "/nothing", "", "Accept", "text/html")
	if later.body != nothing.body || !strings.Contains(later.body, "starts later") {
		t.Errorf("%s", later.body)
	}
}

func TestRedirect_fixed_paths(t *testing.T) {
	t.Parallel()
	ready, reasons := make(chan bool, 1), make(chan []string, 1)
	w := newWorld(t, samples(), func(_ *redirect.Config, d *redirect.Deps) {
		d.Ready = func() bool { r := <-ready; return r }
		d.Unready = func() []string { r := <-reasons; return r }
	})
	for target, media := range map[string]string{"/robots.txt": "text/plain; charset=utf-8", "/favicon.ico": "image/svg+xml",
		"/healthz": "application/json"} {
		if a := w.get(target); a.StatusCode != 200 || a.Header.Get("Content-Type") != media || a.body == "" {
			t.Errorf("%s = %d %q", target, a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
	reasons <- []string{"links not loaded yet", "draining"}
	if a := w.get("/readyz"); a.StatusCode != 503 || a.body != `{"status":"not ready","reasons":["links not loaded yet","draining"]}` {
		t.Errorf("not ready = %d %s", a.StatusCode, a.body)
	}
	ready <- false
	if a := w.get("/nothing"); a.StatusCode != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("unknown slug while not ready = %d", a.StatusCode)
	}
	reasons <- nil
	if a := w.get("/readyz"); a.StatusCode != 200 || a.body != `{"status":"ready"}` {
		t.Errorf("ready = %d", a.StatusCode)
	}
}

func TestRedirect_own_text_is_inert(t *testing.T) {
	t.Parallel()
	for i, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' autofocus onfocus=alert(1) x='`,
		`</title><script>alert(1)</script>`,
		`javascript:alert(1)`, "a\u2028b\x00c", `{{.Brand}}`, `</style><script>alert(1)</script>`,
		`"><meta http-equiv="refresh" content="0;url=//evil.test">`,
	} {
		p := link.Preview{Title: evil, Description: evil, ImageURL: "https://img.test/" + evil, TwitterCard: evil}
		w := newWorld(t, []link.Record{
			{Key: "social", Destination: "https://example.com/", Preview: p, Title: evil},
			{Key: "locked", Destination: "https://example.com/", Title: evil, PasswordHash: secret()},
		}, func(c *redirect.Config, _ *redirect.Deps) { c.Brand.Name = evil })
		raw := func(target string) string {
			return w.raw("GET " + target + " HTTP/1.1\r\nHost: sho.rt\r\nAccept: text/html\r\nUser-Agent: " + crawler +
				"\r\nConnection: close\r\n\r\n")
		}
		for _, body := range []string{raw("/social"), raw("/locked"), raw("/nothing"), raw(`/locked?"><script>alert(1)</script>`)} {
			for _, live := range []string{"<script", "<img", "onerror=alert(1)>", "onfocus=alert(1) x='", `http-equiv="refresh"`} {
				if strings.Contains(body, live) {
					t.Errorf("payload %d: %q is live in\n%s", i, live, body)
				}
			}
		}
	}
}

func TestRedirect_bad_configuration_names_every_problem(t *testing.T) {
	t.Parallel()
	_, err := redirect.New(redirect.Config{BaseURL: "sho.rt", Brand: pages.Brand{LogoURL: "javascript:alert(1)"}}, redirect.Deps{})
	if err == nil || !strings.Contains(err.Error(), "BASE_URL") || !strings.Contains(err.Error(), "brand logo") {
		t.Errorf("error = %v", err)
	}
}

func TestRedirect_own_host(t *testing.T) {
	t.Parallel()
	for base, cases := range map[string]map[string]int{
		"https://sho.rt": {
			"http://sho.rt/x": 508, "https://SHO.RT:8443/x": 508, "https://a:b@sho.rt./": 508, "https://sho.rt?x": 508,
			"https://sho.rt#x":  508,
			"https://nosho.rt/": 302, "https://sho.rt.evil.test/": 302, "https://evil.test/sho.rt": 302, "https://evil.test/@sho.rt": 302,
			"https://x.sho.rt/": 302,
		},
		"http://127.0.0.1:8080": {"http://127.0.0.1:8080/x": 508, "http://127.0.0.1:9090/x": 302, "http://127.0.0.1/": 302},
		"http://[::1]:8080":     {"http://[::1]:8080/x": 508, "http://[::1]:80/x": 302},
		"http://localhost":      {"http://localhost/x": 508, "http://localhost:80/x": 508, "http://localhost:3000/x": 302},
	} {
		var links []link.Record
		var want []int
		for destination, status := range cases {
			links = append(links, link.Record{Key: fmt.Sprint("link", len(links)), Destination: destination})
			want = append(want, status)
		}
		w := newWorld(t, links, func(c *redirect.Config, _ *redirect.Deps) { c.BaseURL = base })
		for i := range links {
			if a := w.get("/" + links[i].Key); a.StatusCode != want[i] {
				t.Errorf("base %s, to %s: %d, want %d", base, links[i].Destination, a.StatusCode, want[i])
			}
		}
	}
}
