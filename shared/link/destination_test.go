package link_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

var ours = link.Policy{Hosts: []string{"sho.rt", "www.sho.rt:443", "münchen.example", "203.0.113.9:8080", "[2001:db8::9]:8443"}}

func TestCheckDestination_accepts(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://example.com":                              "",
		"HTTP://Example.COM:8080/a/../b?x=1&y=%20#frag":    "",
		"https://example.com./":                            "",
		"https://user:pa%40ss@example.com/":                "",
		"https://example.com:/p":                           "",
		"https://a_b.example.com/it's(a)\"<path>|^`{}":     "",
		"https://example.com/?q=100%&x=%%CACHEBUSTER%%":    "",
		"https://example.com?x=http://sho.rt/":             "",
		"https://sho.rt.evil.example/":                     "",
		"https://notsho.rt/":                               "",
		"http://8.8.8.8/":                                  "",
		"http://203.0.113.10/":                             "",
		"http://[2606:4700::1111]:80/":                     "",
		"http://[64:ff9b::8.8.8.8]/":                       "",
		"https://xn--mnchen-3ya.de/":                       "",
		"https://1.2.3.com/":                               "",
		"https://0x7f.example/":                            "",
		"https://local.example.com/":                       "",
		"https://Bücher.example/straße?q=日本#ü":             "https://xn--bcher-kva.example/stra%C3%9Fe?q=%E6%97%A5%E6%9C%AC#%C3%BC",
		"https://ｅｘａｍｐｌｅ。com/":                             "https://example.com/",
		"https://jürgen@example.com/":                      "https://j%C3%BCrgen@example.com/",
		"https://example.com/\u202Egnp.exe":                "https://example.com/%E2%80%AEgnp.exe",
		"https://example.com/" + strings.Repeat("a", 2028): "",
	} {
		if want == "" {
			want = raw
		}
		if got, err := link.CheckDestination(raw, ours); err != nil || got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
}

func TestCheckDestination_refuses(t *testing.T) {
	t.Parallel()
	const (
		empty, long = "not be empty", "at most 2048 bytes"
		bytes       = "spaces, control characters or backslashes"
		scheme      = "must be an http or https address"
		host, bad   = "name a host", "valid host"
		escape      = "two hexadecimal digits"
	)
	for raw, want := range map[string]string{
		"": empty,
		"https://example.com/" + strings.Repeat("a", 2029): long,
		"https://example.com/" + strings.Repeat("é", 800):  long,
		" https://example.com/":                            bytes,
		"https://example.com/a b":                          bytes,
		"https://example.com/\r\nSet-Cookie:a=b":           bytes,
		"https://example.com/\x7f":                         bytes,
		"https://example.com/\x00":                         bytes,
		"https:\\\\example.com/":                           bytes,
		"https://example.com\\@sho.rt/":                    bytes,
		"https://example.com/\xff":                         "UTF-8",
		"javascript:alert(1)":                              scheme,
		"javascript://example.com/%0aalert(1)":             scheme,
		"data:text/html,x":                                 scheme,
		"file:///etc/passwd":                               scheme,
		"ftp://example.com/":                               scheme,
		"//example.com/":                                   scheme,
		"/path":                                            scheme,
		"example.com":                                      scheme,
		"http:example.com":                                 scheme,
		"http:/example.com":                                scheme,
		"https://":                                         host,
		"https:///example.com":                             host,
		"https://?x":                                       host,
		"https://:80/":                                     host,
		"https://user@/":                                   host,
		"https://a@b@example.com/":                         "user name",
		"https://a\"b@example.com/":                        "user name",
		"https://example.com:99999/":                       "port",
		"https://example.com:8o/":                          "port",
		"https://exa%6Dple.com/":                           bad,
		"https://exa mple.com/":                            bytes,
		"https://exam!ple.com/":                            bad,
		"https://a..com/":                                  bad,
		"https://.com/":                                    bad,
		"https://example.com../":                           bad,
		"https://" + strings.Repeat("a", 64) + ".com/":     bad,
		"https://[::1/":                                    bad,
		"https://[fe80::1%25eth0]/":                        bad,
		"https://[1.2.3.4]/":                               bad,
		"https://::1/":                                     bad,
		"https://example.com/100%":                         escape,
		"https://example.com/%zz":                          escape,
		"https://example.com/#%4":                          escape,
		"https://例え％2ecom/":                                bad,
	} {
		got, err := link.CheckDestination(raw, ours)
		if err == nil || got != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", raw, got, err, want)
		}
	}
}

