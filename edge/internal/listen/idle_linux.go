package listen

import (
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// idleConns holds the connections of a port that its loop keeps, without a goroutine and without a net.Conn. A connection costs
// 56 bytes here. It stays registered with the poller until it is forgotten or closed. Any goroutine may call its methods.
type idleConns struct {
	poller int // an epoll instance
	count  atomic.Int64

	mu     sync.Mutex
	places []idleConn
	free   int32       // first free place, -1: none
	queues [2]idleList // by kind
	closes bool        // idle connections are refused
}

// kind is what a connection waits for.
type kind uint8

const (
	silent kind = iota // the first request
	idle               // the request after an answer
)

// idleList is a list of the waiting connections of a kind. The one that has waited longest is the first.
type idleList struct{ first, last int32 }

// idleConn is the place of one connection. Free places form a list, too.
type idleConn struct {
	fd         int32
	generation uint32 // of the place: a late event of an earlier connection has another one
	prev, next int32
	since      int64    // when the connection began to wait, after start
	peer       [16]byte // the client's address
	port       uint16
	short      bool // the address has four bytes
	kind       kind
	used       bool
	taken      bool // the loop handles it, so it is in no queue and nobody else may close it
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

// park adds a connection of a client. The poller reports it when bytes have arrived or the client has left.
func (t *idleConns) park(fd int, k kind, peer *net.TCPAddr, now int64) error {
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
	*p = idleConn{fd: int32(fd), generation: p.generation, used: true, port: uint16(peer.Port), short: len(peer.IP) == net.IPv4len}
	copy(p.peer[:], peer.IP)
	t.enqueue(i, k, now)
	t.count.Add(1)
	return nil
}

// take takes the connection that an event reports out of its queue, and writes the client's address to peer, whose memory it
// reuses. ok is false if the connection has been closed meanwhile. The caller must call requeue or leave afterwards.
func (t *idleConns) take(e *unix.EpollEvent, peer *net.TCPAddr) (fd int, k kind, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.places[e.Fd]
	if !p.used || p.taken || p.generation != uint32(e.Pad) {
		return 0, 0, false
	}
	t.dequeue(p)
	p.taken = true
	size := net.IPv6len
	if p.short {
		size = net.IPv4len
	}
	peer.IP, peer.Port, peer.Zone = append(peer.IP[:0], p.peer[:size]...), int(p.port), ""
	return int(p.fd), p.kind, true
}

// requeue puts a connection that was taken into the queue of a kind. It reports whether the connection may stay open.
func (t *idleConns) requeue(place int32, k kind, now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closes && k == idle {
		return false
	}
	t.places[place].taken = false
	t.enqueue(place, k, now)
	return true
}

// leave frees the place of a connection that was taken. The caller closes the connection, or calls forget.
func (t *idleConns) leave(place int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear(place)
}

func (t *idleConns) enqueue(place int32, k kind, now int64) {
	p, q := &t.places[place], &t.queues[k]
	p.kind, p.since, p.prev, p.next = k, now, q.last, -1
	if q.last < 0 {
		q.first = place
	} else {
		t.places[q.last].next = place
	}
	q.last = place
}

func (t *idleConns) dequeue(p *idleConn) {
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
}

// clear frees a place that is in no queue.
func (t *idleConns) clear(place int32) {
	p := &t.places[place]
	*p = idleConn{generation: p.generation + 1, next: t.free}
	t.free = place
	t.count.Add(-1)
}

// close closes the connection of a kind that has waited longest, if it has waited since before a time. It reports whether it did.
// Closing also removes the connection from the poller.
func (t *idleConns) close(k kind, before int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.queues[k].first
	if i < 0 || t.places[i].since > before {
		return false
	}
	closeSocket(int(t.places[i].fd))
	t.dequeue(&t.places[i])
	t.clear(i)
	return true
}

// forget removes a connection from the poller.
func (t *idleConns) forget(fd int) { _ = control(t.poller, unix.EPOLL_CTL_DEL, fd, &unix.EpollEvent{}) }
