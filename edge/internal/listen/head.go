package listen

import (
	"bytes"
	"sync"
	"syscall"
)

// mostHead is how much of a first request is kept until its head is whole. Longer ones go to the server as they are.
const mostHead = 8 << 10

// rooms lend what a first read needs.
var rooms = sync.Pool{New: func() any { return new([mostHead]byte) }}

// awaitHead waits for the first request and keeps it for Read. It returns when the request is whole, or so much of it has
// come that the server can begin with it, or no more comes, which Read then says too; false if nothing has come at all.
// A body is waited for as well, so that one that arrives slowly takes no more than its bytes.
func (c *conn) awaitHead() bool {
	if c.socket == nil {
		return true
	}
	for len(c.early) < mostHead {
		before := len(c.early)
		if err := c.socket.Read(c.readEarly); err != nil || len(c.early) == before { // the deadline, closed, or its end
			break
		}
		if n := c.requests.track(c.early[before:]); c.requests.refused != nil {
			c.early = append(c.early[:before+n], c.requests.rest()...)
			break
		}
		heads, inBody := c.requests.tracker.Heads(), c.requests.tracker.InBody()
		if heads > 1 || heads == 1 && (!inBody || bytes.Contains(c.early, []byte("100-continue"))) { // that client waits for an answer
			break
		}
	}
	if len(c.early) == 0 {
		return false
	}
	if f := c.owner.foresee; f != nil {
		c.glanced = f.Glance(c.early)
	}
	return true
}

// readEarly tries once to read and reports whether that is the end of it. What fails, Read meets again.
func (c *conn) readEarly(fd uintptr) bool {
	room := rooms.Get().(*[mostHead]byte)
	defer rooms.Put(room)
	for {
		n, errno := receive(fd, room[:mostHead-len(c.early)])
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		c.early = append(c.early, room[:n]...)
		return true
	}
}
