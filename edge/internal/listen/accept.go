package listen

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/shortline/shortline/shared/conns"
)

// pending holds new connections until the head of their first request is complete. A pending connection costs a
// goroutine of two kilobytes and the bytes that have arrived. That is a tenth of what a server allocates for a
// connection before it reads from it.
type pending struct {
	shedder conns.Shedder[*conn]
	start   sync.Once
	ready   chan *conn
	busy    sync.WaitGroup
	over    chan struct{} // closed when no more connections will become ready
	why     error         // the reason; set before over is closed

	answerers sync.Pool // of *answerer; without New, the server answers all requests
}

// AwaitHeads makes Accept return a connection only when its first request is complete, when 8 KiB of the request have
// arrived, or when the request can no longer become complete. A connection that sends nothing within the read timeout
// is closed.
//
// When limit connections are open and another one arrives, the listener closes the connection that has waited longest
// for its first request, if it has waited for longer than 150 ms. Otherwise it closes one that has been idle for at
// least a second, if possible the one that has been idle for longest. Otherwise the new connection waits.
//
// AwaitHeads also turns on the framing checks. Call it before Accept.
func (l *Listener) AwaitHeads(limit int) {
	l.pending = &pending{ready: make(chan *conn), over: make(chan struct{}), shedder: conns.Shedder[*conn]{
		Limit: limit, Open: l.Open, CloseIdle: l.closeOne,
		Close: func(c *conn) bool { _ = c.Close(); return true },
	}}
}

// acceptReady waits for the next connection whose first request has arrived.
func (l *Listener) acceptReady() (net.Conn, error) {
	p := l.pending
	p.start.Do(l.admitAll)
	select {
	case c := <-p.ready:
		return c, nil
	case <-p.over:
		return nil, p.why
	}
}

// admitAll accepts connections on all ports until the listener is closed or a port fails.
func (l *Listener) admitAll() {
	p := l.pending
	plain := l.plainPorts()
	ports, failed := len(plain), make(chan error, len(plain)+1)
	for _, admit := range plain {
		go func() { failed <- admit() }()
	}
	if l.secure != nil {
		ports++
		go func() {
			err := l.admit(l.secure.ln, l.secure)
			close(l.secure.next)
			failed <- err
		}()
	}
	go func() {
		p.why = <-failed
		_ = l.Close() // without one of its ports, the listener is of no use
		for range ports - 1 {
			<-failed
		}
		p.busy.Wait()
		close(p.over)
	}()
}

// plainPorts returns a function for each socket of the port without TLS. The function accepts connections until the listener is
// closed or the socket fails, and returns the error.
func (l *Listener) plainPorts() (all []func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.sockets() {
		admit := func() error { return l.admit(ln, nil) }
		if !l.isClosed.Load() {
			switch v, err := l.newVisits(ln); {
			case err != nil:
				admit = func() error { return err }
			case v != nil:
				l.visits = append(l.visits, v)
				admit = v.admit
			}
		}
		all = append(all, admit)
	}
	return all
}

// admit accepts connections on one port until the listener is closed or the port fails, and returns the error.
func (l *Listener) admit(ln net.Listener, s *security) error {
	p := l.pending
	for {
		for !p.shedder.MakeRoom() {
			time.Sleep(conns.Pause) // every connection is being answered or is new
		}
		c, err := l.accept(ln)
		switch {
		case err == nil:
			c.first, c.own = true, true
			if s != nil {
				c.secure = &wire{conn: c}
				c.move(&c.writeBy, l.timeouts.Read, 0)
			}
			c.move(&c.readBy, l.timeouts.Read, 0)
			n := newcomer{c, p.shedder.Opened(c)}
			p.busy.Add(1)
			if s == nil {
				go l.prepare(n, nil)
				continue
			}
			select {
			case s.next <- n:
			default:
				go l.prepareMany(n, s)
			}
		case transient(err):
			time.Sleep(conns.Pause)
		default:
			return err
		}
	}
}

// newcomer is a pending connection.
type newcomer struct {
	*conn
	place *conns.Place[*conn]
}

// prepare makes what precedes the first request of a connection, and then attends to it.
func (l *Listener) prepare(n newcomer, s *security) {
	l.attend(n, (l.proxied == nil || n.awaitProxy(l.proxied)) && (s == nil || n.secure.handshake(s)))
}

// attend lets Accept return a connection when there is a request that the server must answer.
func (l *Listener) attend(n newcomer, usable bool) {
	p := l.pending
	defer p.busy.Done()
	if usable && n.own && p.answerers.New != nil {
		usable = n.converse()
	} else if usable {
		usable = n.awaitHead()
	}
	n.place.Leave()
	if !usable {
		n.claim.CompareAndSwap(claimRead, 0) // or Close would wait for the end of a request that never begins
		_ = n.Close()
		return
	}
	n.served.Store(p.answerers.New != nil)
	p.ready <- n.conn
}

// prepareMany prepares one connection after another until too many goroutines have nothing to do. A handshake needs a larger
// stack than a new goroutine has. Copying it to a larger one twice would cost three per cent of a visit.
func (l *Listener) prepareMany(n newcomer, s *security) {
	for more := true; more; {
		l.prepare(n, s)
		n = newcomer{}
		if s.resting.Add(1) <= maxResting {
			n, more = <-s.next
		} else {
			more = false
		}
		s.resting.Add(-1)
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
