package app

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/framing"
)

// handshakeWithin is how long a TLS handshake may take.
const handshakeWithin = 5 * time.Second

// guard is a listener whose connections take only requests that every server reads alike, and whose request bodies have to
// keep framing.Pace. The server itself accepts folded lines and bare line feeds, and reads what is left of a body after
// the answer without any deadline, whatever the handler does.
type guard struct{ net.Listener }

// Accept implements net.Listener.
func (g guard) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if t, ok := c.(*tls.Conn); ok {
		return &guardedTLS{guarded{Conn: c}, t}, nil
	}
	return &guarded{Conn: c}, nil
}

// guarded is read by one goroutine at a time.
type guarded struct {
	net.Conn
	tracker framing.Tracker
	pace    *framing.Pace // of the body that is arriving
	instead []byte        // of a refused request
	refused error

	mu sync.Mutex
	by time.Time // the deadline that the server or a handler has set
}

// guardedTLS also says who the other side is, which the server asks before it reads.
type guardedTLS struct {
	guarded
	tls *tls.Conn
}

// ConnectionState makes the handshake, if need be. A failed one shows in the first read.
func (c *guardedTLS) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeWithin)
	defer cancel()
	_ = c.tls.HandshakeContext(ctx)
	return c.tls.ConnectionState()
}

// Read implements net.Conn.
func (c *guarded) Read(b []byte) (int, error) {
	if len(c.instead) > 0 {
		n := copy(b, c.instead)
		c.instead = c.instead[n:]
		return n, nil
	}
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.read(b)
	taken, bad := c.tracker.Take(b[:n])
	if bad == nil {
		return n, err
	}
	c.refused = bad
	var e *framing.Error
	if errors.As(bad, &e) && !e.Body {
		// The server answers 400 to an error in the middle of a request, and says nothing to one before a request has
		// begun, for which it waits until four bytes are there.
		c.instead = []byte("GET ")
	}
	if taken > 0 {
		return taken, nil
	}
	return c.Read(b)
}

// read reads a body at its pace, and anything else until the deadline that is set.
func (c *guarded) read(b []byte) (int, error) {
	if !c.tracker.InBody() {
		c.pace = nil
		return c.Conn.Read(b)
	}
	if c.pace == nil {
		c.pace = new(framing.Pace)
	}
	c.hold(c.pace.Until(time.Now(), bodyPatience))
	n, err := c.Conn.Read(b)
	c.pace.Came(n, time.Now(), bodyPatience)
	c.hold(time.Time{})
	return n, err
}

// hold sets the earlier of a deadline, if it is one, and that which others have set.
func (c *guarded) hold(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.IsZero() || !c.by.IsZero() && c.by.Before(until) {
		until = c.by
	}
	_ = c.Conn.SetReadDeadline(until)
}

// SetReadDeadline implements net.Conn.
func (c *guarded) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = t
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *guarded) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
