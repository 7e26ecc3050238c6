package kafkaconn

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
)

// maxFrame is the longest answer of a broker that is believed: what brokers themselves take for a request by default
// (socket.request.max.bytes).
const maxFrame = 100 << 20

// framed is a connection that ends where an answer says of itself that it has an impossible length: a negative one, or
// more than maxFrame. The client library takes lengths as they come, and a negative one ends the whole program. With TLS
// a damaged byte never gets that far, so that this is for connections without.
type framed struct {
	net.Conn
	left int64 // bytes of the present answer that are still to come
	head [4]byte
	have int // bytes of head that have come
}

// Read reads from the connection.
func (f *framed) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if f.left > 0 {
			step := min(f.left, int64(len(rest)))
			f.left -= step
			rest = rest[step:]
			continue
		}
		k := copy(f.head[f.have:], rest)
		f.have += k
		rest = rest[k:]
		if f.have < len(f.head) {
			break
		}
		f.have, f.left = 0, int64(int32(binary.BigEndian.Uint32(f.head[:])))
		if f.left < 0 || f.left > maxFrame {
			_ = f.Conn.Close()
			return 0, fmt.Errorf("kafka: an answer of %d bytes, as it says, can't be", f.left)
		}
	}
	return n, err
}

// dialFramed connects without TLS.
func dialFramed(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer // the callers' contexts have deadlines
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &framed{Conn: c}, nil
}
