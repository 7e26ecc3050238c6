package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// wire is the connection below crypto/tls. It reads and writes as conn does for connections without TLS. Its deadlines are
// those of the conn, so crypto/tls cannot set any.
type wire struct {
	conn  *conn
	tls   *tls.Conn // nil before the ClientHello has arrived
	name  string    // host name for which the connection was opened
	ahead []byte    // read before crypto/tls asked for it

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

// again is the error of a read that would have to wait. crypto/tls lets the reader try again, because it is temporary.
type again struct{}

func (again) Error() string   { return "listen: no data yet" }
func (again) Timeout() bool   { return false }
func (again) Temporary() bool { return true }

var (
	errAgain   net.Error = again{}
	errStalled           = errors.New("listen: the client does not read")
)

// decrypt waits for bytes that the client has encrypted.
func (w *wire) decrypt(b []byte) (int, error) {
	n, err := w.read(b)
	if err != nil {
		err = w.ended(err)
	}
	return n, err
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

// ended returns the error of a read as the server needs it.
func (w *wire) ended(err error) error {
	// The bytes that were read, such as the client's last alert, are no request. Without this, Close would wait for the
	// end of a request that never begins.
	w.conn.claim.CompareAndSwap(claimRead, 0)
	if errors.Is(err, io.ErrUnexpectedEOF) { // closed without the alert close_notify, as many clients do
		err = io.EOF
	}
	if err == io.EOF {
		w.open.Store(false) // no last alert for a client that has left: its system would refuse it
	}
	return err
}

// arrived decrypts what has arrived, as far as b has room. The error is errAgain if more must arrive before there is anything.
func (w *wire) arrived(b []byte) (n int, err error) {
	w.instant = true
	for n < len(b) && err == nil {
		var size int
		size, err = w.read(b[n:])
		n += size
	}
	w.instant = false
	if n > 0 {
		return n, nil // as in read
	}
	return 0, err
}

// encrypt waits until the kernel has accepted all bytes, encrypted.
func (w *wire) encrypt(b []byte) (int, error) {
	w.writing.Store(true)
	n, err := w.tls.Write(b)
	w.writing.Store(false)
	return n, err
}

// Read waits for bytes from the client.
func (w *wire) Read(b []byte) (int, error) {
	switch {
	case len(w.ahead) > 0:
		return take(b, &w.ahead), nil
	case w.instant:
		return 0, errAgain
	case !w.shaking:
		return w.conn.pull(b)
	}
	w.leave()
	if err := w.awaitAnswer(); err != nil {
		return 0, err
	}
	if w.received += len(w.ahead); w.received > maxHello {
		return 0, errOversized
	}
	if err := w.enter(); err != nil {
		return 0, err
	}
	return take(b, &w.ahead), nil
}

// Write waits until the kernel has accepted all bytes.
func (w *wire) Write(b []byte) (int, error) {
	if w.shaking && w.alert != 0 && len(b) == 7 && b[0] == 21 { // an alert before encryption begins
		b = []byte{b[0], b[1], b[2], b[3], b[4], b[5], w.alert}
	}
	return w.conn.push(b)
}

// hurries reports whether a write must not wait for the client. A handshake that waits gives its turn to another one.
func (w *wire) hurries() bool {
	if w.shaking {
		w.leave()
	}
	return w.brief.Load() || w.closing.Load()
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
