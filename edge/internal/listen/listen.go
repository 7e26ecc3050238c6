// Package listen accepts visitors' connections and keeps their deadlines.
//
// A server that sets three deadlines a request pays for three runtime timers and as many looks at the clock.
// Here a deadline is one atomic store, the clock is that of the sweep, and the sweep, four times a second, cuts the
// connections that are overdue. The promise: a connection is cut no earlier than its deadline and at most two
// of the sweep's intervals (half a second) later; nothing else about it changes. Who is refused and how many may
// come is left to the server.
package listen

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// interval is the time between two sweeps.
const interval = 250 * time.Millisecond

// Values of a deadline that are no time: none is set, or the sweep has cut the connection.
const (
	none = int64(0)
	cut  = int64(-1)
)

var (
	start = time.Now() // deadlines are kept relative to it, so that a step of the wall clock moves none
	past  = time.Unix(1, 0)
)

// Timeouts bound the phases of a connection. A phase whose timeout is 0 is not bounded.
type Timeouts struct {
	Read  time.Duration // of a request, from its first byte, or from the opening of the connection, to its last
	Write time.Duration // of an answer, beyond the time to read the request and for as long as nobody moves it
	Idle  time.Duration // between two requests
}

// Listener wraps a net.Listener. Run must be running while it accepts, else deadlines are not kept.
type Listener struct {
	net.Listener
	timeouts Timeouts
	now      atomic.Int64 // as of the last sweep, so at most an interval behind
	mu       sync.Mutex
	conns    []*conn
}

// New wraps ln, which the Listener owns from then on.
func New(ln net.Listener, t Timeouts) *Listener {
	l := &Listener{Listener: ln, timeouts: t}
	l.now.Store(int64(time.Since(start)))
	return l
}

// State moves the deadlines of a connection that Accept has returned on to its next phase. It is meant for a
// server's ConnState. Deadlines that are set on the connection itself hold until then.
func (l *Listener) State(of net.Conn, s fasthttp.ConnState) {
	c, ok := of.(*conn)
	if !ok {
		return
	}
	switch s {
	case fasthttp.StateNew:
		c.move(&c.read, l.timeouts.Read, 0)
	case fasthttp.StateActive:
		c.move(&c.read, l.timeouts.Read, 0)
		c.move(&c.write, l.timeouts.Write, l.timeouts.Read)
	case fasthttp.StateIdle:
		c.move(&c.read, l.timeouts.Idle, 0)
		c.write.Store(none)
	}
}

// move sets a deadline by the sweep's clock, which may be one interval behind.
func (c *conn) move(deadline *atomic.Int64, timeout, more time.Duration) {
	d := none
	if timeout > 0 {
		d = c.owner.now.Load() + int64(timeout+more+interval)
	}
	if deadline.Swap(d) == cut {
		// The server goes on with a connection that was cut at this moment. It is overdue: it stays cut.
		deadline.Store(cut)
	}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, owner: l}
	l.mu.Lock()
	c.index = len(l.conns)
	l.conns = append(l.conns, c)
	l.mu.Unlock()
	return c, nil
}

// Open returns the number of connections that have been accepted and not been closed.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Run keeps the deadlines until ctx is done, and returns nil then.
func (l *Listener) Run(ctx context.Context) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			l.sweep(int64(time.Since(start)))
		}
	}
}

func (l *Listener) sweep(now int64) {
	l.now.Store(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		if expire(&c.read, now) {
			_ = c.Conn.SetReadDeadline(past)
		}
		if expire(&c.write, now) {
			_ = c.Conn.SetWriteDeadline(past)
		}
	}
}

// expire marks a deadline as cut if it lies behind. A deadline that its owner moves meanwhile is left alone.
func expire(deadline *atomic.Int64, now int64) bool {
	d := deadline.Load()
	return d > none && d < now && deadline.CompareAndSwap(d, cut)
}

func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.index < 0 {
		return
	}
	last := len(l.conns) - 1
	moved := l.conns[last]
	l.conns[c.index] = moved
	moved.index = c.index
	l.conns[last] = nil
	l.conns = l.conns[:last]
	c.index = -1
}

type conn struct {
	net.Conn
	owner       *Listener
	index       int // in owner.conns, under its lock; -1 once closed
	read, write atomic.Int64
}

func (c *conn) Close() error {
	c.owner.forget(c)
	return c.Conn.Close()
}

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if c.read.Swap(relative(t)) == cut {
		return c.Conn.SetReadDeadline(time.Time{})
	}
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	if c.write.Swap(relative(t)) == cut {
		return c.Conn.SetWriteDeadline(time.Time{})
	}
	return nil
}

func relative(t time.Time) int64 {
	if t.IsZero() {
		return none
	}
	return max(int64(t.Sub(start)), 1)
}
