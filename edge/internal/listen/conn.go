package listen

import (
	"container/list"
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is a connection with its deadlines. Like the server that it is made for, it is read by one goroutine at a
// time.
type conn struct {
	net.Conn
	owner           *Listener
	index           int // in owner.conns, under its lock; -1 once closed
	readBy, writeBy atomic.Int64

	socket     syscall.RawConn // nil where the connection has none
	take, give func(uintptr) bool
	early      []byte    // what came before the server asked, and it has not read yet
	awaited    bool      // the first request is waited for, or was, and has not begun for the server
	came       time.Time // into the hall, under its lock like place
	place      *list.Element
	into       []byte // the call of Read that is running: where to, and what came of it
	n          int
	failed     syscall.Errno
	tries      int
	from       []byte // the call of Write that is running: what is left of it, and what came of it
	given      int
	brokenOff  syscall.Errno

	// idle is between two requests, as the server's goroutine sees it. taking holds back a Close of another goroutine
	// that takes the connection for idle while the next request is read from it: see Close.
	idle   bool
	taking atomic.Uint32

	requests requests // what is known of how requests are framed
	answered bool     // something was written since the last Read
	mark     uint32   // of the answer that is timed (see Time); 0: none is
	began    time.Time
	patience patience
	glanced  uint64
}

// Values of conn.taking.
const (
	takes  = 1
	closes = 2
)

// Write waits until all is with the kernel.
func (c *conn) Write(b []byte) (int, error) {
	c.answered = true
	if c.socket == nil {
		return c.Conn.Write(b)
	}
	c.from, c.given = b, 0
	err := c.socket.Write(c.give)
	c.from = nil
	switch {
	case err != nil: // the deadline, or closed
		return c.given, err
	case c.brokenOff != 0:
		return c.given, c.failure("write", c.brokenOff)
	}
	if c.mark != 0 {
		c.took()
	}
	return c.given, nil
}

// write1 writes as much as there is room for and reports whether that is the end of it.
func (c *conn) write1(fd uintptr) bool {
	for len(c.from) > 0 {
		var n int
		switch n, c.brokenOff = send(fd, c.from); c.brokenOff {
		case 0, syscall.EINTR:
			c.given += n
			c.from = c.from[n:]
		case syscall.EAGAIN:
			return false
		default:
			return true
		}
	}
	c.brokenOff = 0
	return true
}

func (c *conn) failure(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
}

// Read waits for bytes. After an answer it gives the processor to other connections first, if that has paid
// lately: then the first attempt finds the next request, and neither is there a second one nor a wait for it.
func (c *conn) Read(b []byte) (int, error) {
	if c.socket == nil || len(b) == 0 {
		return c.Conn.Read(b)
	}
	if len(c.early) > 0 {
		n := copy(b, c.early)
		if c.early = c.early[n:]; len(c.early) == 0 {
			c.early = nil // for the collector: the connection may live for long
		}
		return n, nil
	}
	if c.requests.refused != nil {
		return 0, c.requests.refused
	}
	waited := false
	if c.answered {
		c.answered = false
		if waited = c.patience.wait(); waited {
			runtime.Gosched()
		}
	}
	c.into, c.tries = b, 0
	err := c.socket.Read(c.take)
	c.into = nil
	if waited {
		c.patience.learn(c.tries == 1)
	}
	switch {
	case err != nil: // the deadline, or closed
		return 0, err
	case c.failed != 0:
		return 0, c.failure("read", c.failed)
	case c.n == 0:
		return 0, io.EOF
	}
	if f := c.owner.foresee; f != nil {
		c.glanced = f.Glance(b[:c.n])
	}
	// A simple request of which more is read has a body after all; the handler closes the connection after it.
	if c.owner.hall == nil || c.requests.given != 0 && !c.idle || c.requests.simple(b[:c.n]) {
		return c.n, nil
	}
	n := c.requests.track(b[:c.n])
	if c.requests.refused != nil {
		c.early = append(c.early, c.requests.rest()...)
		if n == 0 {
			return c.Read(b)
		}
	}
	return n, nil
}

// read1 tries once to read and reports whether that is the end of it: it is not if there is nothing yet.
func (c *conn) read1(fd uintptr) bool {
	c.tries++
	if c.idle && !c.taking.CompareAndSwap(0, takes) {
		c.n, c.failed = 0, 0 // it is being closed: as if the client had ended it
		return true
	}
	for {
		if c.n, c.failed = receive(fd, c.into); c.failed != syscall.EINTR {
			break
		}
	}
	switch {
	case !c.idle || c.n > 0:
	case !c.taking.CompareAndSwap(takes, 0): // closed meanwhile, and nothing has come
		c.taking.Store(0)
		c.n, c.failed = 0, 0 // as if the client had ended it: the server closes it then
	default:
		return c.failed != syscall.EAGAIN
	}
	return c.failed != syscall.EAGAIN
}

// Close closes the connection, but not between the moment in which a request was taken from it and that in which the
// server says that the request has begun: a server that ends closes what it takes for idle, and that request's answer
// would be lost. It sees that it ends after the answer, and closes the connection itself.
func (c *conn) Close() error {
	if c.taking.CompareAndSwap(takes, closes) {
		return nil
	}
	c.taking.CompareAndSwap(0, closes)
	c.owner.forget(c)
	return c.Conn.Close()
}

// endIdle closes the connection if it is between two requests and nothing has been taken of the next one. Any goroutine
// may call it.
func (c *conn) endIdle() bool {
	if !c.taking.CompareAndSwap(0, closes) {
		return false
	}
	if c.writeBy.Load() != resting { // the next request had begun before
		c.taking.CompareAndSwap(closes, 0)
		return false
	}
	c.owner.forget(c)
	_ = c.Conn.Close()
	return true
}
