package httpserver

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/conns"
)

// warnEvery is the least time between two warnings about the connection limit.
const warnEvery = time.Minute

// limiter is a listener that keeps the number of open connections within a limit, as described in package conns.
// State must be the server's ConnState.
type limiter struct {
	net.Listener
	shed *conns.Shedder[net.Conn]
	log  *slog.Logger

	mu     sync.Mutex
	open   map[net.Conn]*conns.Place[net.Conn] // the place is nil while a request is in progress
	idle   conns.Queue[net.Conn]
	freed  chan struct{} // capacity 1; signals that a connection was closed or became idle
	closed chan struct{}
	once   sync.Once

	// For Accept only.
	warned   time.Time
	reported uint64 // connections closed before the last warning
}

func newLimiter(ln net.Listener, limit int, log *slog.Logger) *limiter {
	l := &limiter{Listener: ln, log: log, open: map[net.Conn]*conns.Place[net.Conn]{}, freed: make(chan struct{}, 1),
		closed: make(chan struct{})}
	l.shed = &conns.Shedder[net.Conn]{Limit: limit, Open: l.connections, Close: l.drop, CloseIdle: func() bool {
		c, ok := l.idle.PopOlder(conns.IdleFor)
		return ok && l.drop(c)
	}}
	return l
}

// Accept implements net.Listener. It waits while the limit is reached and no connection can be closed. It is called by
// one goroutine.
func (l *limiter) Accept() (net.Conn, error) {
	for {
		enough := l.shed.MakeRoom()
		l.warn(enough)
		if enough {
			break
		}
		select {
		case <-l.freed:
		case <-time.After(conns.Pause):
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = l.shed.Opened(c)
	return c, nil
}

func (l *limiter) warn(enough bool) {
	closed := l.shed.Closed()
	if closed == l.reported && enough || time.Since(l.warned) < warnEvery {
		return
	}
	l.log.Warn("connection limit reached, closing idle connections", "closed", closed-l.reported, "limit", l.shed.Limit,
		"new_connections_wait", !enough)
	l.reported, l.warned = closed, time.Now()
}

// Close implements net.Listener.
func (l *limiter) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

func (l *limiter) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// drop closes a connection unless a request is in progress.
func (l *limiter) drop(c net.Conn) bool {
	l.mu.Lock()
	if l.open[c] == nil { // in progress, or closed by its client
		l.mu.Unlock()
		return false
	}
	delete(l.open, c)
	l.mu.Unlock()
	_ = c.Close() // the server's goroutine notices
	return true
}

// State follows the state of a connection.
func (l *limiter) State(c net.Conn, s http.ConnState) {
	if s == http.StateNew {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c].Leave()
	switch s {
	case http.StateActive:
		l.open[c] = nil
		return
	case http.StateIdle:
		l.open[c] = l.idle.Push(c)
	case http.StateClosed, http.StateHijacked:
		delete(l.open, c)
	}
	select {
	case l.freed <- struct{}{}:
	default:
	}
}
