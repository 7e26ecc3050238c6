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
	if c.socket == nil && c.secure == nil {
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
	}
	if len(c.buffered) == 0 {
		return false
	}
	if f := c.owner.foresee; f != nil {
		c.glanced = f.Glance(c.buffered)
	}
	return true
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

// receiveHead waits for more bytes of the first request. It returns false if there are none.
func (c *conn) receiveHead() bool {
	if c.secure != nil {
		return c.secure.decrypt(&c.buffered)
	}
	return more(c.socket, &c.buffered, mostHead)
}

// more waits for bytes and appends them to b, up to a total of most. It returns false after the deadline, an error or the
// end of the stream, which the next read gets again.
func more(socket syscall.RawConn, b *[]byte, most int) bool {
	before := len(*b)
	err := socket.Read(func(fd uintptr) bool {
		buf := headBuffers.Get().(*[mostHead]byte)
		defer headBuffers.Put(buf)
		for {
			n, errno := receive(fd, buf[:min(mostHead, most-len(*b))])
			switch errno {
			case syscall.EINTR:
				continue
			case syscall.EAGAIN:
				return false
			}
			*b = append(*b, buf[:n]...)
			return true
		}
	})
	return err == nil && len(*b) > before
}
