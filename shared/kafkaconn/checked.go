package kafkaconn

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
)

// maxAnswer is the longest answer of a broker that is believed: what brokers themselves take for a request by default
// (socket.request.max.bytes).
const maxAnswer = 100 << 20

// checked is a connection that ends where a broker's answer can't be one: where a length in it is negative or promises
// more than there is, or nobody asked for it. The client library takes lengths as they come, so that a damaged byte could
// end the whole program. With TLS such a byte never gets that far: this is for connections without.
//
// Messages that were asked for pass unseen, whose reader looks for itself.
type checked struct {
	net.Conn
	in    *bufio.Reader
	asked requests

	pass   int64  // bytes to hand out as they come
	ready  []byte // bytes to hand out that were looked at
	answer *call  // what is being answered while the answer comes
	frame  []byte // what has come of it
	failed error
}

// call is a request that was sent.
type call struct {
	key     protocol.ApiKey
	version int16
	size    int64 // of the answer, its length not counted
}

func newChecked(c net.Conn) *checked {
	return &checked{Conn: c, in: bufio.NewReader(c), asked: requests{open: map[int32]*call{}}}
}

// Write notes what is asked for, and sends it.
func (c *checked) Write(b []byte) (int, error) {
	c.asked.note(b)
	return c.Conn.Write(b)
}

// Read gives the answers' bytes.
func (c *checked) Read(b []byte) (int, error) {
	for c.pass == 0 && len(c.ready) == 0 {
		if c.failed != nil {
			return 0, c.failed
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	if len(c.ready) > 0 {
		n := copy(b, c.ready)
		c.ready = c.ready[n:]
		return n, nil
	}
	n, err := c.in.Read(b[:min(int64(len(b)), c.pass)])
	c.pass -= int64(n)
	return n, err
}

// next reads as much of an answer as must be known before any of it is handed out. It can be called again after a timeout.
func (c *checked) next() error {
	if c.answer == nil {
		head, err := c.in.Peek(4)
		if c.asked.unframed() {
			c.pass = int64(max(1, c.in.Buffered()))
			return nil
		}
		if err != nil {
			return err
		}
		size := int64(int32(binary.BigEndian.Uint32(head)))
		switch {
		case head[0] == 0x15 && head[1] == 3: // an alert of TLS, of which no answer could be that long
			return c.fail(errors.New("the broker wants TLS: set KAFKA_TLS to true"))
		case size < 4 || size > maxAnswer:
			return c.fail(fmt.Errorf("it says that it has %d bytes", size))
		}
		if head, err = c.in.Peek(8); err != nil {
			return unexpected(err)
		}
		asked := c.asked.answered(int32(binary.BigEndian.Uint32(head[4:])))
		switch {
		case asked == nil:
			return c.fail(errors.New("nobody asked for it"))
		case asked.key == protocol.Fetch:
			c.pass = 4 + size
			return nil
		}
		asked.size = size
		c.answer, c.frame = asked, nil
	}
	// Memory grows with what comes, whatever length was promised.
	for want := 4 + int(c.answer.size); len(c.frame) < want; {
		have := len(c.frame)
		c.frame = append(c.frame, make([]byte, min(want-have, max(have, 4<<10)))...)
		n, err := c.in.Read(c.frame[have:])
		c.frame = c.frame[:have+n]
		if err != nil {
			return unexpected(err)
		}
	}
	if err := checkAnswer(c.frame[8:], c.answer.key, c.answer.version); err != nil {
		return c.fail(fmt.Errorf("%v, version %d: %w", c.answer.key, c.answer.version, err))
	}
	c.ready, c.answer, c.frame = c.frame, nil, nil
	return nil
}

// unexpected is an error in the middle of an answer.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fail ends the connection: nobody knows where the next answer begins.
func (c *checked) fail(err error) error {
	c.failed = fmt.Errorf("kafka: not a broker's answer: %w", err)
	_ = c.Conn.Close()
	return c.failed
}

// requests follows the requests that are written to a connection, in whatever pieces.
type requests struct {
	mu    sync.Mutex
	open  map[int32]*call // by number
	plain bool            // they sign in as brokers before Kafka 1.0 had it, without frames: nothing can be followed
	left  int64           // bytes of the present request that are still to be written
	head  [12]byte        // length, what is asked for, version, number
	have  int             // bytes of head
}

func (r *requests) note(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(b) > 0 && !r.plain {
		if r.left > 0 {
			step := min(r.left, int64(len(b)))
			r.left -= step
			b = b[step:]
			continue
		}
		n := copy(r.head[r.have:], b)
		b = b[n:]
		if r.have += n; r.have < len(r.head) {
			return
		}
		asked := &call{key: protocol.ApiKey(binary.BigEndian.Uint16(r.head[4:])), version: int16(binary.BigEndian.Uint16(r.head[6:]))}
		r.plain = asked.key == protocol.SaslHandshake && asked.version == 0
		r.open[int32(binary.BigEndian.Uint32(r.head[8:]))] = asked
		r.have, r.left = 0, int64(binary.BigEndian.Uint32(r.head[:]))-8
	}
}

// answered is what an answer with this number is to, nil if it is to nothing.
func (r *requests) answered(number int32) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.open[number]
	delete(r.open, number)
	return asked
}

func (r *requests) unframed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plain
}

// dialChecked connects without TLS.
func dialChecked(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer // the callers' contexts have deadlines
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newChecked(c), nil
}
