package outbound_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// sink is an https server on 127.0.0.2, which the tests' policy treats as public.
func sink(t *testing.T, h http.HandlerFunc) (*httptest.Server, outbound.Policy) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("needs a second loopback address: %v", err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, outbound.Policy{
		AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")},
		TLS:        &tls.Config{RootCAs: roots, ServerName: "example.com"}, Timeout: time.Minute,
	}
}

func get(t *testing.T, c *outbound.Client, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(r)
}

func TestClient_reads_a_bounded_answer_and_follows_nothing(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	s, p := sink(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, r.Header.Get("Accept-Encoding"), " ", r.Proto)
		case "/moved":
			http.Redirect(w, r, "/target", http.StatusFound)
		case "/target":
			followed.Add(1)
		case "/exact":
			_, _ = w.Write(make([]byte, 1000))
		case "/big":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		case "/headers":
			for i := range 64 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		case "/hang":
			<-r.Context().Done()
		}
	})
	p.MaxBody = 1000
	c := outbound.New(p)
	res, err := get(t, c, s.URL)
	testkit.Must(t, err)
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != "identity HTTP/2.0" {
		t.Fatalf("%q %v", body, err)
	}
	if res, err = get(t, c, s.URL+"/moved"); err != nil || res.StatusCode != http.StatusFound || followed.Load() != 0 {
		t.Fatalf("redirect: %v, followed %d", err, followed.Load())
	}
	if res, err = get(t, c, s.URL+"/exact"); err != nil {
		t.Fatal(err)
	}
	if body, err = io.ReadAll(res.Body); err != nil || len(body) != 1000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	if res, err = get(t, c, s.URL+"/big"); err != nil {
		t.Fatal(err)
	}
	if body, err = io.ReadAll(res.Body); !errors.Is(err, outbound.ErrTooLarge) || len(body) != 1000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	res.Body.Close()
	if _, err = get(t, c, s.URL+"/headers"); err == nil {
		t.Fatal("64 KB of headers were accepted")
	}
	p.Timeout = 50 * time.Millisecond
	var ne net.Error
	if _, err = get(t, outbound.New(p), s.URL+"/hang"); !errors.As(err, &ne) || !ne.Timeout() {
		t.Fatalf("a hanging server: %v", err)
	}
	p.Ports = []uint16{443}
	if _, err = get(t, outbound.New(p), s.URL); !errors.Is(err, outbound.ErrForbidden) {
		t.Fatalf("another port: %v", err)
	}
}

// proxied counts connections to a proxy at an address that policies may allow.
var proxied atomic.Int32

// TestMain sets that proxy in the environment for all tests, because the environment is read once per process.
func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.2:0"); err == nil {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				proxied.Add(1)
				c.Close()
			}
		}()
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
			os.Setenv(name, "http://"+l.Addr().String())
		}
	}
	os.Exit(m.Run())
}

// A client that uses a proxy trusts the proxy to check addresses.
func TestClient_ignores_proxies(t *testing.T) {
	t.Parallel()
	if os.Getenv("HTTPS_PROXY") == "" {
		t.Skip("needs a second loopback address")
	}
	loop := netip.MustParseAddr("127.0.0.1")
	c := outbound.New(outbound.Policy{Resolver: nameserver(t, loop, loop),
		AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")},
		Timeout:    time.Minute})
	for _, url := range []string{"https://inside.example.com:8443/", "http://inside.example.com:8080/"} {
		if _, err := get(t, c, url); !errors.Is(err, outbound.ErrForbidden) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if n := proxied.Load(); n != 0 {
		t.Fatalf("the proxy of the environment was asked %d times", n)
	}
}

// nameserver resolves every name to two addresses alternately, so that the check and the connection get different
// addresses.
func nameserver(t *testing.T, first, then netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	var asked atomic.Int64
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Header.Response, m.Header.RCode, m.Additionals = true, dnsmessage.RCodeSuccess, nil
			addr := then
			if q.Type == dnsmessage.TypeA && asked.Add(1)%2 == 1 {
				addr = first
			}
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET}
			switch {
			case q.Type == dnsmessage.TypeA && addr.Is4():
				m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}}}
			case q.Type == dnsmessage.TypeAAAA && addr.Is6():
				m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// canary counts connections to one port of 127.0.0.1 and, where there is IPv6, of ::1.
