package listen

import (
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is a connection with its deadlines. Like the server's connections, it may be read by one goroutine at a time.
type conn struct {
	net.Conn
	owner           *Listener
	index           int // in owner.conns, under its lock; -1 once closed
	readBy, writeBy atomic.Int64

	socket            syscall.RawConn // nil if the connection has none or uses TLS
	tryRead, tryWrite func(uintptr) bool
	buffered          []byte // read before the server asked for it
	first             bool   // the server has not begun the first request, for which the connection was pending
	into              []byte // arguments and results of the running Read
	n                 int
	readErr           syscall.Errno
	tries             int
	out               []byte // arguments and results of the running Write
	written           int
	writeErr          syscall.Errno

	// idle means that the connection is between two requests. Only the server's goroutine uses it. claim keeps another
	// goroutine from closing the connection, or from taking it from the server, while the next request is read from it: see
	// Close.
	idle  bool
	claim atomic.Uint32

	requests requests // the state of the framing checks
	answered bool     // something was written since the last Read
	mark     uint32   // of the answer that is measured (see Time); 0: none
	began    time.Time
	yield    yieldPolicy
	glanced  uint64

	secure *wire    // nil without TLS
	from   net.Addr // the client's address if a proxy has told it, else nil
}

// Values of conn.claim; 0 means that nobody has claimed the connection.
const (
	claimRead  = 1
	claimClose = 2
	claimLeave = 3 // the connection leaves the server: see release
)

// Write waits until the kernel has accepted all bytes.
func (c *conn) Write(b []byte) (int, error) {
	c.answered = true
	if c.socket == nil {
		return c.writeSecure(b)
	}
	c.out, c.written = b, 0
	err := c.socket.Write(c.tryWrite)
	c.out = nil
	switch {
	case err != nil: // deadline exceeded, or closed
		return c.written, err
	case c.writeErr != 0:
		return c.written, c.failure("write", c.writeErr)
	}
	if c.mark != 0 {
		c.took()
	}
	return c.written, nil
}

// write1 writes as much as the send buffer has room for. It returns false to wait for more room.
func (c *conn) write1(fd uintptr) bool {
	for len(c.out) > 0 {
		var n int
		switch n, c.writeErr = send(fd, c.out); c.writeErr {
		case 0, syscall.EINTR:
			c.written += n
			c.out = c.out[n:]
		case syscall.EAGAIN:
			return false
		default:
			return true
		}
	}
	c.writeErr = 0
	return true
}

func (c *conn) failure(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
}

// Read waits for bytes. After an answer it yields the processor first, if that has helped recently: then the first
// attempt to read often finds the next request, which saves a failed attempt and a wait.
func (c *conn) Read(b []byte) (int, error) {
	if c.socket == nil || len(b) == 0 {
		return c.readSecure(b)
	}
	if len(c.buffered) > 0 {
		return take(b, &c.buffered), nil
	}
	if c.requests.refused != nil {
		return 0, c.requests.refused
	}
	waited := false
	if c.answered {
		c.answered = false
		if waited = c.yield.wait(); waited {
			runtime.Gosched()
		}
	}
	c.into, c.tries = b, 0
	err := c.socket.Read(c.tryRead)
	c.into = nil
	if waited {
		c.yield.learn(c.tries == 1)
	}
	switch {
	case err != nil && c.claim.Load() == claimLeave:
		return 0, io.EOF // the server ends its work on the connection, and calls Close
	case err != nil: // deadline exceeded, or closed
		return 0, err
	case c.readErr != 0:
		return 0, c.failure("read", c.readErr)
	case c.n == 0:
		return 0, io.EOF
	}
	return c.inspect(b, c.n)
}

// take moves bytes from the front of from to b and returns their number.
func take(b []byte, from *[]byte) int {
	n := copy(b, *from)
	if *from = (*from)[n:]; len(*from) == 0 {
		*from = nil // let the garbage collector free it: the connection may live long
	}
	return n
}

// inspect makes the framing checks of the first size bytes of b, which have just been read, and returns how many of them
// the server may see.
func (c *conn) inspect(b []byte, size int) (int, error) {
	if f := c.owner.foresee; f != nil {
		c.glanced = f.Glance(b[:size])
	}
	// A second read of a simple request means that it has a body after all. The handler closes such a connection.
	if c.owner.pending == nil || c.requests.single != 0 && !c.idle || c.requests.simple(b[:size]) {
		return size, nil
	}
	n := c.requests.track(b[:size])
	if c.requests.refused != nil {
		c.buffered = append(c.buffered, c.requests.rest()...)
		if n == 0 {
			return c.Read(b)
		}
	}
	return n, nil
}

// read1 makes one attempt to read. It returns false to wait if no data is available yet.
func (c *conn) read1(fd uintptr) bool {
	c.tries++
	if c.idle && !c.claim.CompareAndSwap(0, claimRead) {
		c.n, c.readErr = 0, 0 // it is being closed: report the end of the stream
		return true
	}
	for {
		if c.n, c.readErr = receive(fd, c.into); c.readErr != syscall.EINTR {
			break
		}
	}
	switch {
	case !c.idle || c.n > 0:
	case !c.claim.CompareAndSwap(claimRead, 0): // closed meanwhile, and no data came
		c.claim.Store(0)
		c.n, c.readErr = 0, 0 // report the end of the stream, so that the server closes it
	default:
		return c.readErr != syscall.EAGAIN
	}
	return c.readErr != syscall.EAGAIN
}

// Close closes the connection, except after a request was read from it and before the server reports that the request
// has begun. A server that shuts down closes all idle connections, and this one would still count as idle: the answer
// would be lost. The server closes the connection itself after that answer.
//
// A connection that leaves the server stays open.
func (c *conn) Close() error {
	if c.claim.CompareAndSwap(claimRead, claimClose) {
		return nil
	}
	if c.claim.CompareAndSwap(claimLeave, claimClose) && c.leave() {
		return nil
	}
	c.claim.CompareAndSwap(0, claimClose)
	c.owner.forget(c)
	if c.secure != nil {
		c.secure.bye()
	}
	return c.Conn.Close()
}

// RemoteAddr returns the address of the client.
func (c *conn) RemoteAddr() net.Addr {
	if c.from != nil {
		return c.from
	}
	return c.Conn.RemoteAddr()
}

// closeIdle closes the connection if it is between two requests and nothing of the next one has been read. It reports
// whether it did. Any goroutine may call it.
func (c *conn) closeIdle() bool {
	if !c.claim.CompareAndSwap(0, claimClose) {
		return false
	}
	if c.writeBy.Load() != resting { // the next request had already begun
		c.claim.CompareAndSwap(claimClose, 0)
		return false
	}
	c.owner.forget(c)
	if c.secure != nil {
		c.secure.bye()
	}
	_ = c.Conn.Close()
	return true
}
