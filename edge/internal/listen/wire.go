package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// wire is the connection below crypto/tls. It reads and writes as conn does for connections without TLS. Its deadlines are
// those of the conn, so crypto/tls cannot set any.
type wire struct {
	conn   *conn
	socket syscall.RawConn
	tls    *tls.Conn // nil before the ClientHello has arrived
	name   string    // host name for which the connection was opened
	ahead  []byte    // read before crypto/tls asked for it

	tryRead, tryWrite func(uintptr) bool
	into              []byte // arguments and results of the running Read
	n                 int
	readErr           syscall.Errno
	tries             int
	out               []byte // arguments and results of the running Write
	written           int
	writeErr          syscall.Errno

	// Of the handshake.
	owner    *security
	client   netip.Addr
	shaking  bool
	turn     bool // the connection holds a slot of owner.queue
	received int
	alert    uint8       // sent in place of crypto/tls's alert, unless it is 0
	shed     atomic.Bool // closed because too many clients owed a message

	open    atomic.Bool // the handshake is complete, and the client has not left
	instant bool        // reads do not wait
	// brief means that writes do not wait, because crypto/tls writes them while it reads: a client could otherwise hold a
	// connection by not reading. closing means the same for the last alert.
	brief, closing atomic.Bool
	writing        atomic.Bool // an answer is being written
}

// newWire returns the wire of a connection that is opened for TLS.
func newWire(c *conn) *wire {
	w := &wire{conn: c, socket: c.socket}
	w.tryRead, w.tryWrite = w.read1, w.write1
	c.socket, c.tryRead, c.tryWrite = nil, nil, nil
	return w
}

// again is the error of a read that would have to wait. crypto/tls lets the reader try again, because it is temporary.
type again struct{}

func (again) Error() string   { return "listen: no data yet" }
func (again) Timeout() bool   { return false }
func (again) Temporary() bool { return true }

var (
	errAgain   net.Error = again{}
	errStalled           = errors.New("listen: the client does not read")
)

