package redirect_test

import (
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/framing/corpus"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// tunnel opens a connection with or without TLS.
func (w *world) tunnel(secure bool) interface {
	net.Conn
	CloseWrite() error
} {
	w.t.Helper()
	if !secure {
		c, err := net.Dial("tcp", w.addr)
		testkit.Must(w.t, err)
		return c.(*net.TCPConn)
	}
	c, err := tls.Dial("tcp", w.secure, &tls.Config{InsecureSkipVerify: true})
	testkit.Must(w.t, err)
	return c
}

// through sends bytes, size at a time, ends its side, and returns everything that the edge sends until it closes the connection.
// whole is false if the connection broke: the edge closes it after a bad request, perhaps before it has read what follows.
func (w *world) through(secure bool, request string, size int) (got string, whole bool) {
	w.t.Helper()
	c := w.tunnel(secure)
	defer c.Close()
	testkit.Must(w.t, c.SetDeadline(time.Now().Add(testkit.Patience)))
	whole = true
	for rest := request; len(rest) > 0 && whole; {
		n := min(size, len(rest))
		_, err := io.WriteString(c, rest[:n])
		rest, whole = rest[n:], err == nil
	}
	_ = c.CloseWrite()
	b, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Errorf("%q: the connection stays open after %q", request, b)
	}
	return string(b), whole && err == nil
}

// changing are values that differ from answer to answer. An edge that knows that the client has ended its side says that the connection
// ends.
var changing = regexp.MustCompile(`(\r\nDate: |\r\nX-Request-ID: |; sl_v=|: sl_v=|"request_id":")[^\r;"]*|\r\nConnection: close`)

// alike fails unless a request has the same answers with and without TLS. It reports whether it could compare them.
func (w *world) alike(request string, size int) bool {
	w.t.Helper()
	plain, ok := w.through(false, request, len(request))
	secure, also := w.through(true, request, size)
	if !ok || !also || strings.Contains(secure, "HTTP/1.1 421 ") { // only connections with TLS are for one host
		return false
	}
	if plain, secure := changing.ReplaceAllString(plain, "$1"), changing.ReplaceAllString(secure, "$1"); plain != secure {
		w.t.Errorf("%q in pieces of %d:\nplain %q\nTLS   %q", request, size, plain, secure)
	}
	return true
}

const lastRequest = "GET /plain HTTP/1.1\r\nHost: sho.rt\r\nConnection: close\r\n\r\n"

// Requests have the same answers with and without TLS, from the server or without it, and however they arrive.
func TestVisits_over_TLS_are_answered_alike(t *testing.T) {
	t.Parallel()
	w := newWorld(t, append(samples(), known), withHosts(t, snapshot.Host{Name: "sho.rt"}))
	compared, all := 0, 0
	for _, r := range corpus.Requests() {
		for _, size := range []int{1, 1 << 20} {
			all++
			if w.alike(r.Raw+lastRequest, size) {
				compared++
			}
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range testkit.Size(300, 20_000) {
		all++
		request := string(randomRequest(random)) + string(randomRequest(random)) + lastRequest
		if w.alike(request, 1+random.IntN(len(request))) {
			compared++
		}
	}
	t.Logf("%d of %d are compared", compared, all)
	if compared < all/2 {
		t.Errorf("only %d of %d could be compared", compared, all)
	}
}

// Framing is judged on connections with TLS, too.
func TestVisits_over_TLS_are_framed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples(), withHosts(t, snapshot.Host{Name: "sho.rt"}))
	for _, r := range corpus.Requests() {
		got, _ := w.through(true, r.Raw, len(r.Raw))
		if r.Verdict == corpus.Misframed && !strings.Contains(got[max(0, strings.LastIndex(got, "HTTP/1.1 ")):], "HTTP/1.1 400 ") {
			t.Errorf("%s: %q", r.Name, got)
		}
	}
}

// Without the server, connections with TLS get the bytes that the server would send, with Strict-Transport-Security.
func TestVisits_over_TLS_answer_like_the_server(t *testing.T) {
	t.Parallel()
	for _, age := range []int64{0, 300} {
		w := newWorld(t, append(samples(), known, link.Record{Key: "lasting", Destination: "https://example.com/", Code: 301}),
			withHosts(t, snapshot.Host{Name: "sho.rt", HSTS: age}))
		for _, slug := range []string{"plain", "lasting", "off", "expired", "social", "hidden", "presets", "routed", "known", "nothing", "healthz"} {
			for _, method := range []string{"GET", "HEAD"} {
				for _, accept := range []string{browser, "*/*"} {
					head := method + " /" + slug + " HTTP/1.1\r\nHost: sho.rt\r\nAccept: " + accept + "\r\n"
					got, _ := w.through(true, head+"Connection: close\r\n\r\n", 1<<20)
					want, _ := w.through(true, head+"Trailer: X\r\nConnection: close\r\n\r\n", 1<<20) // which only the server answers
					if got, want := changing.ReplaceAllString(got, "$1"), changing.ReplaceAllString(want, "$1"); got != want {
						t.Errorf("%s /%s:\nalone  %q\nserver %q", method, slug, got, want)
					}
					if strings.Contains(got, "\r\nStrict-Transport-Security: max-age=300\r\n") != (age > 0) {
						t.Errorf("%s /%s: %q", method, slug, got)
					}
				}
			}
		}
	}
}
