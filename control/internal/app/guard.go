package app

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/client"
	"github.com/shortline/shortline/shared/framing"
)

// handshakeWithin is how long a TLS handshake may take.
const handshakeWithin = 5 * time.Second

// guard is a listener whose connections take only requests that every server reads alike, and whose request bodies have to
// keep framing.Pace. The server itself accepts folded lines and bare line feeds, and reads what is left of a body after
// the answer without any deadline, whatever the handler does.
type guard struct {
	net.Listener
	bodies *quota
}

// Accept implements net.Listener.
func (g guard) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from := guarded{Conn: c, bodies: g.bodies}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok { // a pipe within the process has no address and no quota
		from.client = client.Key(a.AddrPort().Addr())
	}
	if t, ok := c.(*tls.Conn); ok {
		return &guardedTLS{&from, t}, nil
	}
	return &from, nil
}

// quota bounds how many request bodies of one client are arriving at a time. A body that is sent slowly keeps its
// connection, also after the answer, so without a bound one client could hold every connection there may be.
type quota struct {
	most int
	mu   sync.Mutex
	of   map[netip.Addr]int
}

func newQuota(most int) *quota { return &quota{most: max(most, 1), of: map[netip.Addr]int{}} }

// take reports whether the client may have one more. Each one that is taken must be given back.
func (q *quota) take(of netip.Addr) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of[of] >= q.most {
		return false
	}
	q.of[of]++
	return true
}

func (q *quota) giveBack(of netip.Addr) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of[of]--; q.of[of] == 0 {
		delete(q.of, of)
	}
}

var errQuota = errors.New("too many request bodies of this client are arriving")

// guarded is read by one goroutine at a time.
type guarded struct {
	net.Conn
	tracker framing.Tracker
	pace    *framing.Pace // of the body that is arriving
	instead []byte        // of a refused request
	refused error

	client netip.Addr // not valid within a process
	bodies *quota

	mu     sync.Mutex
	by     time.Time // the deadline that the server or a handler has set
	holds  bool      // one of bodies
	closed bool
}

// guardedTLS also says who the other side is, which the server asks before it reads.
type guardedTLS struct {
	*guarded
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
		c.release()
		return c.Conn.Read(b)
	}
	if c.pace == nil {
		if !c.acquire() {
			c.refused = errQuota
			return 0, errQuota
		}
		c.pace = new(framing.Pace)
	}
	c.hold(c.pace.Until(time.Now(), bodyPatience))
	n, err := c.Conn.Read(b)
	c.pace.Came(n, time.Now(), bodyPatience)
	c.hold(time.Time{})
	return n, err
}

// acquire counts the body that begins to arrive.
func (c *guarded) acquire() bool {
	if !c.client.IsValid() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = c.holds || !c.closed && c.bodies.take(c.client)
	return c.holds
}

func (c *guarded) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds {
		c.holds = false
		c.bodies.giveBack(c.client)
	}
}

// Close implements net.Conn.
func (c *guarded) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.release()
	return c.Conn.Close()
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
