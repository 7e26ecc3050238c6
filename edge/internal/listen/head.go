package listen

import (
	"bytes"
	"container/list"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// mostHead is how much of a first request is kept until its head is whole. Longer ones go to the server as they are.
	mostHead = 8 << 10
	// retryAfter is the pause after the system could not give another connection.
	retryAfter = 10 * time.Millisecond
	// grace is how long whoever comes may be silent even where there is no more room: a visitor's request follows at
	// once, but who is being flooded reads late.
	grace = 150 * time.Millisecond
	// looked is how many connections are looked at for the one that has been idle for longest. All of them would take
	// milliseconds for each newcomer where there are tens of thousands.
	looked = 1024
	// idleFor is how long a connection must have been idle to go: one in use comes back sooner, and must not give way
	// to newcomers who say nothing.
	idleFor = time.Second
)

// hall is where new connections wait until the head of their first request is whole. There they take a goroutine of
// two kilobytes and the bytes that came, a tenth of what a server sets aside for a connection before it reads from it.
type hall struct {
	limit int // of connections that are open
	begin sync.Once
	ready chan *conn
	over  chan struct{} // closed when nobody will be ready any more
	why   error         // of over

	mu      sync.Mutex
	waiting list.List // of *conn, the oldest in front
	busy    sync.WaitGroup
	turned  atomic.Uint64 // connections that were ended for want of room
}

// Shed is how many connections were ended because too many were open.
func (l *Listener) Shed() uint64 {
	if l.hall == nil {
		return 0
	}
	return l.hall.turned.Load()
}

// AwaitHeads has Accept return connections when their first request is whole, or 8 KiB of it, or can't become so. Who says
// nothing until the time for a request is over is closed, and so is, when limit connections are open and another comes,
// the one that has waited longest, if that is longer than a moment; else one that has long been idle between two requests.
// Where there is neither, the other waits. It also has requests refused that are not framed as they should be, of which
// a handler checks some: see Exact. Call it before Accept.
func (l *Listener) AwaitHeads(limit int) {
	l.hall = &hall{limit: limit, ready: make(chan *conn), over: make(chan struct{})}
}

// acceptReady waits for the next connection whose request has come.
func (l *Listener) acceptReady() (net.Conn, error) {
	h := l.hall
	h.begin.Do(func() { go l.admit() })
	select {
	case c := <-h.ready:
		return c, nil
	case <-h.over:
		return nil, h.why
	}
}

// admit takes connections in until the listener is closed or fails, and ends when the last of them has been handed out.
func (l *Listener) admit() {
	h := l.hall
	for {
		for l.Open() >= h.limit && !h.shed() && !l.endLongestIdle() {
			time.Sleep(retryAfter) // all are being answered, or have just come
		}
		c, err := l.accept()
		switch {
		case err == nil:
			c.awaited = true
			c.move(&c.readBy, l.timeouts.Read, 0)
			h.enter(c)
			go func() {
				defer h.busy.Done()
				spoke := c.awaitHead()
				h.leave(c)
				if !spoke {
					_ = c.Close()
					return
				}
				h.ready <- c
			}()
		case passing(err):
			time.Sleep(retryAfter)
		default:
			h.why = err
			h.busy.Wait()
			close(h.over)
			return
		}
	}
}

func (h *hall) enter(c *conn) {
	h.busy.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	c.came, c.place = time.Now(), h.waiting.PushBack(c)
}

func (h *hall) leave(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.place != nil {
		h.waiting.Remove(c.place)
		c.place = nil
	}
}

// shed ends the connection that has waited longest, and reports whether there is one that has waited for long enough.
func (h *hall) shed() bool {
	h.mu.Lock()
	first := h.waiting.Front()
	if first == nil || time.Since(first.Value.(*conn).came) < grace {
		h.mu.Unlock()
		return false
	}
	c := h.waiting.Remove(first).(*conn)
	c.place = nil
	h.mu.Unlock()
	h.turned.Add(1)
	_ = c.Close()
	return true
}

// endLongestIdle ends the connection that has been idle for longest of some, and reports whether there was one. Who holds
// connections that were good once must not keep others out.
func (l *Listener) endLongestIdle() bool {
	l.mu.Lock()
	var longest *conn
	var since int64
	for range min(looked, len(l.conns)) {
		l.look = (l.look + 1) % len(l.conns)
		c := l.conns[l.look]
		if c.writeBy.Load() != resting {
			continue
		}
		if by := c.readBy.Load(); longest == nil || by < since {
			longest, since = c, by
		}
	}
	l.mu.Unlock()
	latest := l.now.Load() + int64(l.timeouts.Idle+interval-idleFor) // what readBy is of one that is idle for so long
	if longest == nil || since > latest || !longest.endIdle() {
		return false
	}
	l.hall.turned.Add(1)
	return true
}

// passing reports whether an error of accept says nothing of the listener: a connection that broke off before it was
// taken, or that the system has no more room. See accept(2).
func passing(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO, syscall.EPERM,
		syscall.EINTR, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

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
