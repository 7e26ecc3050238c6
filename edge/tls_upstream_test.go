package edge_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp/fasthttputil"
)

// The control plane learns that a visitor used https, and bodies of any size pass in both directions.
func TestTLS_forwards_to_the_control_plane(t *testing.T) {
	t.Parallel()
	up := fasthttputil.NewInmemoryListener()
	api := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Header.Get("X-Forwarded-Proto"))
		body, _ := io.ReadAll(r.Body) // all of it, because a server discards what is left when it answers
		_, _ = w.Write(body)
	})}
	go func() { _ = api.Serve(up) }()
	t.Cleanup(func() { _ = api.Close() })
	c, n, cfg := newControl(), new(names), secure(t)
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "sho.rt", 0, 1)}})
	e, _ := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n, Upstream: func(context.Context) (net.Conn, error) { return up.Dial() }})
	testkit.Eventually(t, "the host", func() bool { return e.Hosts() == 1 })
	conn, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "sho.rt", InsecureSkipVerify: true})
	testkit.Must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	for _, size := range []int{0, 10, 40_000, 3 << 20} {
		sent := strings.Repeat("x", size)
		failed := make(chan error, 1)
		go func() {
			_, err := fmt.Fprintf(conn, "POST /api/echo HTTP/1.1\r\nHost: sho.rt\r\nContent-Length: %d\r\n\r\n%s", size, sent)
			failed <- err
		}()
		resp, err := http.ReadResponse(in, nil)
		testkit.Must(t, err)
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != sent || resp.Header.Get("X-Proto") != "https" {
			t.Errorf("%d bytes: %d came back, %v, X-Forwarded-Proto %q", size, len(got), err, resp.Header.Get("X-Proto"))
		}
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// A cookie that is set over TLS is never sent without.
func TestTLS_cookies_are_secure(t *testing.T) {
	t.Parallel()
	c, n, cfg := newControl(), new(names), secure(t)
	c.put(link.Record{Num: 1, Key: link.Key(36, "rules"), Destination: "https://example.com/", SmartRouting: true, Rules: []link.Rule{
		{ID: link.ID{1}, Name: "returning", Target: "https://example.com/again",
			Conditions: []byte(`{"operator":"AND","conditions":[{"type":"visitor","operator":"equals","value":"returning"}]}`)},
	}})
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, 1)}})
	e, _ := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n})
	testkit.Eventually(t, "ready", func() bool { return e.Ready() && e.Hosts() == 1 })
	resp, _, err := visit(e.SecureAddr(), &tls.Config{ServerName: "go.acme.com"}, "go.acme.com", "/rules")
	if err != nil || !strings.HasSuffix(resp.Header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("%v, %v", resp, err)
	}
}

// A trusted proxy that forwards bytes tells the visitor's address in a PROXY header, before TLS begins.
func TestTLS_behind_a_proxy_of_bytes(t *testing.T) {
	t.Parallel()
	c, n, cfg := newControl(), new(names), secure(t)
	cfg.ProxyProtocol, cfg.TrustedProxies = true, "127.0.0.1"
	c.put(link.Record{Num: 1, Key: link.Key(36, "spring"), Destination: "https://example.com/acme"})
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, 1)}})
	e, _ := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n})
	testkit.Eventually(t, "ready", func() bool { return e.Ready() && e.Hosts() == 1 })
	for i, header := range []string{"PROXY TCP4 203.0.113.7 198.51.100.1 51234 443\r\n",
		"PROXY TCP6 2001:db8::7 2001:db8::1 51234 443\r\n"} {
		// The edge gives a client seconds for its head, which a busy machine may need for the handshake.
		testkit.Eventually(t, "an answer", func() bool {
			secured := tls.Client(dial(t, e, header), &tls.Config{ServerName: "go.acme.com", InsecureSkipVerify: true})
			resp, _, err := askOver(secured, "go.acme.com", "/spring")
			if err == nil && resp.StatusCode != 302 {
				t.Fatalf("%v", resp)
			}
			return err == nil
		})
		testkit.Eventually(t, "the click", func() bool { return c.count() > i })
	}
	seen := map[string]bool{}
	c.mu.Lock()
	for _, click := range c.clicks {
		seen[click.IP.String()] = true
	}
	c.mu.Unlock()
	if !seen["203.0.113.7"] || !seen["2001:db8::7"] {
		t.Errorf("addresses: %v", seen)
	}
	_, _ = io.Copy(io.Discard, dial(t, e, helloOf(t, "go.acme.com")))
	if s := e.Stats().Proxied; s.Missing != 1 {
		t.Errorf("%+v", s)
	}
}

// A trusted proxy that has ended TLS itself gets answers, and no redirects to https.
func TestTLS_behind_a_proxy_with_TLS(t *testing.T) {
	t.Parallel()
	c, n, cfg := newControl(), new(names), secure(t)
	cfg.TrustedProxies = "127.0.0.1"
	c.put(link.Record{Num: 1, Key: link.Key(36, "spring"), Destination: "https://example.com/acme"})
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, 1)}})
	e, _ := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n})
	testkit.Eventually(t, "ready", func() bool { return e.Ready() && e.Hosts() == 1 })
	for proto, want := range map[string]int{"https": 302, "http": 308} {
		if resp, _ := plainly(t, e.Addr(), "go.acme.com", "/spring", "X-Forwarded-Proto", proto); resp.StatusCode != want {
			t.Errorf("%s: %d", proto, resp.StatusCode)
		}
	}
}
