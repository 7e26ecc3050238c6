package httpserver_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/shared/framing/corpus"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// served starts a server that returns the id of each request and reads no body.
func served(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-ID", r.Header.Get("X-Request-ID"))
		http.Error(w, "not found", http.StatusNotFound)
	})
	testkit.Run(t, httpserver.New(ln, handler, slog.New(slog.DiscardHandler)).Run)
	return ln.Addr().String()
}

func TestM4_Framing(t *testing.T) {
	t.Parallel()
	addr := served(t)
	for i, r := range corpus.Requests() {
		if err := corpus.Try(addr, r, fmt.Sprintf("second-%d", i), true); err != nil {
			t.Error(err)
		}
	}
}

// The server reads the rest of a body that its handler has not read. That must arrive in time for every method and framing.
func TestH1_SlowBodies(t *testing.T) {
	t.Parallel()
	addr := served(t)
	for name, head := range map[string]string{
		"GET":     "GET /nobody HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n",
		"POST":    "POST /nobody HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n",
		"chunked": "PUT /nobody HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n",
		"pauses":  "POST /nobody HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", addr)
			testkit.Must(t, err)
			defer conn.Close()
			every := 100 * time.Millisecond // a byte
			if name == "pauses" {
				every = 4 * time.Second
			}
			if _, err := io.WriteString(conn, head+string(make([]byte, 6000))); err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			defer close(stop)
			go func() {
				pace := time.NewTicker(every)
				defer pace.Stop()
				for {
					select {
					case <-stop:
						return
					case <-pace.C:
						if _, err := conn.Write([]byte("a")); err != nil {
							return
						}
					}
				}
			}()
			began := time.Now()
			_, _ = io.Copy(io.Discard, conn) // until the server closes the connection
			t.Logf("closed after %s", time.Since(began).Round(100*time.Millisecond))
		})
	}
}
