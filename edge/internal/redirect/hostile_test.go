package redirect_test

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestM4_Framing has the requests that two servers could frame differently.
func TestHostile_raw_requests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	const host = "Host: sho.rt\r\n"
	end := "Connection: close\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		status  string // status of the first answer
		only    bool   // there must be no second answer
	}{
		"no host":                {"GET /plain HTTP/1.1\r\n" + end, "400", true},
		"two hosts":              {"GET /plain HTTP/1.1\r\n" + host + "Host: evil.test\r\n" + end, "400", true},
		"space before the colon": {"GET /plain HTTP/1.1\r\nHost : sho.rt\r\n" + end, "400", true},
		"space in the target":    {"GET /pl ain HTTP/1.1\r\n" + host + end, "400", true},
		"HTTP/1.0":               {"GET /plain HTTP/1.0\r\n\r\n", "302", true},
		"absolute form":          {"GET http://other.test/plain?utm_source=a HTTP/1.1\r\n" + host + end, "302", true},
		"absolute form, no path": {"GET http://other.test HTTP/1.1\r\n" + host + end, "404", true},
		"asterisk":               {"OPTIONS * HTTP/1.1\r\n" + host + end, "404", true},
		"CONNECT":                {"CONNECT plain:443 HTTP/1.1\r\n" + host + end, "404", true},
		"encoded CRLF":           {"GET /plain%0d%0aSet-Cookie:%20a HTTP/1.1\r\n" + host + end, "302", true},
		"encoded NUL":            {"GET /plain%00 HTTP/1.1\r\n" + host + end, "404", true},
		"dot segments":           {"GET /x/../plain HTTP/1.1\r\n" + host + end, "404", true},
		"double slash":           {"GET //plain HTTP/1.1\r\n" + host + end, "302", true},
		"backslash":              {"GET /\\plain HTTP/1.1\r\n" + host + end, "404", true},
		"huge header":            {"GET /plain HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 9000) + "\r\n" + end, "431", true},
		"huge target":            {"GET /" + strings.Repeat("a", 20000) + " HTTP/1.1\r\n" + host + end, "431", true},
		"body on a GET": {"GET /plain HTTP/1.1\r\n" + host + "Content-Length: 2000\r\n" + end + strings.Repeat("a", 2000),
			"413", true},
		"chunked body on a GET": {"GET /plain HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n" + end + "7d0\r\n" +
			strings.Repeat("a", 2000) + "\r\n0\r\n\r\n", "413", true},
		"small body on a GET": {"GET /plain HTTP/1.1\r\n" + host + "Content-Length: 5\r\n" + end + "hello", "302", true},
		"large body": {"POST /hidden/verify HTTP/1.1\r\n" + host + "Content-Length: 100000\r\n\r\n" + strings.Repeat("a", 100000),
			"413", true},
		"query breaks the header": {"GET /plain?a=1%0d%0aX:%20y&b=\x7f HTTP/1.1\r\n" + host + end, "400", true},
		"two in a row":            {"GET /plain HTTP/1.1\r\n" + host + "\r\nGET /off HTTP/1.1\r\n" + host + end, "302", false},
	} {
		got := w.raw(c.request)
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status+" ") {
			t.Errorf("%s: %.200q, want %s", name, got, c.status)
		}
		if n := strings.Count(got, "HTTP/1.1 "); c.only && n > 1 || !c.only && n != 2 {
			t.Errorf("%s: %d answers: %q", name, n, got)
		}
		for _, injected := range []string{"\nSet-Cookie", "\nX: y", "\nX:y"} {
			if strings.Contains(got, injected) {
				t.Errorf("%s: injected header in %q", name, got)
			}
		}
	}
}

// Requests are assembled from pieces and then damaged. The edge must send no answer or a valid one, without injected
// headers, without a 5xx, and without a panic (which newWorld checks at its end).
func TestHostile_random_requests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(s ...string) string { return s[random.IntN(len(s))] }
	for range testkit.Size(300, 3000) {
		var b bytes.Buffer
		b.WriteString(pick("GET", "HEAD", "POST", "PUT", "get", "", "G\x00T", "OPTIONS") + pick(" ", "  ", "\t", ""))
		b.WriteString(pick("/", "//", "", "/plain", "/hidden/verify", "/social", "http://x/plain", "/plain/info", "*", "/%", "/%zz",
			"/presets"))
		b.WriteString(pick("", "?", "?a=%0d%0aInjected:1", "?utm_source=\r\nInjected: 1", "?utm_source=%00%ff&utm_source", "#x", "?&&==&",
			"?\xff\xfe"))
		b.WriteString(pick(" HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/9\r\n", "\r\n", " HTTP/1.1\n"))
		for range random.IntN(6) {
			b.WriteString(pick("Host: sho.rt\r\n", "Host: sho.rt\r\n", "Content-Length: 3\r\n", "Content-Length: 99999999999999999999\r\n",
				"Transfer-Encoding: chunked\r\n", ": x\r\n",
				"Accept: text/html;q=\xff\r\n", "Accept: ,;,q=;=\r\n", "Cookie: \x01\r\n", " folded\r\n", "User-Agent: "+crawler+"\r\n",
				"X-Forwarded-For: ,,[::\r\n", "Referer: \r\n",
				"Expect: 100-continue\r\n", "Content-Type: application/json; =\r\n", "X-Request-ID: a\tb\r\n",
				"Accept-Language: *;q=9,,\r\n"))
		}
		b.WriteString(pick("\r\n", "\r\n", "\n", "") + pick("", "abc", "0\r\n\r\n", "ffffffffffffffff\r\n", "password=x", `{"password":`))
		request := b.Bytes()
		for range random.IntN(3) {
			request[random.IntN(len(request))] = byte(random.IntN(256))
		}
		got := w.raw(string(request))
		if got != "" && !strings.HasPrefix(got, "HTTP/1.") {
			t.Fatalf("%q is answered with %q", request, got)
		}
		if strings.Contains(got, "\nInjected") || strings.HasPrefix(got, "HTTP/1.1 5") {
			t.Fatalf("%q is answered with %q", request, got)
		}
	}
}

func TestHostile_a_slow_header_is_cut(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, redirect.Timeouts, samples())
	began := time.Now()
	conn, err := net.Dial("tcp", w.addr)
	testkit.Must(t, err)
	defer conn.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		_, _ = io.WriteString(conn, "GET /plain HTTP/1.1\r\nHost: sho.rt\r\nX: ")
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_, _ = conn.Write([]byte("a"))
			}
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("status = %d", resp.StatusCode)
	}
	if d := time.Since(began); d < 4*time.Second {
		t.Errorf("cut after %v, want about 5 s", d)
	}
	testkit.Within(t, 15*time.Second, began, "cutting a slow request")
}