func canary(t *testing.T) (port string, accepts *atomic.Int32) {
	t.Helper()
	accepts = &atomic.Int32{}
	listen := func(address string) (net.Listener, error) {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				accepts.Add(1)
				c.Close()
			}
		}()
		return l, nil
	}
	l, err := listen("127.0.0.1:0")
	testkit.Must(t, err)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	if _, err := listen("[::1]:" + port); err != nil {
		t.Logf("no canary on ::1: %v", err)
	}
	return port, accepts
}

// disguises are hosts that are, or can be parsed as, a forbidden address.
func disguises() []string {
	var out []string
	for _, v4 := range []string{
		"0.0.0.0", "10.0.0.1", "10.255.255.254", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254",
		"169.254.170.2",
		"172.16.0.1", "172.31.255.254", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.254", "198.18.0.1",
		"198.19.255.254",
		"198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
	} {
		b := netip.MustParseAddr(v4).As4()
		n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		h := hex.EncodeToString(b[:])
		hexPair := h[:4] + ":" + h[4:]
		out = append(out, v4, v4+".", fmt.Sprint(n), fmt.Sprintf("0x%x", n), fmt.Sprintf("0X%08X", n), fmt.Sprintf("0%o", n),
			fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", b[0], b[1], b[2], b[3]), fmt.Sprintf("0%o.0%o.0%o.0%o", b[0], b[1], b[2], b[3]),
			fmt.Sprintf("%d.%d", b[0], n&0xFFFFFF), fmt.Sprintf("%d.%d.%d", b[0], b[1], n&0xFFFF), strings.ReplaceAll(v4, ".", "。"),
			"[::ffff:"+v4+"]", "[::ffff:"+hexPair+"]", "[::"+v4+"]", "[::ffff:0:"+hexPair+"]", "[64:ff9b::"+hexPair+"]",
			"[64:ff9b:1::"+hexPair+"]",
			"[2002:"+hexPair+"::1]", "[2001:0:"+hexPair+"::]", "[0:0:0:0:0:ffff:"+v4+"]",
		)
	}
	for _, v6 := range []string{
		"::", "::1", "0:0:0:0:0:0:0:1", "::1%25lo", "100::1", "2001::1", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "5f00::1",
		"fc00::1", "fd00:ec2::254",
		"fe80::1", "fe80::1%25lo", "fec0::1", "ff02::1", "ff0e::1", "4000::1", "8000::1",
	} {
		out = append(out, "["+v6+"]")
	}
	return append(out, "localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "metadata.google.internal", "metadata",
		"router.lan", "printer.local",
		"①②⑦.⓪.⓪.①", "127.0.0.1.nip.io", "localtest.me", "spoofed.example.com", "user@127.0.0.1", "example.com@127.0.0.1",
		"127.0.0.1%2eexample.com", "lo\u00ADcalhost", "ⓛocalhost", "127.0.0.01")
}

