package app

import (
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// mostConnections is how many are open at most where files allow it: twice the edges that may wait for changes, and
	// as many others, at some 20 KB each.
	mostConnections = 16384
	// silence is how long who comes may say nothing even where there is no room: a request follows at once, but who
	// is being flooded reads late.
	silence = 150 * time.Millisecond
	// idleFor is how long a connection must have been idle to go: one in use comes back sooner.
	idleFor = time.Second
	// lookAgain is the pause where nobody can be asked to go, tellAgain the least time between two warnings.
	lookAgain = 10 * time.Millisecond
	tellAgain = time.Minute
)

// room is a listener that keeps the number of open connections within a limit. Where it is reached those go that have
// not asked anything for longest, first new ones, then those that are idle between two requests. Without it whoever
// holds connections open takes the files that the stores need, and keeps everybody out.
//
// State must be the server's ConnState.
type room struct {
	net.Listener
	limit int
	log   *slog.Logger

	mu       sync.Mutex
	open     map[net.Conn]*list.Element // nil while a request is answered
	fresh    list.List                  // of *guest, who came first in front
	idle     list.List                  // of *guest, who is idle for longest in front
	left     chan struct{}              // has room for one: somebody has gone or become idle
	shed     int
	told     time.Time
	closed   chan struct{}
	closeOne sync.Once
}

// guest is a connection on which nothing is asked.
type guest struct {
	conn  net.Conn
	since time.Time
	in    *list.List
}

func newRoom(ln net.Listener, limit int, log *slog.Logger) *room {
	return &room{Listener: ln, limit: limit, log: log, open: map[net.Conn]*list.Element{}, left: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept implements net.Listener. It waits while there is no room.
func (r *room) Accept() (net.Conn, error) {
	for !r.makeRoom() {
		select {
		case <-r.left:
		case <-time.After(lookAgain):
		case <-r.closed:
			return nil, net.ErrClosed
		}
	}
	c, err := r.Listener.Accept()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest(c, &r.fresh)
	return c, nil
}

// Close implements net.Listener.
func (r *room) Close() error {
	r.closeOne.Do(func() { close(r.closed) })
	return r.Listener.Close()
}

// State follows what a connection does.
func (r *room) State(c net.Conn, s http.ConnState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch s {
	case http.StateActive:
		r.rise(c)
		r.open[c] = nil
		return
	case http.StateIdle:
		r.rise(c)
		r.rest(c, &r.idle)
	case http.StateClosed, http.StateHijacked:
		r.rise(c)
		delete(r.open, c)
	default:
		return
	}
	select {
	case r.left <- struct{}{}:
	default:
	}
}

// makeRoom ends connections until there is room for one more, and reports whether there is.
func (r *room) makeRoom() bool {
	r.mu.Lock()
	var gone []net.Conn
	for len(r.open) >= r.limit {
		e := r.fresh.Front()
		if e == nil || time.Since(e.Value.(*guest).since) < silence {
			if e = r.idle.Front(); e != nil && time.Since(e.Value.(*guest).since) < idleFor {
				e = nil
			}
		}
		if e == nil {
			break
		}
		c := e.Value.(*guest).conn
		r.rise(c)
		delete(r.open, c)
		gone = append(gone, c)
	}
	enough := len(r.open) < r.limit
	r.shed += len(gone)
	tell, shed := (r.shed > 0 || !enough) && time.Since(r.told) > tellAgain, r.shed
	if tell {
		r.shed, r.told = 0, time.Now()
	}
	r.mu.Unlock()
	for _, c := range gone {
		_ = c.Close() // the server's goroutine notices
	}
	if tell {
		r.log.Warn("as many connections are open as may be, so those on which nothing is asked are closed", "closed", shed, "limit", r.limit, "others_wait", !enough)
	}
	return enough
}

// rest puts c at the end of a list, rise takes it out of the one it is in. The caller holds mu.
func (r *room) rest(c net.Conn, in *list.List) {
	r.open[c] = in.PushBack(&guest{c, time.Now(), in})
}

func (r *room) rise(c net.Conn) {
	if e := r.open[c]; e != nil {
		e.Value.(*guest).in.Remove(e)
	}
}
