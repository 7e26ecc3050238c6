package redirect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// newHosts returns a table with custom domains.
func newHosts(tb testing.TB, list ...snapshot.Host) *hosts.Table {
	tb.Helper()
	table, err := hosts.Open(hosts.Config{Dir: tb.TempDir()})
	testkit.Must(tb, err)
	tb.Cleanup(func() { table.Close() })
	table.Apply(&snapshot.Hosts{Full: true, Hosts: list})
	return table
}

// acme is a custom domain with an address for everything.
var acme = snapshot.Host{Name: "go.acme.com", Domain: 36, RootURL: "https://acme.com/", NotFoundURL: "https://acme.com/lost?x=1",
	ExpiredURL: "https://acme.com/over"}

// bare is a custom domain without addresses.
var bare = snapshot.Host{Name: "go.bare.com", Domain: 37}

func withHosts(t *testing.T, list ...snapshot.Host) func(*redirect.Config, *redirect.Deps) {
	table := newHosts(t, list...)
	return func(_ *redirect.Config, d *redirect.Deps) { d.Hosts = table }
}

func TestSite_has_links_of_its_own(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{
		{Key: "spring", Destination: "https://example.com/default"},
		{Key: link.Key(36, "spring"), Destination: "https://example.com/acme"},
		{Key: link.Key(37, "autumn"), Destination: "https://example.com/bare"},
	}, withHosts(t, acme, bare))
	for host, want := range map[string]string{
		"sho.rt": "https://example.com/default", "unknown.example": "https://example.com/default",
		"127.0.0.1":   "https://example.com/default",
		"go.acme.com": "https://example.com/acme", "GO.ACME.COM:8080": "https://example.com/acme",
		"go.acme.com.": "https://example.com/acme",
		"go.bare.com":  "",
	} {
		got := w.ask("GET", "/spring", "", "Host", host)
		if want == "" && got.StatusCode == http.StatusNotFound {
			continue
		}
		if got.StatusCode != http.StatusFound || got.Header.Get("Location") != want {
			t.Errorf("%s: %d %q, want %q", host, got.StatusCode, got.Header.Get("Location"), want)
		}
	}
	// The key itself is not a path on any host.
	for _, host := range []string{"sho.rt", "go.bare.com"} {
		for _, path := range []string{"/10/spring", "/10%2Fspring", "//10/spring"} {
			if got := w.ask("GET", path, "", "Host", host); got.StatusCode != http.StatusNotFound {
				t.Errorf("%s%s: %d", host, path, got.StatusCode)
			}
		}
	}
	clicks := w.clicks(6)
	for _, c := range clicks {
		if c.Link == 3 {
			t.Errorf("a click of the wrong link: %+v", c)
		}
	}
}

func TestSite_redirects_other_visitors(t *testing.T) {
	t.Parallel()
	counts := missing.New(missing.Config{Every: time.Nanosecond})
	w := newWorld(t, []link.Record{
		{Key: link.Key(36, "over"), Destination: "https://example.com/", ExpiresAt: epoch.UnixMilli() - 1},
		{Key: link.Key(36, "own"), Destination: "https://example.com/", ExpiresAt: epoch.UnixMilli() - 1,
			ExpiredURL: "https://example.com/own"},
		{Key: link.Key(36, "off"), Destination: "https://example.com/", Inactive: true},
		{Key: link.Key(36, "later"), Destination: "https://example.com/", StartsAt: epoch.UnixMilli() + 1000},
		{Key: link.Key(37, "over"), Destination: "https://example.com/", ExpiresAt: epoch.UnixMilli() - 1},
	}, withHosts(t, acme, bare), func(_ *redirect.Config, d *redirect.Deps) { d.Missing = counts })
	for _, c := range []struct {
		host, method, path string
		status             int
		to                 string
	}{
		{"go.acme.com", "GET", "/", 302, "https://acme.com/"},
		{"go.acme.com", "HEAD", "/", 302, "https://acme.com/"},
		{"go.acme.com", "GET", "/?utm_source=x", 302, "https://acme.com/"},
		{"go.acme.com", "POST", "/", 404, ""},
		{"go.acme.com", "GET", "/nothing", 302, "https://acme.com/lost?x=1"},
		{"go.acme.com", "GET", "/not/a/slug", 302, "https://acme.com/lost?x=1"},
		{"go.acme.com", "PUT", "/nothing", 404, ""},
		{"go.acme.com", "GET", "/later", 302, "https://acme.com/lost?x=1"},
		{"go.acme.com", "GET", "/nothing/info", 404, ""},
		{"go.acme.com", "GET", "/over", 302, "https://acme.com/over"},
		{"go.acme.com", "GET", "/own", 302, "https://example.com/own"},
		{"go.acme.com", "GET", "/over/info", 410, ""},
		{"go.acme.com", "GET", "/off", 410, ""},
		{"go.acme.com", "GET", "/robots.txt", 200, ""},
		{"go.bare.com", "GET", "/", 404, ""},
		{"go.bare.com", "GET", "/nothing", 404, ""},
		{"go.bare.com", "GET", "/over", 410, ""},
		{"sho.rt", "GET", "/nothing", 404, ""},
	} {
		got := w.ask(c.method, c.path, "", "Host", c.host)
		if got.StatusCode != c.status || got.Header.Get("Location") != c.to {
			t.Errorf("%s %s%s: %d %q, want %d %q", c.method, c.host, c.path, got.StatusCode, got.Header.Get("Location"), c.status, c.to)
		}
	}
	w.clicks(0)
	var told []string
	for _, s := range counts.Batch().Slugs {
		told = append(told, s.Host+"/"+link.Key(s.Domain, s.Slug))
	}
	if list := strings.Join(told, " "); list != "/nothing go.acme.com/10/later go.acme.com/10/nothing go.bare.com/11/nothing" {
		t.Errorf("missing slugs: %s", list)
	}
}

