package httpserver_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// noting is a listener that records the write deadlines of its connections.
type noting struct {
	net.Listener
	mu    sync.Mutex
	until []time.Time
}

func (n *noting) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	return &notingConn{c, n}, err
}

type notingConn struct {
	net.Conn
	of *noting
}

func (c *notingConn) SetWriteDeadline(t time.Time) error {
	c.of.mu.Lock()
	c.of.until = append(c.of.until, t)
	c.of.mu.Unlock()
	return c.Conn.SetWriteDeadline(t)
}

// A client that does not read must not keep a response in memory without a time limit.
func TestNew_responses_have_a_write_deadline(t *testing.T) {
	t.Parallel()
	under, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	ln := &noting{Listener: under}
	seen := make(chan []time.Time, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ln.mu.Lock()
		seen <- append([]time.Time(nil), ln.until...)
		ln.mu.Unlock()
	})
	testkit.Run(t, httpserver.New(ln, handler, slog.New(slog.DiscardHandler)).Run)
	res, err := http.Get("http://" + under.Addr().String())
	testkit.Must(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	until := <-seen
	if len(until) == 0 || until[len(until)-1].IsZero() || time.Until(until[len(until)-1]) > 10*time.Minute {
		t.Errorf("write deadlines: %v", until)
	}
}
