package redirect_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

// addressWorld trusts the machine of the test, or another proxy, and reads the visitor's address from a header.
func addressWorld(t *testing.T, header, trusted string) *world {
	t.Helper()
	return newWorld(t, []link.Record{{Key: "plain", Destination: "https://example.com/"}}, func(c *redirect.Config, _ *redirect.Deps) {
		var err error
		c.Trusted, err = visitor.ParsePrefixes(trusted)
		testkit.Must(t, err)
		c.ClientIPHeader, err = visitor.ParseSource(header)
		testkit.Must(t, err)
	})
}

// Only the header of the setting counts, and only from a trusted proxy, in the loop for simple requests and in the server.
func TestAddress_of_visitors_behind_proxies(t *testing.T) {
	t.Parallel()
	const usual, rfc, cdn = "", "Forwarded", "CF-Connecting-IP"
	every := []string{"X-Forwarded-For", "198.51.100.1", "Forwarded", `for="[2001:db8::2]:80";proto=https`, "CF-Connecting-IP", "198.51.100.3",
		"X-Real-IP", "198.51.100.4"}
	for _, c := range []struct {
		name, header, trusted string
		headers               []string
		want                  string
	}{
		{"usual", usual, "127.0.0.0/8", every, "198.51.100.1"},
		{"usual, X-Real-IP", usual, "127.0.0.0/8", []string{"X-Real-IP", "198.51.100.4"}, "198.51.100.4"},
		{"Forwarded", rfc, "127.0.0.0/8", every, "2001:db8::2"},
		{"Forwarded is missing", rfc, "127.0.0.0/8", []string{"X-Forwarded-For", "198.51.100.1", "X-Real-IP", "198.51.100.4"}, "127.0.0.1"},
		{"a CDN", cdn, "127.0.0.0/8", every, "198.51.100.3"},
		{"the name has no case", cdn, "127.0.0.0/8", []string{"cf-CONNECTING-ip", "198.51.100.3"}, "198.51.100.3"},
		{"X-Real-IP alone", "X-Real-IP", "127.0.0.0/8", every, "198.51.100.4"},
		{"usual, not trusted", usual, "10.0.0.1", every, "127.0.0.1"},
		{"Forwarded, not trusted", rfc, "10.0.0.1", every, "127.0.0.1"},
		{"a CDN, not trusted", cdn, "10.0.0.1", every, "127.0.0.1"},
	} {
		w := addressWorld(t, c.header, c.trusted)
		w.get("/plain", c.headers...)
		w.get("/plain", append([]string{"Expect", "100-continue"}, c.headers...)...) // the server answers this
		for i, click := range w.clicks(2) {
			if click.IP != netip.MustParseAddr(c.want) {
				t.Errorf("%s, request %d: %v, want %s", c.name, i, click.IP, c.want)
			}
		}
	}
}

// Requests with random headers from an address that is not trusted: none changes the address of the visitor.
func TestAddress_cannot_be_forged(t *testing.T) {
	t.Parallel()
	names := []string{"Forwarded", "X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "forwarded", "FORWARDED", "X-Client-IP", "Via"}
	pieces := []string{"for=", "198.51.100.7", `"`, "[2001:db8::1]", ":80", ",", ";", " ", "proto=https", "by=_x", "unknown", "127.0.0.1", `\`, "=", "10.0.0.1"}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, header := range []string{"", "Forwarded", "CF-Connecting-IP"} {
		w := addressWorld(t, header, "10.0.0.0/8")
		const n = 300
		var b strings.Builder
		for i := range n {
			b.WriteString("GET /plain HTTP/1.1\r\nHost: sho.rt\r\n")
			for range random.IntN(4) {
				fmt.Fprintf(&b, "%s: ", names[random.IntN(len(names))])
				for range random.IntN(8) {
					b.WriteString(pieces[random.IntN(len(pieces))])
				}
				b.WriteString("\r\n")
			}
			if i == n-1 {
				b.WriteString("Connection: close\r\n")
			}
			b.WriteString("\r\n")
		}
		if got := strings.Count(w.raw(b.String()), "HTTP/1.1 302 "); got != n {
			t.Fatalf("%d of %d answers, seed %d", got, n, seed)
		}
		for _, click := range w.clicks(n) {
			if click.IP != netip.MustParseAddr("127.0.0.1") {
				t.Fatalf("%q: a visitor became %v, seed %d", header, click.IP, seed)
			}
		}
	}
}