// Addresses that lead to the domain itself would send visitors in circles.
func TestSite_does_not_redirect_to_itself(t *testing.T) {
	t.Parallel()
	loop := snapshot.Host{Name: "go.loop.com", Domain: 1, RootURL: "https://go.loop.com/", NotFoundURL: "http://GO.loop.com:8080/x",
		ExpiredURL: "https://sho.rt/x"}
	w := newWorld(t, []link.Record{
		{Key: link.Key(1, "circle"), Destination: "https://go.loop.com/circle"},
		{Key: link.Key(1, "over"), Destination: "https://example.com/", ExpiresAt: 1},
	}, withHosts(t, loop))
	for path, want := range map[string]int{"/": 404, "/nothing": 404, "/circle": 508, "/over": 410} {
		if got := w.ask("GET", path, "", "Host", "go.loop.com"); got.StatusCode != want {
			t.Errorf("%s: %d %q, want %d", path, got.StatusCode, got.Header.Get("Location"), want)
		}
	}
}

func TestSite_pages_name_its_address(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{
		{Key: link.Key(36, "locked"), Destination: "https://example.com/in", PasswordHash: secret()},
		{Key: link.Key(36, "shown"), Destination: "https://example.com/", Preview: link.Preview{Title: "A title"}},
	}, withHosts(t, acme), func(_ *redirect.Config, d *redirect.Deps) { d.Reports = &reportRecorder{} })
	if got := w.ask("GET", "/locked", "", "Host", "go.acme.com"); got.StatusCode != 200 ||
		!strings.Contains(got.body, `action="/locked/verify`) {
		t.Errorf("the password form: %d %s", got.StatusCode, got.body)
	}
	form := []string{"Host", "go.acme.com", "Content-Type", "application/x-www-form-urlencoded"}
	if got := w.ask("POST", "/locked/verify", "password=correct+horse", form...); got.Header.Get("Location") != "https://example.com/in" {
		t.Errorf("the right password: %d %v", got.StatusCode, got.Header)
	}
	if got := w.ask("POST", "/locked/verify", "password=wrong", form...); got.Header.Get("Location") != "/locked?error=invalid_password" {
		t.Errorf("a wrong password: %d %v", got.StatusCode, got.Header)
	}
	if got := w.ask("GET", "/shown", "", "Host", "go.acme.com", "User-Agent", crawler); !strings.Contains(got.body,
		"https://go.acme.com/shown") {
		t.Errorf("the preview page: %s", got.body)
	}
	if got := w.ask("GET", "/shown/info", "", "Host", "go.acme.com"); !strings.Contains(got.body, `"slug":"shown"`) {
		t.Errorf("info: %s", got.body)
	}
	if got := w.ask("GET", "/shown/report", "", "Host", "go.acme.com"); !strings.Contains(got.body, `action="/shown/report"`) {
		t.Errorf("the report form: %s", got.body)
	}
	for origin, want := range map[string]int{"https://go.acme.com": 303, "https://sho.rt": 403, "https://evil.example": 403} {
		if got := w.ask("POST", "/shown/report", "reason=SPAM", append(form, "Origin", origin)...); got.StatusCode != want {
			t.Errorf("a report from %s: %d, want %d", origin, got.StatusCode, want)
		}
	}
}

