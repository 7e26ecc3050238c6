package listen

import (
	"io"
	"net"
	"os"
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

	socket            syscall.RawConn // nil if the connection has none
	tryRead, tryWrite func(uintptr) bool
	into              []byte // arguments and results of the running read from the socket
	n                 int
	readErr           syscall.Errno
	out               []byte // arguments and results of the running write to the socket
	written           int
	writeErr          syscall.Errno

	buffered []byte // requests that were read before the server asked for them
	first    bool   // the time of the request that the server has not begun already runs
	own      bool   // outside the server, the connection has a goroutine of its own

	// idle means that the connection is between two requests. Only the goroutine that reads uses it. claim keeps another
	// goroutine from closing the connection, or from taking it from the server, while the next request is read from it: see
	// Close. served means that the server has the connection, and may lose it again.
	idle   bool
	claim  atomic.Uint32
	served atomic.Bool

	requests requests // the state of the framing checks
	mark     uint32   // of the answer that is measured (see Time); 0: none
	began    time.Time

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
func (c *conn) Write(b []byte) (n int, err error) {
	switch {
	case c.socket == nil:
		return c.Conn.Write(b)
	case c.secure != nil:
		n, err = c.secure.encrypt(b)
	default:
		n, err = c.push(b)
	}
	if err == nil {
		c.owner.reportTime(c.mark, c.began)
		c.mark = 0
	}
	return n, err
}

// push writes all bytes to the socket.
func (c *conn) push(b []byte) (int, error) {
	c.out, c.written = b, 0
	err := c.socket.Write(c.tryWrite)
	c.out = nil
	switch {
	case err != nil: // deadline exceeded, or closed
	case c.writeErr == syscall.EAGAIN:
		err = errStalled
	case c.writeErr != 0:
		err = c.failure("write", c.writeErr)
	}
	return c.written, err
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
			return c.secure != nil && c.secure.hurries()
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

// Read waits for bytes.
func (c *conn) Read(b []byte) (n int, err error) {
	switch {
	case c.socket == nil || len(b) == 0:
		return c.Conn.Read(b)
	case len(c.buffered) > 0:
		return take(b, &c.buffered), nil
	case c.requests.refused != nil:
		return 0, c.requests.refused
	case c.secure != nil:
		n, err = c.secure.decrypt(b)
	default:
		n, err = c.pull(b)
	}
	switch {
	case err == nil:
		return c.inspect(b, n)
	case c.claim.Load() == claimLeave:
		err = io.EOF // the server ends its work on the connection, and calls Close
	}
	return 0, err
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
	if c.owner.pending == nil {
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

// pull waits for bytes from the socket.
func (c *conn) pull(b []byte) (int, error) {
	c.into = b
	err := c.await(c.tryRead)
	c.into = nil
	return c.n, err
}

// read1 makes one attempt to read. It returns false to wait if no data is available yet.
func (c *conn) read1(fd uintptr) bool { return c.attempt(fd, c.into) }

// more waits for bytes from the socket and appends them to b, up to a total of most. While it waits, it holds no buffer.
func (c *conn) more(b *[]byte, most int) error {
	return c.await(func(fd uintptr) bool {
		buf := headBuffers.Get().(*[mostHead]byte)
		defer headBuffers.Put(buf)
		done := c.attempt(fd, buf[:min(mostHead, most-len(*b))])
		*b = append(*b, buf[:c.n]...)
		return done
	})
}

// await makes attempts to read until one is done.
func (c *conn) await(try func(uintptr) bool) error {
	c.n = 0
	err := c.socket.Read(try)
	switch {
	case err != nil: // deadline exceeded, or closed
	case c.readErr != 0:
		err = c.failure("read", c.readErr)
	case c.n == 0:
		err = io.EOF
	}
	return err
}

// attempt makes one attempt to read into b, and reports whether the result is final. The reader of an idle connection claims it. A record
// of TLS may take several reads, so the claim may be its own.
func (c *conn) attempt(fd uintptr, b []byte) bool {
	if c.idle && !c.claim.CompareAndSwap(0, claimRead) {
		switch c.claim.Load() {
		case claimRead:
		case claimLeave:
			c.n, c.readErr = 0, syscall.EAGAIN // crypto/tls forgets only temporary errors
			return true
		default:
			c.n, c.readErr = 0, 0 // it is being closed: report the end of the stream
			return true
		}
	}
	for {
		if c.n, c.readErr = receive(fd, b); c.readErr != syscall.EINTR {
			break
		}
	}
	return c.attempted()
}

// attempted ends an attempt, and reports whether its result is final.
func (c *conn) attempted() bool {
	if c.idle && c.n == 0 && !c.claim.CompareAndSwap(claimRead, 0) { // closed meanwhile, and no data came
		c.claim.Store(0)
		c.readErr = 0 // report the end of the stream, so that the connection is closed
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

// endIdle closes the connection if it is between two requests, also while its goroutine looks for the next one: that goroutine closes
// it then, unless a request has arrived. Use it when no connection may stay idle.
func (c *conn) endIdle() {
	for !c.closeIdle() {
		switch c.claim.Load() {
		case 0:
			if c.writeBy.Load() != resting {
				return // a request is being answered
			}
		case claimRead:
			if c.claim.CompareAndSwap(claimRead, claimClose) {
				return
			}
		default:
			return
		}
	}
}
