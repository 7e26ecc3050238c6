package listen

import (
	"bytes"
	"sync"
	"syscall"
)

// mostHead is how many bytes of a first request are buffered before the server gets the connection, even if the head is
// longer.
const mostHead = 8 << 10

// headBuffers holds the buffers for first reads.
var headBuffers = sync.Pool{New: func() any { return new([mostHead]byte) }}

// awaitHead waits for the first request and buffers it for Read. It returns when the request is complete, when the
// server can start on what has arrived, or when no more arrives, which the next Read then reports too. It returns false
// if nothing arrived. It also waits for a body, so that a slow body costs no more memory than its bytes.
func (c *conn) awaitHead() bool {
	if c.socket == nil {
		return true
	}
	for len(c.buffered) < mostHead {
		before := len(c.buffered)
		if err := c.socket.Read(c.readEarly); err != nil || len(c.buffered) == before { // deadline, closed, or end of stream
			break
		}
		if n := c.requests.track(c.buffered[before:]); c.requests.refused != nil {
			c.buffered = append(c.buffered[:before+n], c.requests.rest()...)
			break
		}
		heads, inBody := c.requests.tracker.Heads(), c.requests.tracker.InBody()
		// A client that sent "Expect: 100-continue" waits for an answer before it sends the body.
		if heads > 1 || heads == 1 && (!inBody || bytes.Contains(c.buffered, []byte("100-continue"))) {
			break
		}
	}
	if len(c.buffered) == 0 {
		return false
	}
	if f := c.owner.foresee; f != nil {
		c.glanced = f.Glance(c.buffered)
	}
	return true
}

// readEarly tries to read once and reports whether the wait is over. It ignores errors, because Read gets them again.
func (c *conn) readEarly(fd uintptr) bool {
	buf := headBuffers.Get().(*[mostHead]byte)
	defer headBuffers.Put(buf)
	for {
		n, errno := receive(fd, buf[:mostHead-len(c.buffered)])
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		c.buffered = append(c.buffered, buf[:n]...)
		return true
	}
}
