package listen

import (
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// lot holds the connections of a port that wait for a request, without a goroutine and without a net.Conn. A connection
// costs 32 bytes here. Any goroutine may call its methods.
type lot struct {
	poller int // an epoll instance
	count  atomic.Int64

	mu     sync.Mutex
	places []place
	free   int32     // first free place, -1: none
	queues [2]parked // by kind
	closes bool      // idle connections are refused
}

// kind is what a connection in a lot waits for.
type kind uint8

const (
	silent kind = iota // the first request
	idle               // the request after an answer
)

// parked is a list of the connections of a kind in the order in which they were parked.
type parked struct{ first, last int32 }

// place is a place for one connection. Places that are free form a list, too.
type place struct {
	fd         int32
	generation uint32 // of the place: a late event of an earlier connection has another one
	prev, next int32
	since      int64 // when the connection was parked, after start
	kind       kind
	taken      bool
}

func newLot(poller int) *lot {
	t := &lot{poller: poller, free: -1}
	for k := range t.queues {
		t.queues[k] = parked{-1, -1}
	}
	return t
}

// refuseIdle makes park refuse idle connections from now on.
func (t *lot) refuseIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closes = true
}

// park adds a connection. The poller reports it when bytes have arrived or the client has left.
func (t *lot) park(fd int, k kind, now int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closes && k == idle {
		return net.ErrClosed
	}
	if t.free < 0 {
		t.free = int32(len(t.places))
		t.places = append(t.places, place{next: -1})
	}
	i := t.free
	p := &t.places[i]
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: i, Pad: int32(p.generation)}
	if errno := control(t.poller, unix.EPOLL_CTL_ADD, fd, &event); errno != 0 {
		return errno
	}
	t.free = p.next
	q := &t.queues[k]
	*p = place{fd: int32(fd), generation: p.generation, prev: q.last, next: -1, since: now, kind: k, taken: true}
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
func (t *lot) take(e *unix.EpollEvent) (fd int, k kind, since int64, ok bool) {
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
func (t *lot) leave(i int32) {
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
	*p = place{generation: p.generation + 1, next: t.free}
	t.free = i
	t.count.Add(-1)
}

// close closes the connection of a kind that has waited longest, if it was parked before a time. It reports whether it did.
// Closing also removes the connection from the poller.
func (t *lot) close(k kind, before int64) bool {
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
func (t *lot) forget(fd int) { _ = control(t.poller, unix.EPOLL_CTL_DEL, fd, &unix.EpollEvent{}) }
