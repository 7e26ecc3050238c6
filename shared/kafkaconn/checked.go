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

// maxAnswer is the maximum size of a response that is accepted. It is the default limit that brokers have for requests
// (socket.request.max.bytes).
const maxAnswer = 100 << 20

// checked is a connection that fails if a broker's response is invalid: if a length in it is negative or exceeds the
// response, or if there is no matching request. kafka-go trusts lengths, so a damaged byte could end the whole program.
// With TLS such a byte is never delivered, so this is only for connections without TLS.
//
// Fetch responses are not checked here, because their reader checks them itself.
type checked struct {
	net.Conn
	in    *bufio.Reader
	asked requests

	pass   int64  // bytes to pass on unchecked
	ready  []byte // checked bytes to pass on
	answer *call  // the request whose response is being read
	frame  []byte // the part of the response read so far
	failed error
}

// call is a request that was sent.
type call struct {
	key     protocol.ApiKey
	version int16
	size    int64 // of the response, without its length field
}

func newChecked(c net.Conn) *checked {
	return &checked{Conn: c, in: bufio.NewReader(c), asked: requests{open: map[int32]*call{}}}
}

// Write records the requests in b, and sends it.
func (c *checked) Write(b []byte) (int, error) {
	c.asked.note(b)
	return c.Conn.Write(b)
}

// Read returns the bytes of responses.
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

// next reads as much of a response as must be checked before any of it is returned. It can be called again after a
// timeout.
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
		case head[0] == 0x15 && head[1] == 3: // a TLS alert; no response could be that long
			return c.fail(errors.New("the broker wants TLS: set KAFKA_TLS to true"))
		case size < 4 || size > maxAnswer:
			return c.fail(fmt.Errorf("it claims to have %d bytes", size))
		}
		if head, err = c.in.Peek(8); err != nil {
			return unexpected(err)
		}
		asked := c.asked.answered(int32(binary.BigEndian.Uint32(head[4:])))
		switch {
		case asked == nil:
			return c.fail(errors.New("it matches no request"))
		case asked.key == protocol.Fetch:
			c.pass = 4 + size
			return nil
		}
		asked.size = size
		c.answer, c.frame = asked, nil
	}
	// Memory grows with the received bytes, not with the promised length.
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

// unexpected converts an EOF in the middle of a response.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fail ends the connection, because the start of the next response is unknown.
func (c *checked) fail(err error) error {
	c.failed = fmt.Errorf("kafka: invalid response of the broker: %w", err)
	_ = c.Conn.Close()
	return c.failed
}

// requests tracks the requests that are written to a connection, in pieces of any size.
type requests struct {
	mu    sync.Mutex
	open  map[int32]*call // by correlation id
	plain bool            // authentication without frames, as before Kafka 1.0: nothing can be tracked
	left  int64           // remaining bytes of the current request
	head  [12]byte        // length, API key, version, correlation id
	have  int             // bytes of head received
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

// answered returns the request with this correlation id, or nil if there is none.
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
	var d net.Dialer // the contexts of all callers have deadlines
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newChecked(c), nil
}
