package listen

import (
	"container/list"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// retryAfter is the pause after the system could not give another connection.
const retryAfter = 10 * time.Millisecond

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
