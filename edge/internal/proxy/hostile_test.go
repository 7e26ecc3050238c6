package proxy_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/proxy"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// exchange sends bytes and returns the status of the answer, or 0 without an answer.
func exchange(t *testing.T, addr, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	testkit.Must(t, err)
	defer conn.Close()
	testkit.Must(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// A path that some server could read as one outside the forwarded paths does not exist, however it is encoded.
func TestLow_DotSegments(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	addr, _ := edge(t, proxy.Config{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.RequestURI }))
	for _, path := range []string{
		"/api/og-images/../x", "/api/og-images/..%2fx.webp", "/api/../edge/v1/snapshot", "/api/%2e%2e/edge/v1/snapshot",
		"/api/.%2E/edge/v1/snapshot", "/api/..%2fedge%2fv1", "/api/%252e%252e/edge/v1", "/api/%25252e./x", "/api/..;a=b/edge/v1",
		"/api/..%3ba/edge/v1",
		"/api/..\\edge", "/api/x%5c..%5cedge", "/api/./x", "/api/..", "/api/.", "/api/a/../../edge/v1?x=1",
	} {
		if got := exchange(t, addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
	for _, path := range []string{"/api/urls?next=/../x", "/api/og-images/og-images%2F0197%2F1.webp", "/api/a..b/.well-known", "/api/...",
		"/api/100%25"} {
		if got := exchange(t, addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); got != http.StatusOK {
			t.Errorf("%s: %d", path, got)
		} else if uri := <-asked; uri != path {
			t.Errorf("%s is forwarded as %s", path, uri)
		}
	}
	// The absolute form of a path is none of the control plane's, so the edge answers it.
	if got := exchange(t, addr, "GET http://x/api/../edge/v1 HTTP/1.1\r\nHost: x\r\n\r\n"); got != http.StatusTeapot {
		t.Errorf("absolute form: %d", got)
	}
	if len(asked) > 0 {
		t.Errorf("%s was forwarded", <-asked)
	}
}

// A malformed, incomplete or late body is the client's error and does not count as a failure of the control plane.
func TestLow_BrokenBodies(t *testing.T) {
	t.Parallel()
	addr, p := edge(t, proxy.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	const chunked = "POST /api/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		want    int
	}{
		"a chunk without a size":    {chunked + "hello\r\n", 400},
		"a chunk that is too long":  {chunked + "5\r\nhello!\r\n0\r\n\r\n", 400},
		"a later chunk":             {chunked + "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\nzz\r\n", 400},
		"a chunk that never comes":  {chunked + "5\r\nhel", 408},
		"a length that never comes": {"POST /api/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("x", 5000), 408},
		"a large one, the same":     {"POST /api/x HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n" + strings.Repeat("x", 50000), 408},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exchange(t, addr, c.request); got != c.want {
				t.Errorf("answered %d, want %d", got, c.want)
			}
		})
	}
	t.Cleanup(func() {
		if s := p.Stats(); s.Failed != 0 || s.InFlight != 0 {
			t.Errorf("stats = %+v", s)
		}
	})
}

// Slow bodies take no places from complete requests, however many clients send them.
func TestH1_SlowBodies(t *testing.T) {
	t.Parallel()
	addr, p := edge(t, proxy.Config{MaxInFlight: 8}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	began := time.Now()
	var slow []net.Conn
	for i := range 60 {
		conn, err := net.Dial("tcp", addr)
		testkit.Must(t, err)
		defer conn.Close()
		slow = append(slow, conn)
		from := fmt.Sprintf("Test-Client: 203.0.113.%d\r\n", i)
		head := []string{"Content-Length: 9000\r\n\r\n", "Content-Length: 900000\r\n\r\n",
			"Transfer-Encoding: chunked\r\n\r\n2328\r\n"}[i%3]
		if _, err := io.WriteString(conn, "POST /api/slow HTTP/1.1\r\nHost: x\r\n"+from+head+strings.Repeat("x", 5000)); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		if got := exchange(t, addr, "POST /api/quick HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); got != http.StatusOK {
			t.Fatalf("the request of another client got %d, %+v", got, p.Stats())
		}
	}
	for i, conn := range slow { // each is cut or rejected
		testkit.Must(t, conn.SetReadDeadline(began.Add(25*time.Second)))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("slow client %d is still connected", i)
		}
	}
}