// readSecure is Read for a connection whose bytes crypto/tls decrypts.
func (c *conn) readSecure(b []byte) (int, error) {
	w := c.secure
	if w == nil || len(b) == 0 {
		return c.Conn.Read(b)
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
	w.tries = 0
	n, err := w.read(b)
	if waited {
		c.yield.learn(w.tries <= 1)
	}
	if err != nil {
		// The bytes that were read, such as the client's last alert, are no request. Without this, Close would wait for the
		// end of a request that never begins.
		c.claim.CompareAndSwap(claimRead, 0)
		if errors.Is(err, io.ErrUnexpectedEOF) { // closed without the alert close_notify, as many clients do
			err = io.EOF
		}
		if err == io.EOF {
			w.open.Store(false) // no last alert for a client that has left: its system would refuse it
		}
		return 0, err
	}
	return c.inspect(b, n)
}

func (w *wire) read(b []byte) (n int, err error) {
	w.brief.Store(true)
	for n == 0 && err == nil { // a record may be empty
		n, err = w.tls.Read(b)
	}
	w.brief.Store(false)
	if n > 0 {
		return n, nil // the next call gets the error again
	}
	return 0, err
}

// writeSecure is Write for a connection whose bytes crypto/tls encrypts.
func (c *conn) writeSecure(b []byte) (int, error) {
	w := c.secure
	if w == nil {
		return c.Conn.Write(b)
	}
	w.writing.Store(true)
	n, err := w.tls.Write(b)
	w.writing.Store(false)
	if err == nil && c.mark != 0 {
		c.took()
	}
	return n, err
}

// decrypt waits for bytes of the first request and appends them to b. It returns false if there are none. While it waits,
// it holds no buffer.
func (w *wire) decrypt(b *[]byte) bool {
	w.instant = true
	defer func() { w.instant = false }()
	for {
		buf := headBuffers.Get().(*[mostHead]byte)
		n, err := w.read(buf[:mostHead-len(*b)])
		*b = append(*b, buf[:n]...)
		headBuffers.Put(buf)
		switch {
		case n > 0:
			return true
		case !errors.Is(err, errAgain) || !more(w.socket, &w.ahead, maxHello):
			return false
		}
	}
}

// Read waits for bytes from the client.
func (w *wire) Read(b []byte) (int, error) {
	if len(w.ahead) > 0 {
		return take(b, &w.ahead), nil
	}
	if w.instant {
		return 0, errAgain
	}
	w.into = b
	var err error
	if w.shaking {
		w.leave()
		err = w.awaitAnswer()
	} else {
		err = w.socket.Read(w.tryRead)
	}
	w.into = nil
	switch {
	case err != nil: // deadline exceeded, or closed
		return 0, err
	case w.readErr != 0:
		return 0, w.conn.failure("read", w.readErr)
	case w.n == 0:
		return 0, io.EOF
	}
	if w.shaking {
		if w.received += w.n; w.received > maxHello {
			return 0, errOversized
		}
		if err := w.enter(); err != nil {
			return 0, err
		}
	}
	return w.n, nil
}

// read1 makes one attempt to read. It returns false to wait if no data is available yet. As in conn.read1, the reader of
// an idle connection claims it. A record may take several reads, so the claim may be its own.
func (w *wire) read1(fd uintptr) bool {
	c := w.conn
	w.tries++
	if c.idle && !c.claim.CompareAndSwap(0, claimRead) && c.claim.Load() != claimRead {
		w.n, w.readErr = 0, 0 // it is being closed: report the end of the stream
		return true
	}
	for {
		if w.n, w.readErr = receive(fd, w.into); w.readErr != syscall.EINTR {
			break
		}
	}
	if c.idle && w.n <= 0 && !c.claim.CompareAndSwap(claimRead, 0) { // closed meanwhile, and no data came
		c.claim.Store(0)
		w.n, w.readErr = 0, 0 // report the end of the stream, so that the server closes it
		return true
	}
	return w.readErr != syscall.EAGAIN
}

// Write waits until the kernel has accepted all bytes.
func (w *wire) Write(b []byte) (int, error) {
	if w.shaking && w.alert != 0 && len(b) == 7 && b[0] == 21 { // an alert before encryption begins
		b = []byte{b[0], b[1], b[2], b[3], b[4], b[5], w.alert}
	}
	w.out, w.written = b, 0
	err := w.socket.Write(w.tryWrite)
	w.out = nil
	switch {
	case err != nil: // deadline exceeded, or closed
		return w.written, err
	case w.writeErr == syscall.EAGAIN:
		return w.written, errStalled
	case w.writeErr != 0:
		return w.written, w.conn.failure("write", w.writeErr)
	}
	return w.written, nil
}

// write1 writes as much as the send buffer has room for. It returns false to wait for more room.
func (w *wire) write1(fd uintptr) bool {
	for len(w.out) > 0 {
		var n int
		switch n, w.writeErr = send(fd, w.out); w.writeErr {
		case 0, syscall.EINTR:
			w.written += n
			w.out = w.out[n:]
		case syscall.EAGAIN:
			if w.shaking {
				w.leave()
			}
			return w.brief.Load() || w.closing.Load()
		default:
			return true
		}
	}
	w.writeErr = 0
	return true
}

// bye tells the client that the connection is being closed, as far as that takes no time.
func (w *wire) bye() {
	if w.open.Load() && !w.writing.Load() {
		w.closing.Store(true)
		_ = w.tls.CloseWrite()
	}
}

// Close implements net.Conn. crypto/tls does not call it, because nothing closes its connection.
func (w *wire) Close() error { return w.conn.Close() }

// LocalAddr implements net.Conn.
func (w *wire) LocalAddr() net.Addr { return w.conn.LocalAddr() }

// RemoteAddr implements net.Conn.
func (w *wire) RemoteAddr() net.Addr { return w.conn.RemoteAddr() }

// SetDeadline implements net.Conn. It does nothing.
func (w *wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn. It does nothing.
func (w *wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn. It does nothing.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
