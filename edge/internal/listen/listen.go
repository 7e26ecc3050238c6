// Package listen accepts visitors' connections, enforces their deadlines and bounds their number.
//
// A server that sets three deadlines per request pays for three runtime timers and three reads of the clock. Here a
// deadline is one atomic store. A sweep runs four times a second, reads the clock once, and cuts overdue connections.
// A connection is cut no earlier than its deadline, and at most two sweep intervals (half a second) later. The
// package does not decide who may connect or how many requests a client may make.
//
// Reads and writes never wait in the kernel, so they skip what the runtime does for blocking system calls.
//
// A new connection uses almost no memory until the head of its first request is complete (see Listener.AwaitHeads). Simple
// requests of visitors are answered without the server (see Listener.AnswerVisits).
package listen

import (
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// Timeouts bound the phases of a connection. A phase whose timeout is 0 is not bounded.
type Timeouts struct {
	// Read is the time for a whole request. It starts at the request's first byte, or when the connection is opened.
	Read time.Duration
	// Write is the time for an answer, in addition to Read. A handler may set a later write deadline on the connection.
	Write time.Duration
	// Idle is the time between two requests.
	Idle time.Duration
}

// Listener wraps a net.Listener. It enforces deadlines only while Run is running.
type Listener struct {
	net.Listener
	more     []net.Listener // further sockets of the same port
	timeouts Timeouts
	busyFor  time.Duration
	now      atomic.Int64 // time of the last sweep
	clock    Clock
	pending  *pending  // nil: Accept does not wait for requests
	secure   *security // nil: no TLS
	proxied  *proxied  // nil: no PROXY protocol
	mu       sync.Mutex
	isClosed atomic.Bool
	visits   []*visits // one for each socket; nil: the server answers all requests; set by the first Accept
	conns    []*conn
	scanned  int // the last index in conns that closeLongestIdle examined
	first    sync.Once
	accepts  chan struct{} // closed by the first Accept
	closing  sync.Once
	closed   error // of the first Close
}

// New wraps ln. The Listener then owns ln.
func New(ln net.Listener, t Timeouts) *Listener {
	l := &Listener{Listener: ln, timeouts: t, busyFor: usualBusyFor, accepts: make(chan struct{})}
	l.now.Store(int64(time.Since(start)))
	return l
}

// Share adds sockets of the same port (SO_REUSEPORT), which the Listener then owns. The system distributes new connections over
// all sockets, and each has a goroutine that accepts. Call it before Accept.
func (l *Listener) Share(more []net.Listener) { l.more = more }

// sockets returns all sockets of the port without TLS.
func (l *Listener) sockets() []net.Listener { return append([]net.Listener{l.Listener}, l.more...) }

// State sets the deadlines for the next phase of a connection that Accept returned. Use it as the server's ConnState
// callback. Deadlines set on the connection itself stay in force until the next call.
func (l *Listener) State(of net.Conn, s fasthttp.ConnState) {
	c, ok := of.(*conn)
	if !ok {
		return
	}
	switch s {
	case fasthttp.StateNew:
		if !c.first { // else the time already runs
			c.move(&c.readBy, l.timeouts.Read, 0)
		}
	case fasthttp.StateActive:
		c.idle = false
		if c.first { // the time for this request runs since the connection was opened
			c.first = false
		} else {
			c.move(&c.readBy, l.timeouts.Read, 0)
		}
		c.move(&c.writeBy, l.timeouts.Write, l.timeouts.Read)
		c.claim.Store(0) // after writeBy: see closeIdle
	case fasthttp.StateIdle:
		c.idle = true
		// The time for the request may have passed while its answer was computed, when nobody read. The connection is not overdue
		// then, and the answer has told the client that it may send the next request.
		_ = c.readUntil(l.in(l.timeouts.Idle, 0)) // an error means that the connection is closed
		c.writeBy.Store(resting)
	}
}

// Accepts returns a channel that is closed when the server accepts connections. Before that they wait in the kernel.
func (l *Listener) Accepts() <-chan struct{} { return l.accepts }

// Accept waits for the next connection, or for the next first request: see AwaitHeads.
func (l *Listener) Accept() (net.Conn, error) {
	l.first.Do(func() { close(l.accepts) })
	if l.pending != nil {
		return l.acceptReady()
	}
	c, err := l.accept(l.Listener)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (l *Listener) accept(ln net.Listener) (*conn, error) {
	raw, err := ln.Accept()
	if err != nil {
		return nil, err
	}
	return l.wrap(raw)
}

// wrap returns the conn of a new connection, and closes the connection after an error.
func (l *Listener) wrap(raw net.Conn) (c *conn, err error) {
	c = &conn{Conn: raw, owner: l}
	if socket, ok := raw.(syscall.Conn); ok {
		if c.socket, err = socket.SyscallConn(); err != nil {
			_ = raw.Close()
			return nil, err
		}
		c.tryRead, c.tryWrite = c.read1, c.write1
	}
	l.mu.Lock()
	c.index = len(l.conns)
	l.conns = append(l.conns, c)
	l.mu.Unlock()
	return c, nil
}

// Close closes all ports, and the idle connections that the server does not have. Other connections stay open. Only the first call has an
// effect, and all return its error: the server and the loops that accept connections both close the listener.
func (l *Listener) Close() error {
	l.closing.Do(func() {
		l.mu.Lock()
		l.isClosed.Store(true)
		running, open := l.visits, slices.Clone(l.conns)
		l.mu.Unlock()
		for _, v := range running {
			l.closed = errors.Join(l.closed, v.stop())
		}
		for _, ln := range l.sockets() {
			if err := ln.Close(); running == nil { // else visits have taken over the sockets
				l.closed = errors.Join(l.closed, err)
			}
		}
		if l.secure != nil {
			l.closed = errors.Join(l.closed, l.secure.ln.Close())
		}
		for _, c := range open {
			if c.own && !c.served.Load() {
				c.endIdle()
			}
		}
	})
	return l.closed
}

// Open returns the number of open connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.conns)
	for _, v := range l.visits {
		n += v.waiting()
	}
	return n
}

// forget removes a closed connection from the table. The last one takes its index.
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
