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

// silence is how long the sender of an unwanted body may pause before it gets its answer. A client that waits for the
// answer before it sends the rest must not wait longer.
const silence = time.Second

// inMemory is how many bytes of a body are read before its request is in flight.
const inMemory = 16 << 10

var (
	errTooLarge = errors.New("proxy: the request body is too large")
	errShut     = errors.New("proxy: the request has been answered")
)

// upload is a request body on its way from a client to the upstream. After shut returns, nothing reads from the
// client's connection for the upstream any more.
type upload struct {
	mu        sync.Mutex // held during a read, so that shut can wait for the last one
	early     []byte     // bytes that arrived before the request was forwarded
	err       error      // error of the read after early
	from      io.Reader
	remaining int64 // bytes that must still come; negative: unknown
	left      int64 // bytes that may still come, by the size limit
	conn      net.Conn
	pace      framing.Pace
	drains    bool // nobody else reads any more, although closed may be set
	closed    atomic.Bool
	done      atomic.Bool  // read to its end
	wrong     atomic.Int32 // status of the client's error; 0: none
}

// arrive reads up to most bytes before the request is forwarded.
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

// fault returns the status of the client's error, or 0.
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

// read reads from the client, which must keep the pace.
func (u *upload) read(b []byte) (int, error) {
	until := u.pace.Until(time.Now(), framing.Patience)
	if quiet := time.Now().Add(silence); u.drains && quiet.Before(until) {
		until = quiet
	}
	_ = u.conn.SetReadDeadline(until)
	if u.closed.Load() && !u.drains { // shut ran meanwhile: do not overwrite its deadline
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
	if u.remaining >= 0 {
		if u.remaining -= int64(n); err == io.EOF && u.remaining > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	switch {
	case err == io.EOF:
		u.done.Store(true)
	case err == nil || u.closed.Load() && !u.drains: // shut may have interrupted the read
	case !now.Before(until):
		u.wrong.Store(fasthttp.StatusRequestTimeout)
	default: // the body is incomplete or malformed
		u.wrong.Store(fasthttp.StatusBadRequest)
	}
	return n, err
}

// Close is called by the transport. It must not wait for a read in progress.
func (u *upload) Close() error {
	u.closed.Store(true)
	return nil
}

// drain reads the rest of a body that the upstream does not want. Without it, the server would close the connection while
// the client still sends, and the client would see a reset instead of the answer. The size limit and the pace apply.
func (u *upload) drain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.drains = true
	var b [4 << 10]byte
	for err := u.err; err == nil && !u.done.Load(); {
		_, err = u.read(b[:])
	}
	u.drains = false
}

// shut waits for a read in progress. It interrupts a read that waits for a client that has stopped sending.
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
		d.exchange.proxy.allowAnswer(d.exchange.conn) // so that a stream may last for any time
	}
	return n, err
}

func (d *download) Close() error {
	d.exchange.cancel() // otherwise the transport would read the rest of the body
	err := d.body.Close()
	d.exchange.end()
	return err
}
