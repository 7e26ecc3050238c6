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

// retryAfter is the pause before the next attempt when no connection can be accepted.
const retryAfter = 10 * time.Millisecond

// pending holds new connections until the head of their first request is complete. A pending connection costs a
// goroutine of two kilobytes and the bytes that have arrived. That is a tenth of what a server allocates for a
// connection before it reads from it.
type pending struct {
	limit int // on open connections
	start sync.Once
	ready chan *conn
	over  chan struct{} // closed when no more connections will become ready
	why   error         // the reason; set before over is closed

	mu      sync.Mutex
	waiting list.List // of *conn, the oldest in front
	busy    sync.WaitGroup
	closed  atomic.Uint64 // connections closed because the limit was reached
}

// AwaitHeads makes Accept return a connection only when its first request is complete, when 8 KiB of the request have
// arrived, or when the request can no longer become complete. A connection that sends nothing within the read timeout
// is closed.
//
// When limit connections are open and another one arrives, the listener closes the connection that has waited longest
// for its first request, if it has waited for longer than 150 ms. Otherwise it closes one that has been idle for at
// least a second. Otherwise the new connection waits.
//
// AwaitHeads also turns on the framing checks, some of which the handler must make: see Exact. Call it before Accept.
func (l *Listener) AwaitHeads(limit int) {
	l.pending = &pending{limit: limit, ready: make(chan *conn), over: make(chan struct{})}
}

// acceptReady waits for the next connection whose first request has arrived.
func (l *Listener) acceptReady() (net.Conn, error) {
	p := l.pending
	p.start.Do(func() { go l.admit() })
	select {
	case c := <-p.ready:
		return c, nil
	case <-p.over:
		return nil, p.why
	}
}

// admit accepts connections until the listener is closed or fails. It returns when no connection is
// pending any more.
func (l *Listener) admit() {
	p := l.pending
	for {
		for l.Open() >= p.limit && !p.shed() && !l.endLongestIdle() {
			time.Sleep(retryAfter) // every connection is being answered or is new
		}
		c, err := l.accept()
		switch {
		case err == nil:
			c.first = true
			c.move(&c.readBy, l.timeouts.Read, 0)
			p.enter(c)
			go func() {
				defer p.busy.Done()
				spoke := c.awaitHead()
				p.leave(c)
				if !spoke {
					_ = c.Close()
					return
				}
				p.ready <- c
			}()
		case transient(err):
			time.Sleep(retryAfter)
		default:
			p.why = err
			p.busy.Wait()
			close(p.over)
			return
		}
	}
}

func (p *pending) enter(c *conn) {
	p.busy.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	c.opened, c.place = time.Now(), p.waiting.PushBack(c)
}

func (p *pending) leave(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.place != nil {
		p.waiting.Remove(c.place)
		c.place = nil
	}
}

// transient reports whether the listener still works after an error of accept: the connection broke before it was
// accepted, or the system is out of resources. See accept(2).
func transient(err error) bool {
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
