package httpserver

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Clients that hold connections open, silent or idle, do not keep others out. A connection with a request in progress
// stays open.
func TestLimiter_silent_and_idle_connections_make_room(t *testing.T) {
	t.Parallel()
	const limit = 20
	under, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	l := newLimiter(under, limit, slog.New(slog.DiscardHandler))
	begun, end := make(chan struct{}), make(chan struct{})
	srv := &http.Server{ConnState: l.State, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/long" {
			close(begun)
			<-end
		}
		_, _ = io.WriteString(w, "well")
	})}
	over := make(chan error, 1)
	go func() { over <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-over; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", under.Addr().String())
		testkit.Must(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	ask := func(c net.Conn, path string) error {
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			return err
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		return err
	}
	long := make(chan error, 1)
	go func(c net.Conn) { long <- ask(c, "/long") }(dial())
	<-begun
	first := dial()
	testkit.Must(t, ask(first, "/"))
	for i := range 3 * limit {
		if err := ask(dial(), "/"); err != nil {
			t.Fatalf("client %d of those that stay idle after one request: %v", i, err)
		}
	}
	if n, err := first.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("the connection that was idle for longest: %d bytes, %v", n, err)
	}
	for range 3 * limit {
		dial() // and sends nothing
	}
	began := time.Now()
	for range 5 {
		if err := ask(dial(), "/"); err != nil {
			t.Fatalf("a new client among silent ones: %v", err)
		}
	}
	testkit.Within(t, 4*time.Second, began, "serving new clients among silent ones")
	if n := l.connections(); n > limit {
		t.Errorf("%d connections are open, the limit is %d", n, limit)
	}
	close(end)
	if err := <-long; err != nil {
		t.Errorf("the request in progress: %v", err)
	}
}
