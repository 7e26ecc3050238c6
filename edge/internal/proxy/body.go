package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/framing"
	"github.com/valyala/fasthttp"
)

// inMemory is how much of a body is read before its request takes a place among those in flight.
const inMemory = 16 << 10

var (
	errTooLarge = errors.New("proxy: the request body is too large")
	errShut     = errors.New("proxy: the request has been answered")
)

// upload is a request body on its way from a client to the upstream. Reads end with shut: after it, nothing
// touches the client's connection on behalf of the upstream any more.
type upload struct {
	mu     sync.Mutex // held while reading, so that shut can wait for the last read
	early  []byte     // what arrived before the request was passed on
	err    error      // that came with the end of early
	from   io.Reader
	owed   int64 // bytes that must still come; below 0: nobody has said how many
	left   int64 // bytes that may still come
	conn   net.Conn
	pace   framing.Pace
	closed atomic.Bool
	done   atomic.Bool  // read to its end
	wrong  atomic.Int32 // the status for what the client did wrong, 0: nothing
}

// arrive reads up to some bytes before the request is passed on.
func (u *upload) arrive(most int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var b bytes.Buffer
	for b.Len() < most && u.err == nil {
		b.Grow(512)
		room := b.AvailableBuffer()
		var n int
		n, u.err = u.read(room[:cap(room)])
		b.Write(room[:n])
	}
	u.early = b.Bytes()
}

// fault is the status for what the client did wrong, or 0.
func (u *upload) fault() int { return int(u.wrong.Load()) }

func (u *upload) Read(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed.Load() {
		return 0, errShut
	}
	if len(u.early) > 0 {
		n := copy(b, u.early)
		u.early = u.early[n:]
		return n, nil
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.read(b)
}

// read reads from the client, who has to keep the pace.
func (u *upload) read(b []byte) (int, error) {
	until := u.pace.Until(time.Now(), framing.Patience)
	_ = u.conn.SetReadDeadline(until)
	if u.closed.Load() { // shut came in between: its deadline must not be overwritten
		return 0, errShut
	}
	if int64(len(b)) > u.left+1 {
		b = b[:u.left+1]
	}
	n, err := u.from.Read(b)
	now := time.Now()
	u.pace.Came(n, now, framing.Patience)
	if u.left -= int64(n); u.left < 0 {
		u.wrong.Store(fasthttp.StatusRequestEntityTooLarge)
		return 0, errTooLarge
	}
	if u.owed >= 0 {
		if u.owed -= int64(n); err == io.EOF && u.owed > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	switch {
	case err == io.EOF:
		u.done.Store(true)
	case err == nil || u.closed.Load(): // shut may have cut it short
	case !now.Before(until):
		u.wrong.Store(fasthttp.StatusRequestTimeout)
	default: // it broke off, or is no body
		u.wrong.Store(fasthttp.StatusBadRequest)
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
