package redirect_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/proxy"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// withConsole forwards the API and the console to a server that answers everything.
func withConsole(t *testing.T) func(*redirect.Config, *redirect.Deps) {
	t.Helper()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("console")) }))
	t.Cleanup(control.Close)
	p, err := proxy.New(proxy.Config{Scheme: "https", Host: "sho.rt", Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", control.Listener.Addr().String())
	}})
	testkit.Must(t, err)
	t.Cleanup(p.Close)
	return func(_ *redirect.Config, d *redirect.Deps) { d.Upstream = p }
}

// kind is a kind of request, with the statuses at BASE_URL's host and at a domain in service. 0 stands for any.
type kind struct {
	method, path, body string
	service, domain    int
	at                 places
}

// places says where requests of a kind are answered as at BASE_URL's host.
type places int

const (
	inService   places = iota // at names in service
	unwithdrawn               // also at unknown names with STRICT_HOSTS: web sites send conversions to any host
	everywhere
)

var kinds = []kind{
	{"GET", "/spring", "", 302, 302, inService},
	{"HEAD", "/spring", "", 302, 302, inService},
	{"GET", "/spring?utm_source=x", "", 302, 302, inService},
	{"POST", "/spring", "", 405, 405, inService},
	{"GET", "/locked", "", 200, 200, inService},
	{"POST", "/locked/verify", "password=correct+horse", 303, 303, inService},
	{"GET", "/spring/info", "", 200, 200, inService},
	{"GET", "/spring/report", "", 200, 200, inService},
	{"POST", "/spring/report", "reason=SPAM", 0, 0, inService},
	{"GET", "/nothing", "", 404, 302, inService},
	{"POST", "/nothing", strings.Repeat("x", 2000), 413, 413, inService},
	{"GET", "/", "", 200, 302, inService},
	{"GET", "/api/urls", "", 200, 302, inService},
	{"POST", "/api/urls", strings.Repeat("x", 4000), 200, 413, inService},
	{"GET", "/api/urls/1/qr", "", 200, 302, inService},
	{"GET", "/api/og-images/x.webp", "", 200, 302, inService},
	{"GET", "/login", "", 200, 302, inService},
	{"GET", "/console", "", 200, 302, inService},
	{"GET", "/console/links", "", 200, 302, inService},
	{"GET", "/admin/users", "", 200, 302, inService},
	{"GET", "/static/app.js", "", 200, 302, inService},
	{"POST", "/c", `{}`, 0, 0, unwithdrawn},
	{"OPTIONS", "/c", "", 0, 0, unwithdrawn},
	{"GET", "/sl.js", "", 200, 200, unwithdrawn},
	{"GET", "/.well-known/apple-app-site-association", "", 404, 404, inService},
	{"GET", "/.well-known/assetlinks.json", "", 404, 404, inService},
	{"GET", "/.well-known/acme-challenge/x", "", 404, 404, inService},
	{"GET", "/robots.txt", "", 200, 200, everywhere},
	{"GET", "/favicon.ico", "", 200, 200, everywhere},
	{"GET", "/healthz", "", 200, 200, everywhere},
	{"GET", "/readyz", "", 200, 200, everywhere},
}

// Names that are not in service lead to nobody's links, whatever the request is, and unknown ones do not with STRICT_HOSTS. The
// service's own names are never refused, also if a workspace had one of them before.
func TestS3_S4_names_out_of_service_lead_nowhere(t *testing.T) {
	t.Parallel()
	links := []link.Record{
		{Key: "spring", Destination: "https://example.com/default"}, {Key: "locked", Destination: "https://example.com/",
			PasswordHash: secret()},
		{Key: link.Key(36, "spring"), Destination: "https://example.com/acme"},
		{Key: link.Key(36, "locked"), Destination: "https://example.com/acme", PasswordHash: secret()},
	}
	for strict, unknown := range map[bool]int{false: 0, true: http.StatusMisdirectedRequest} {
		table := newHosts(t, acme)
		table.Apply(&snapshot.Hosts{Withdrawn: []snapshot.Withdrawn{
			{Name: "suspended.example", Suspended: true}, {Name: "withdrawn.example"}, {Name: "sho.rt", Suspended: true},
			{Name: "app.example"},
		}})
		w := newWorld(t, links, withConsole(t), func(c *redirect.Config, d *redirect.Deps) {
			c.StrictHosts, c.ConsoleURL = strict, "https://app.example/console"
			d.Hosts, d.Reports, d.Conversions = table, &reportRecorder{}, new(conversionRecorder)
		})
		for host, refused := range map[string]int{
			"suspended.example": http.StatusGone, "Suspended.Example.:8080": http.StatusGone,
			"withdrawn.example": http.StatusMisdirectedRequest, "withdrawn.example:443": http.StatusMisdirectedRequest,
			"sho.rt": 0, "SHO.RT:8443": 0, "app.example": 0, "go.acme.com": 0, "unknown.example": unknown, "203.0.113.7:8080": unknown,
		} {
			for _, k := range kinds {
				known := host != "unknown.example" && host != "203.0.113.7:8080"
				refuses := refused != 0 && k.at != everywhere && (known || k.at != unwithdrawn)
				want := k.service
				switch {
				case refuses:
					want = refused
				case host == "go.acme.com":
					want = k.domain
				}
				got := w.ask(k.method, k.path, k.body, "Host", host, "Content-Type", "application/x-www-form-urlencoded", "Accept", browser)
				if got.StatusCode != want && want != 0 {
					t.Errorf("strict %v, %s %s%.40s: %d, want %d", strict, k.method, host, k.path, got.StatusCode, want)
				}
				if refuses && (got.Header.Get("Location") != "" || strings.Contains(got.body, "example.com") ||
					strings.Contains(got.body, "console")) {
					t.Errorf("strict %v, %s %s%.40s leads to %q: %s", strict, k.method, host, k.path, got.Header.Get("Location"), got.body)
				}
			}
		}
		if got := w.get("/spring", "Host", "suspended.example", "Accept", browser); !strings.Contains(got.body, "taken out of service") {
			t.Errorf("the page of a suspended domain: %s", got.body)
		}
		ambiguous := "POST /spring HTTP/1.1\r\nHost: withdrawn.example\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
		if got := w.raw(ambiguous); !strings.HasPrefix(got, "HTTP/1.1 400") {
			t.Errorf("an ambiguous request: %.40q", got)
		}
	}
}

// With STRICT_HOSTS, the ports of names do not matter, and all names of the own machine are one.
func TestStrict_hosts_on_the_own_machine(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]int{
		"http://127.0.0.1:8080": 302, "http://localhost:8080": 302, "http://[::1]:8080": 302, "http://203.0.113.7:8080": 421,
	} {
		w := newWorld(t, []link.Record{{Key: "spring", Destination: "https://example.com/"}}, func(c *redirect.Config, _ *redirect.Deps) {
			c.StrictHosts, c.BaseURL = true, base
		})
		for _, host := range []string{"127.0.0.1:8081", "localhost:8080", "localhost", "[::1]:8080"} {
			if got := w.get("/spring", "Host", host); got.StatusCode != want {
				t.Errorf("%s at %s: %d, want %d", host, base, got.StatusCode, want)
			}
		}
		if got := w.get("/spring", "Host", "203.0.113.7:8081"); (got.StatusCode == 302) != (want == 421) {
			t.Errorf("an address at %s: %d", base, got.StatusCode)
		}
	}
}
