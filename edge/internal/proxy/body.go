package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errTooLarge = errors.New("proxy: the request body is too large")
	errShut     = errors.New("proxy: the request has been answered")
)

// upload is a request body on its way from a client to the upstream. Reads end with shut: after it, nothing
// touches the client's connection on behalf of the upstream any more.
type upload struct {
	mu       sync.Mutex // held while reading, so that shut can wait for the last read
	from     io.Reader
	left     int64
	conn     net.Conn
	patience time.Duration
	closed   atomic.Bool
	done     atomic.Bool // read to its end
	tooLarge atomic.Bool
}

func (u *upload) Read(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed.Load() {
		return 0, errShut
	}
	// A large body may take longer than a request is given otherwise, but not with long pauses.
	_ = u.conn.SetReadDeadline(time.Now().Add(u.patience))
	if u.closed.Load() { // shut came in between: its deadline must not be overwritten
		return 0, errShut
	}
	if int64(len(b)) > u.left+1 {
		b = b[:u.left+1]
	}
	n, err := u.from.Read(b)
	if u.left -= int64(n); u.left < 0 {
		u.tooLarge.Store(true)
		return 0, errTooLarge
	}
	if err == io.EOF {
		u.done.Store(true)
	}
	return n, err
}

// Close is what the transport calls. It must not wait for a read, which may be under way.
func (u *upload) Close() error {
	u.closed.Store(true)
	return nil
}

// shut waits until nobody reads. A read that waits for a client who has stopped sending is cut short.
func (u *upload) shut() {
	u.closed.Store(true)
	if !u.done.Load() {
		_ = u.conn.SetReadDeadline(time.Now())
	}
	u.mu.Lock()
	defer u.mu.Unlock()
}

// download is the upstream's answer on its way to the client.
type download struct {
	exchange *exchange
	body     io.ReadCloser
}

func (d *download) Read(b []byte) (int, error) {
	n, err := d.body.Read(b)
	if n > 0 {
		// Each piece has its own time to be written, so that a stream can go on for as long as it likes.
		_ = d.exchange.conn.SetWriteDeadline(time.Now().Add(d.exchange.proxy.cfg.Patience))
	}
	return n, err
}

func (d *download) Close() error {
	d.exchange.cancel() // a body that isn't at its end would be read to it otherwise
	err := d.body.Close()
	d.exchange.end()
	return err
}
