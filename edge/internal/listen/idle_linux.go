package listen

import (
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// idleConns holds the connections of a port that wait for a request, without a goroutine and without a net.Conn. A connection
// costs 32 bytes here. Any goroutine may call its methods.
type idleConns struct {
	poller int // an epoll instance
	count  atomic.Int64

	mu     sync.Mutex
	places []idleConn
	free   int32       // first free place, -1: none
	queues [2]idleList // by kind
	closes bool        // idle connections are refused
}

// kind is what a connection in a idle waits for.
type kind uint8

const (
	silent kind = iota // the first request
	idle               // the request after an answer
)

// idleList is a list of the connections of a kind in the order in which they were idleList.
type idleList struct{ first, last int32 }

// idleConn is a idleConn for one connection. Places that are free form a list, too.
type idleConn struct {
	fd         int32
	generation uint32 // of the place: a late event of an earlier connection has another one
	prev, next int32
	since      int64 // when the connection was parked, after start
	kind       kind
	taken      bool
}

func newIdleConns(poller int) *idleConns {
	t := &idleConns{poller: poller, free: -1}
	for k := range t.queues {
		t.queues[k] = idleList{-1, -1}
	}
	return t
}

// refuseIdle makes park refuse idle connections from now on.
func (t *idleConns) refuseIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closes = true
}

// park adds a connection. The poller reports it when bytes have arrived or the client has left.
func (t *idleConns) park(fd int, k kind, now int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closes && k == idle {
		return net.ErrClosed
	}
	if t.free < 0 {
		t.free = int32(len(t.places))
		t.places = append(t.places, idleConn{next: -1})
	}
	i := t.free
	p := &t.places[i]
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: i, Pad: int32(p.generation)}
	if errno := control(t.poller, unix.EPOLL_CTL_ADD, fd, &event); errno != 0 {
		return errno
	}
	t.free = p.next
	q := &t.queues[k]
	*p = idleConn{fd: int32(fd), generation: p.generation, prev: q.last, next: -1, since: now, kind: k, taken: true}
	if q.last < 0 {
		q.first = i
	} else {
		t.places[q.last].next = i
	}
	q.last = i
	t.count.Add(1)
	return nil
}

// take removes the connection that an event reports. since is the time when it was parked. ok is false if the connection has
// been closed meanwhile. The caller must close the connection or call forget.
func (t *idleConns) take(e *unix.EpollEvent) (fd int, k kind, since int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.places[e.Fd]
	if !p.taken || p.generation != uint32(e.Pad) {
		return 0, 0, 0, false
	}
	fd, k, since = int(p.fd), p.kind, p.since
	t.leave(e.Fd)
	return fd, k, since, true
}

// leave frees a place. The caller holds the lock.
func (t *idleConns) leave(i int32) {
	p := &t.places[i]
	q := &t.queues[p.kind]
	if p.prev < 0 {
		q.first = p.next
	} else {
		t.places[p.prev].next = p.next
	}
	if p.next < 0 {
		q.last = p.prev
	} else {
		t.places[p.next].prev = p.prev
	}
	*p = idleConn{generation: p.generation + 1, next: t.free}
	t.free = i
	t.count.Add(-1)
}

// close closes the connection of a kind that has waited longest, if it was parked before a time. It reports whether it did.
// Closing also removes the connection from the poller.
func (t *idleConns) close(k kind, before int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.queues[k].first
	if i < 0 || t.places[i].since > before {
		return false
	}
	closeSocket(int(t.places[i].fd))
	t.leave(i)
	return true
}

// forget removes a connection from the poller.
func (t *idleConns) forget(fd int) { _ = control(t.poller, unix.EPOLL_CTL_DEL, fd, &unix.EpollEvent{}) }
