package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/client"
	"github.com/shortline/shortline/shared/conns"
	"github.com/shortline/shortline/shared/framing"
)

// handshakeTimeout is how long a TLS handshake may take.
const handshakeTimeout = 5 * time.Second

// strict is a listener whose connections accept only requests that every server frames alike, and whose request bodies
// must keep framing.Pace. net/http itself accepts folded lines and bare line feeds. It also reads what a handler leaves
// of a body after the response, without any deadline, whatever the handler does.
type strict struct {
	net.Listener
	bodies *conns.Quota
}

// Accept implements net.Listener.
func (s strict) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	checked := strictConn{Conn: c, bodies: s.bodies}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok { // a pipe within the process has no address and no quota
		checked.client = client.Key(a.AddrPort().Addr())
	}
	if t, ok := c.(*tls.Conn); ok {
		return &strictTLSConn{&checked, t}, nil
	}
	return &checked, nil
}

var errQuota = errors.New("too many request bodies of this client are arriving")

// strictConn is a connection of strict. It is read by one goroutine at a time.
type strictConn struct {
	net.Conn
	tracker     framing.Tracker
	pace        *framing.Pace // of the body that is arriving
	replacement []byte        // what the server reads instead of a refused request
	refused     error

	client netip.Addr // invalid for connections within the process
	// bodies limits how many bodies of one client may arrive at a time. A body that is sent slowly keeps its
	// connection, also after the response. Without the limit one client could hold all connections.
	bodies *conns.Quota

	mu       sync.Mutex
	deadline time.Time // for reading, as the server or a handler has set it
	counted  bool      // whether bodies counts this connection
	closed   bool
}

// strictTLSConn adds ConnectionState, which net/http calls before it reads.
type strictTLSConn struct {
	*strictConn
	tls *tls.Conn
}

// ConnectionState completes the handshake first. If the handshake fails, the first read returns the error.
func (c *strictTLSConn) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	_ = c.tls.HandshakeContext(ctx)
	return c.tls.ConnectionState()
}

// Read implements net.Conn.
func (c *strictConn) Read(b []byte) (int, error) {
	if len(c.replacement) > 0 {
		n := copy(b, c.replacement)
		c.replacement = c.replacement[n:]
		return n, nil
	}
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.read(b)
	accepted, refused := c.tracker.Take(b[:n])
	if refused == nil {
		return n, err
	}
	c.refused = refused
	var e *framing.Error
	if errors.As(refused, &e) && !e.Body {
		// net/http answers 400 to an error in the middle of a request, but closes the connection without an answer if
		// the error comes before the first four bytes of a request.
		c.replacement = []byte("GET ")
	}
	if accepted > 0 {
		return accepted, nil
	}
	return c.Read(b)
}

// read applies the pace while a body is arriving. Otherwise only the deadline counts that the server has set.
func (c *strictConn) read(b []byte) (int, error) {
	if !c.tracker.InBody() {
		c.pace = nil
		c.releaseQuota()
		return c.Conn.Read(b)
	}
	if c.pace == nil {
		if !c.takeQuota() {
			c.refused = errQuota
			return 0, errQuota
		}
		c.pace = new(framing.Pace)
	}
	c.limitDeadline(c.pace.Until(time.Now(), bodyPatience))
	n, err := c.Conn.Read(b)
	c.pace.Came(n, time.Now(), bodyPatience)
	c.limitDeadline(time.Time{})
	return n, err
}

// takeQuota counts the body that begins to arrive.
func (c *strictConn) takeQuota() bool {
	if !c.client.IsValid() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counted = c.counted || !c.closed && c.bodies.Take(c.client)
	return c.counted
}

func (c *strictConn) releaseQuota() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counted {
		c.counted = false
		c.bodies.Release(c.client)
	}
}

// Close implements net.Conn.
func (c *strictConn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.releaseQuota()
	return c.Conn.Close()
}

// limitDeadline sets the read deadline to the earlier of at and the deadline that the server has set. The zero time
// stands for no limit.
func (c *strictConn) limitDeadline(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.IsZero() || !c.deadline.IsZero() && c.deadline.Before(at) {
		at = c.deadline
	}
	_ = c.Conn.SetReadDeadline(at)
}

// SetReadDeadline implements net.Conn.
func (c *strictConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *strictConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