func TestCheckDestination_own_host(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"https://sho.rt/abc", "http://SHO.RT", "https://sho.rt./abc", "https://sho.rt:8443/abc", "https://example.com@sho.rt/x",
		"https://user:pw@Sho.Rt:1/", "https://ｓｈｏ.rt/", "https://sho。rt/", "https://www.sho.rt:8080/",
		"https://xn--mnchen-3ya.example/", "https://MÜNCHEN.example/", "https://mu\u0308nchen.example/",
		"http://203.0.113.9:8080/x", "http://[::ffff:203.0.113.9]:8080/", "https://[2001:DB8:0::9]:8443/",
	} {
		for _, private := range []bool{false, true} {
			p := ours
			p.AllowPrivate = private
			if _, err := link.CheckDestination(raw, p); !errors.Is(err, link.ErrOwnHost) {
				t.Errorf("%q: %v", raw, err)
			}
		}
	}
	// Another server on a developer's machine is accepted unless it has the service's port.
	dev := link.Policy{Hosts: []string{"127.0.0.1:8080", "box"}, AllowPrivate: true}
	for raw, own := range map[string]bool{
		"http://127.0.0.1:8080/": true, "http://localhost:8080/": true, "http://[::1]:8080/": true, "http://127.0.0.1:9999/": false,
		"http://localhost/": false, "http://box/": true, "http://box:0080/": true, "https://box/": true, "http://box:8080/": false,
	} {
		if _, err := link.CheckDestination(raw, dev); errors.Is(err, link.ErrOwnHost) != own || (err != nil) != own {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestCheckDestination_private_hosts(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"http://localhost/", "http://LOCALHOST.:80/", "http://app.localhost/", "http://printer.local/", "http://db.prod.internal/",
		"http://internal/",
		"http://nas.home.arpa/", "http://intranet/", "http://ｌｏｃａｌｈｏｓｔ/",
		"http://0.0.0.0/", "http://10.1.2.3/", "http://100.64.0.1/", "http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/",
		"http://172.31.255.255/", "http://192.168.0.1./", "http://198.18.0.1/", "http://224.0.0.1/", "http://255.255.255.255/",
		"http://①②⑦.0.0.1/",
		"http://[::]/", "http://[::1]/", "http://[::127.0.0.1]/", "http://[::ffff:10.0.0.1]/", "http://[::ffff:a00:1]/",
		"http://[::ffff:0:10.0.0.1]/",
		"http://[64:ff9b::192.168.1.1]/", "http://[64:ff9b:1::1]/", "http://[2002:7f00:1::]/", "http://[2001:0:1::1]/",
		"http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fe80::1]/", "http://[ff02::1]/", "http://user@127.0.0.1/",
	} {
		if _, err := link.CheckDestination(raw, ours); err == nil || !strings.Contains(err.Error(), "private network") {
			t.Errorf("%q: %v", raw, err)
		}
		if _, err := link.CheckDestination(raw, link.Policy{AllowPrivate: true}); err != nil {
			t.Errorf("%q, allowed: %v", raw, err)
		}
	}
	for _, raw := range []string{
		"http://2130706433/", "http://0x7f000001/", "http://0x7F.1/", "http://017700000001/", "http://127.1/", "http://0177.0.0.1/",
		"http://127.0.0.01/",
		"http://0/", "http://0x/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://a.b.1/", "http://１２７.１/",
	} {
		for _, private := range []bool{false, true} {
			if _, err := link.CheckDestination(raw, link.Policy{AllowPrivate: private}); err == nil ||
				!strings.Contains(err.Error(), "four decimal numbers") {
				t.Errorf("%q: %v", raw, err)
			}
		}
	}
}

func FuzzCheckDestination(f *testing.F) {
	f.Add("https://user:pw@Bücher.example:8080/straße?q=日本&x=%%#ü")
	f.Add("http://[::ffff:10.0.0.1]:80/")
	f.Add("http://0x7f.1@sho。rt./\\\r\n")
	f.Add("HTTPS://xn--mnchen-3ya.example?%")
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := link.CheckDestination(raw, ours)
		if err != nil {
			if got != "" {
				t.Fatalf("%q: %q and %v", raw, got, err)
			}
			return
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7F || got[i] == '\\' {
				t.Fatalf("%q: %q has byte %#x", raw, got, got[i])
			}
		}
		if again, err := link.CheckDestination(got, ours); err != nil || again != got {
			t.Fatalf("%q became %q, then %q, %v", raw, got, again, err)
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(got) > link.MaxDestination {
			t.Fatalf("%q became %q: %v", raw, got, err)
		}
		host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		if host == "sho.rt" || host == "localhost" || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".local") {
			t.Fatalf("%q leads to %q", raw, host)
		}
		if addr, err := netip.ParseAddr(host); err == nil {
			addr = addr.Unmap()
			if addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() {
				t.Fatalf("%q leads to %s", raw, addr)
			}
		}
	})
}
