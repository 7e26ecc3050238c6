// Package listen accepts visitors' connections and keeps their deadlines.
//
// A server that sets three deadlines a request pays for three runtime timers and as many looks at the clock.
// Here a deadline is one atomic store, the clock is that of the sweep, and the sweep, four times a second, cuts the
// connections that are overdue. The promise: a connection is cut no earlier than its deadline and at most two
// of the sweep's intervals (half a second) later. Who is refused and how many may come is left to the server.
//
// A server that has answered usually tries to read the next request too early, and pays for a read that finds
// nothing and for being woken when there is something. Where other connections have work to do, here they are let
// go first (see conn.Read). Reads and writes themselves, which never wait in the kernel, skip what the runtime does for
// system calls that might. A new connection takes next to no memory until the head of its first request is whole (see
// Listener.AwaitHeads). And whoever answers can have a look at the bytes as they arrive, before the server
// takes them apart (see Foresee), to fetch what it will need.
package listen

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
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
	foresee  Foresight
	clock    Clock
	hall     *hall // nil: nobody waits
	mu       sync.Mutex
	conns    []*conn
	look     int // where in conns was looked last for one that rests
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
		if !c.awaited { // else the time runs already
			c.move(&c.readBy, l.timeouts.Read, 0)
		}
	case fasthttp.StateActive:
		c.idle = false
		if c.awaited { // the time for this request runs since the connection was opened
			c.awaited = false
		} else {
			c.move(&c.readBy, l.timeouts.Read, 0)
		}
		c.move(&c.writeBy, l.timeouts.Write, l.timeouts.Read)
		c.taking.Store(0) // after writeBy: see endIdle
		if c.glanced != 0 {
			l.foresee.Expect(c.glanced)
			c.glanced = 0
		}
	case fasthttp.StateIdle:
		c.idle = true
		c.move(&c.readBy, l.timeouts.Idle, 0)
		c.writeBy.Store(resting)
	}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	if l.hall != nil {
		return l.acceptReady()
	}
	c, err := l.accept()
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (l *Listener) accept() (*conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, owner: l}
	if socket, ok := raw.(syscall.Conn); ok {
		if c.socket, err = socket.SyscallConn(); err != nil {
			_ = raw.Close()
			return nil, err
		}
		c.take, c.give = c.read1, c.write1
	}
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
