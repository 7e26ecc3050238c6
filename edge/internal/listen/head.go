package listen

import (
	"bytes"
	"errors"
	"sync"
)

// mostHead is how many bytes of a first request are buffered before the server gets the connection, even if the head is
// longer.
const mostHead = 8 << 10

// headBuffers holds the buffers for first reads.
var headBuffers = sync.Pool{New: func() any { return new([mostHead]byte) }}

// awaitHead waits for a request and buffers it for Read. It returns when the request is complete, when the
// server can start on what has arrived, or when no more arrives, which the next Read then reports too. It returns false
// if nothing arrived. It also waits for a body, so that a slow body costs no more memory than its bytes.
func (c *conn) awaitHead() bool {
	if c.socket == nil {
		return true
	}
	for tracked := 0; ; {
		if len(c.buffered) > tracked {
			if c.complete(tracked) {
				break
			}
			tracked = len(c.buffered)
		}
		if len(c.buffered) >= mostHead || !c.receiveHead() { // deadline, closed, or end of stream
			break
		}
		if c.idle {
			c.begin()
		}
	}
	return len(c.buffered) > 0
}

// complete tracks the bytes of c.buffered from an index on, and reports whether the server can start on the request.
func (c *conn) complete(from int) bool {
	if n := c.requests.track(c.buffered[from:]); c.requests.refused != nil {
		c.buffered = append(c.buffered[:from+n], c.requests.rest()...)
		return true
	}
	heads, inBody := c.requests.tracker.Heads(), c.requests.tracker.InBody()
	// A client that sent "Expect: 100-continue" waits for an answer before it sends the body.
	return heads > 1 || heads == 1 && (!inBody || bytes.Contains(c.buffered, []byte("100-continue")))
}

// receiveHead waits for more bytes of a request. It returns false if there are none. While it waits, it holds no buffer.
func (c *conn) receiveHead() bool {
	w := c.secure
	if w == nil {
		return c.more(&c.buffered, mostHead) == nil
	}
	for {
		buf := headBuffers.Get().(*[mostHead]byte)
		n, err := w.arrived(buf[:mostHead-len(c.buffered)])
		c.buffered = append(c.buffered, buf[:n]...)
		headBuffers.Put(buf)
		if n > 0 {
			return true
		}
		if errors.Is(err, errAgain) {
			err = c.more(&w.ahead, maxHello)
		}
		if err != nil {
			_ = w.ended(err)
			return false
		}
	}
}