func TestStrict_hosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{
		{Key: "spring", Destination: "https://example.com/default"},
		{Key: link.Key(36, "spring"), Destination: "https://example.com/acme"},
	}, withHosts(t, acme), func(c *redirect.Config, _ *redirect.Deps) { c.StrictHosts = true })
	for _, c := range []struct {
		host, path string
		status     int
	}{
		{"sho.rt", "/spring", 302}, {"SHO.rt:443", "/spring", 302}, {"sho.rt.", "/spring", 302}, {"go.acme.com", "/spring", 302},
		{"other.example", "/spring", 421}, {"other.example", "/spring/info", 421}, {"other.example", "/", 421},
		{"other.example", "/nothing", 421},
		{"10.0.0.1", "/healthz", 200}, {"10.0.0.1:8080", "/readyz", 200}, {"xsho.rt", "/spring", 421},
		{"sho.rt.evil.example", "/spring", 421},
	} {
		if got := w.ask("GET", c.path, "", "Host", c.host); got.StatusCode != c.status {
			t.Errorf("%s%s: %d, want %d", c.host, c.path, got.StatusCode, c.status)
		}
	}
	w.clicks(4)
}

// Pages of a custom domain show its brand, and may load the logo from its host only. Pages of others show the brand of the service.
func TestSite_pages_show_the_brand(t *testing.T) {
	t.Parallel()
	branded := snapshot.Host{Name: "go.brand.com", Domain: 38, BrandName: "Brand & <Sons>", BrandLogo: "https://cdn.brand.com/logo.svg"}
	named := snapshot.Host{Name: "go.named.com", Domain: 39, BrandName: "Named"}
	broken := snapshot.Host{Name: "go.broken.com", Domain: 40, BrandLogo: "javascript:alert(1)"}
	w := newWorld(t, []link.Record{
		{Key: link.Key(38, "secret"), Destination: "https://example.com/",
			PasswordHash: "$2a$04$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
		{Key: "secret", Destination: "https://example.com/", PasswordHash: "$2a$04$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	}, withHosts(t, branded, named, broken))
	page := func(host, path string) (body, policy string) {
		res := w.ask("GET", path, "", "Host", host, "Accept", "text/html")
		return res.body, res.Header.Get("Content-Security-Policy")
	}
	for range 2 { // the second page is one that was kept
		for _, path := range []string{"/secret", "/nothing", "/secret/nothing/more"} {
			body, policy := page("go.brand.com", path)
			if !strings.Contains(body, "<span>Brand &amp; &lt;Sons&gt;</span>") ||
				!strings.Contains(body, `<img src="https://cdn.brand.com/logo.svg" alt="">`) ||
				!strings.Contains(policy, "img-src https://cdn.brand.com;") {
				t.Errorf("%s: policy %q, page %s", path, policy, body)
			}
			if body, policy := page("sho.rt", path); strings.Contains(body, "Sons") || !strings.Contains(policy, "img-src 'none'") {
				t.Errorf("%s on the service's own host: policy %q, page %s", path, policy, body)
			}
		}
	}
	if body, policy := page("go.named.com", "/nothing"); !strings.Contains(body, "<span>Named</span>") || strings.Contains(body, "<img") ||
		!strings.Contains(policy, "img-src 'none'") {
		t.Errorf("a brand without a logo: policy %q, page %s", policy, body)
	}
	if body, _ := page("go.broken.com", "/nothing"); strings.Contains(body, "javascript:") || !strings.Contains(body, "Link not found") {
		t.Errorf("a logo that no page can show: %s", body)
	}
}

// A star in a logo's host would let pages load pictures from every host. The API refuses such logos, but earlier releases did not.
func TestLow_logos_of_pages_name_one_host(t *testing.T) {
	t.Parallel()
	wide := []snapshot.Host{
		{Name: "go.wide1.com", Domain: 41, BrandLogo: "https://*"},
		{Name: "go.wide2.com", Domain: 42, BrandLogo: "https://*.example.com/x"},
		{Name: "go.wide3.com", Domain: 43, BrandLogo: "https://a;script-src/x"},
		{Name: "go.wide4.com", Domain: 44, BrandLogo: "https://example.com:*/x"},
	}
	w := newWorld(t, nil, withHosts(t, wide...))
	for _, h := range wide {
		policy := w.get("/nothing", "Host", h.Name, "Accept", "text/html").Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "img-src 'none'; base-uri") || strings.Contains(policy, "*") {
			t.Errorf("the logo %s: policy %q", h.BrandLogo, policy)
		}
	}
}
