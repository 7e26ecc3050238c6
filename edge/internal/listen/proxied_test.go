package listen_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp"
)

// addresses is a server that answers with the client's address, behind a Listener that trusts all or no proxies. A request must
// arrive within read.
func addresses(t *testing.T, trust bool, read time.Duration) (addr string, l *listen.Listener) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	l = listen.New(raw, listen.Timeouts{Read: read, Write: time.Minute, Idle: time.Minute})
	l.AwaitHeads(100)
	l.Proxied(func(netip.Addr) bool { return trust })
	ctx, stop := context.WithCancel(context.Background())
	swept, over := make(chan error, 1), make(chan error, 1)
	go func() { swept <- l.Run(ctx) }()
	server := &fasthttp.Server{
		Handler:   func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString(ctx.RemoteAddr().String()) },
		ConnState: l.State, CloseOnShutdown: true, Logger: quiet{},
	}
	go func() { over <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-over
		stop()
		<-swept
	})
	return raw.Addr().String(), l
}

// v2 is a header of version 2.
func v2(command, family byte, addresses string) string {
	return "\r\n\r\n\x00\r\nQUIT\n" + string([]byte{command, family, byte(len(addresses) >> 8), byte(len(addresses))}) + addresses
}

func TestProxied_reads_the_address(t *testing.T) {
	t.Parallel()
	addr, l := addresses(t, true, time.Hour)
	const peer = "127.0.0.1:"
	v6 := string(netip.MustParseAddr("2001:db8::7").AsSlice()) + string(netip.MustParseAddr("2001:db8::1").AsSlice()) + "\xc8\x22\x01\xbb"
	for name, c := range map[string]struct{ header, want string }{
		"v1, IPv4":              {"PROXY TCP4 203.0.113.7 198.51.100.1 51234 443\r\n", "203.0.113.7:51234"},
		"v1, IPv6":              {"PROXY TCP6 2001:db8::7 2001:db8::1 51234 443\r\n", "[2001:db8::7]:51234"},
		"v1, unknown":           {"PROXY UNKNOWN\r\n", peer},
		"v1, unknown with more": {"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", peer},
		"v2, IPv4":              {v2(0x21, 0x11, "\xcb\x00\x71\x07\xc6\x33\x64\x01\xc8\x22\x01\xbb"), "203.0.113.7:51234"},
		"v2, IPv6":              {v2(0x21, 0x21, v6), "[2001:db8::7]:51234"},
		"v2, with extensions": {v2(0x21, 0x11, "\xcb\x00\x71\x07\xc6\x33\x64\x01\xc8\x22\x01\xbb"+strings.Repeat("x", 500)),
			"203.0.113.7:51234"},
		"v2, local":              {v2(0x20, 0x00, ""), peer},
		"v2, unknown":            {v2(0x21, 0x00, "abc"), peer},
		"none":                   {"", ""},
		"v1, another family":     {"PROXY TCP6 203.0.113.7 198.51.100.1 51234 443\r\n", ""},
		"v1, no address":         {"PROXY TCP4 proxy 198.51.100.1 51234 443\r\n", ""},
		"v1, no port":            {"PROXY TCP4 203.0.113.7 198.51.100.1 99999 443\r\n", ""},
		"v1, too few fields":     {"PROXY TCP4 203.0.113.7\r\n", ""},
		"v1, too long":           {"PROXY TCP4 203.0.113.7 198.51.100.1 51234 443" + strings.Repeat(" ", 100) + "\r\n", ""},
		"v2, another version":    {v2(0x11, 0x11, "\xcb\x00\x71\x07\xc6\x33\x64\x01\xc8\x22\x01\xbb"), ""},
		"v2, too short":          {v2(0x21, 0x11, "\xcb\x00\x71\x07"), ""},
		"v2, UDP":                {v2(0x21, 0x12, "\xcb\x00\x71\x07\xc6\x33\x64\x01\xc8\x22\x01\xbb"), ""},
		"v2, too long":           {v2(0x21, 0x11, "\xcb\x00\x71\x07\xc6\x33\x64\x01\xc8\x22\x01\xbb"+strings.Repeat("x", 3000)), ""},
		"v2, cut by the request": {v2(0x21, 0x11, "\xcb\x00\x71\x07\xc6\x33\x64\x01\xc8\x22\x01\xbb")[:14], ""},
	} {
		for _, piece := range []int{0, 1, 7} {
			got := sendPieces(t, addr, c.header+"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", piece)
			if c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got[strings.LastIndex(got, "\n")+1:], c.want) {
				t.Errorf("%s in pieces of %d: %q, want %q", name, piece, got, c.want)
			}
		}
	}
	if s := l.ProxyStats(); s.Missing != 3 || s.Malformed != 30 || s.Untrusted != 0 {
		t.Errorf("%+v", s)
	}
}

func TestProxied_refuses_headers_of_others(t *testing.T) {
	t.Parallel()
	addr, l := addresses(t, false, time.Hour)
	for header, want := range map[string]bool{"": true, "PROXY TCP4 203.0.113.7 198.51.100.1 51234 443\r\n": false,
		"PROXY nonsense\r\n": false, v2(0x20, 0, ""): false} {
		got := sendPieces(t, addr, header+"PROPFIND / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 3)
		if ok := strings.HasSuffix(got[:max(0, strings.LastIndexByte(got, ':'))], "127.0.0.1"); ok != want || !want && got != "" {
			t.Errorf("%q: %q", header, got)
		}
	}
	testkit.Eventually(t, "the counter", func() bool { return l.ProxyStats().Untrusted == 3 })
}

// A connection with half a header is closed after the time for a request.
func TestProxied_waits_no_longer_than_for_a_request(t *testing.T) {
	t.Parallel()
	addr, _ := addresses(t, true, time.Second)
	for _, half := range []string{"", "PRO", "PROXY TCP4 203.0.113.7", v2(0x21, 0x11, "")[:13]} {
		c, err := net.Dial("tcp", addr)
		testkit.Must(t, err)
		defer c.Close()
		began := time.Now()
		_, _ = io.WriteString(c, half)
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%q: %d, %v", half, n, err)
		}
		testkit.Within(t, 4*time.Second, began, "closing a connection with half a header")
	}
}

// sendPieces sends bytes, piece at a time, and returns what the server sends.
func sendPieces(t *testing.T, addr, text string, piece int) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	testkit.Must(t, err)
	defer c.Close()
	for len(text) > 0 {
		n := len(text)
		if piece > 0 {
			n = min(n, piece)
		}
		if _, err := io.WriteString(c, text[:n]); err != nil {
			break
		}
		if text = text[n:]; piece > 0 {
			pause(200 * time.Microsecond)
		}
	}
	b, _ := io.ReadAll(c) // a reset counts as a close
	return string(b)
}