func TestClient_sends_nothing_to_special_addresses(t *testing.T) {
	t.Parallel()
	port, accepts := canary(t)
	public, loop4, loop6 := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	hosts := disguises()
	if len(hosts) < 250 {
		t.Fatalf("only %d disguises", len(hosts))
	}
	for name, resolver := range map[string]*net.Resolver{"to 127.0.0.1": nameserver(t, loop4, loop4),
		"to ::1": nameserver(t, loop6, loop6)} {
		c := outbound.New(outbound.Policy{Resolver: resolver, Timeout: time.Minute})
		for _, host := range hosts {
			for _, scheme := range []string{"https", "http"} {
				url := scheme + "://" + host + ":" + port + "/"
				if err := c.CheckURL(t.Context(), url); err == nil {
					t.Errorf("names %s: %s passes the check", name, url)
				}
				if res, err := get(t, c, url); err == nil {
					res.Body.Close()
					t.Errorf("names %s: %s was answered", name, url)
				}
			}
		}
	}
	// The name passes the check with its public address. The connection uses the other one.
	for range 10 {
		c := outbound.New(outbound.Policy{Resolver: nameserver(t, public, loop4), Timeout: time.Minute})
		if err := c.CheckURL(t.Context(), "https://rebind.example.com:"+port); err != nil {
			t.Errorf("the public address was refused: %v", err)
		}
		if _, err := get(t, c, "https://rebind.example.com:"+port); !errors.Is(err, outbound.ErrForbidden) {
			t.Errorf("rebinding: %v", err)
		}
	}
	if n := accepts.Load(); n != 0 {
		t.Fatalf("%d connections reached a canary", n)
	}
	// Control: the canary can be reached.
	if _, err := get(t, outbound.New(outbound.Policy{AllowPrivate: true}), "http://127.0.0.1:"+port); err == nil || accepts.Load() == 0 {
		t.Fatalf("the control: %v", err)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network")
	}}
	strict := outbound.New(outbound.Policy{Resolver: silent})
	dev := outbound.New(outbound.Policy{AllowPrivate: true})
	for _, c := range []struct {
		client *outbound.Client
		url    string
		want   string // in the error; "" for none
	}{
		{strict, "https://example.com/hook?x=1", ""},
		{strict, "https://example.com:8443", ""},
		{strict, "https://93.184.216.34/", ""},
		{strict, "https://[2606:2800:220:1::1]/", ""},
		{strict, "https://bücher.example/", ""},
		{strict, "http://example.com", "https://"},
		{strict, "ftp://example.com", "https://"},
		{strict, "", "https://"},
		{strict, "example.com", "https://"},
		{strict, "//example.com", "https://"},
		{strict, "https://", "absolute"},
		{strict, "https:example.com", "absolute"},
		{strict, "https://example.com/a b", "absolute"},
		{strict, "https://exa\\mple.com", "absolute"},
		{strict, "https://u:p@example.com", "user name"},
		{strict, "https://example.com:25", "port"},
		{strict, "https://example.com:0", "port"},
		{strict, "https://example.com:70000", "port"},
		{strict, "https://example.com:", "absolute"},
		{strict, "https://127.0.0.2", "private"},
		{strict, "https://" + strings.Repeat("a", 64) + ".com", "host"},
		{strict, "https://a..com", "host"},
		{strict, "https://" + strings.Repeat("a", 2048), "2048"},
		{dev, "http://127.0.0.1:80/x", ""},
		{dev, "http://localhost:9", ""},
		{dev, "http://host.docker.internal:9", ""},
		{dev, "http://user@localhost", "user name"},
		{dev, "http://0x7f000001", "four decimal"},
		{dev, "gopher://localhost", "https://"},
		{outbound.New(outbound.Policy{Ports: []uint16{443, 9443}}), "https://127.0.0.1:8443", "443 9443"},
		{outbound.New(outbound.Policy{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}), "https://10.1.2.3", ""},
		{outbound.New(outbound.Policy{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}), "https://10.2.2.3", "private"},
	} {
		err := c.client.CheckURL(t.Context(), c.url)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.url, err, c.want)
		}
	}
}

// An address that passes the URL check is never rejected when the connection is made.
func FuzzCheckURL(f *testing.F) {
	for _, h := range disguises()[:40] {
		f.Add("https://" + h + "/")
	}
	f.Add("https://[::ffff:7f00:1]:443")
	c := outbound.New(outbound.Policy{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no network")
		}}})
	f.Fuzz(func(t *testing.T, raw string) {
		if c.CheckURL(t.Context(), raw) != nil {
			return
		}
		r, err := http.NewRequest(http.MethodPost, raw, nil)
		if err != nil || r.URL.Scheme != "https" || r.URL.User != nil {
			t.Fatalf("%q passes, but: %v", raw, err)
		}
		if addr, err := netip.ParseAddr(r.URL.Hostname()); err == nil && !outbound.Public(addr) {
			t.Fatalf("%q passes, but leads to %s", raw, addr)
		}
	})
}

// FuzzPublic compares the list of networks with a second one, made of functions of net/netip and other prefixes. An
// address is as public as the address that it embeds.
func FuzzPublic(f *testing.F) {
	for _, s := range []string{"1.1.1.1", "10.0.0.1", "100.64.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
		"2002:a00:1::", "2001::1", "fd00::1", "fe80::1", "2606:4700::1111", "ff02::1", "::a00:1"} {
		f.Add(netip.MustParseAddr(s).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		addr, ok := netip.AddrFromSlice(b)
		if !ok || !outbound.Public(addr) {
			return
		}
		plain := addr.Unmap()
		if plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified() ||
			!plain.IsGlobalUnicast() || addr.WithZone("x").Zone() != "" && outbound.Public(addr.WithZone("x")) {
			t.Fatalf("%s is public", addr)
		}
		if plain.Is4() {
			v4 := plain.As4()
			for _, stands := range [][]byte{append([]byte{0x20, 0x02}, append(v4[:], make([]byte, 10)...)...),
				append([]byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, v4[:]...), append(make([]byte, 12), v4[:]...)} {
				if other, _ := netip.AddrFromSlice(stands); outbound.Public(other) {
					t.Fatalf("%s is public, in the place of %s", other, plain)
				}
			}
		}
	})
}
