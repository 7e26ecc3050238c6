// Package conns keeps the number of open connections of a server below a limit.
//
// Without a limit, a client that opens connections and holds them takes all file descriptors and keeps everybody else
// out. At the limit, a Shedder closes a connection for each new one: first the one that has been silent for longest
// since it was opened, then the one that has been idle for longest between two requests. Connections with a request
// in progress stay open. If there is nothing to close, new connections wait in the kernel's queue.
//
// It leaves accepting, reading and deadlines to the server, which tells the Shedder about its connections.
package conns

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// Grace is how long a new connection may be silent before it can be closed to make room. A client sends its request
	// at once, but a server that is being flooded reads it late.
	Grace = 150 * time.Millisecond
	// IdleFor is how long a connection must have been idle before it can be closed to make room. A connection in use
	// sends its next request sooner, and must not give way to new connections that send nothing.
	IdleFor = time.Second
	// Pause is the time to wait when no connection can be closed, before MakeRoom is called again.
	Pause = 10 * time.Millisecond
)

// Max is the number of connections that a server may have open: atMost, or fewer where the limit on open files
// (RLIMIT_NOFILE) leaves less. 256 files are kept for the process's own: data files, connections to other services,
// the operator's port.
func Max(atMost int) int {
	const own = 256
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return atMost
	}
	return int(min(uint64(atMost), max(uint64(files.Cur), 2*own)-own))
}

// Shedder closes connections of type C to make room for new ones. Its methods may be called concurrently, but the
// fields must be set before.
type Shedder[C any] struct {
	Limit int
	// Open returns the number of open connections.
	Open func() int
	// Close closes a connection that has not sent a request; Open must not count it afterwards. It reports false if a
	// request has come meanwhile and the connection stays open.
	Close func(C) bool
	// CloseIdle closes a connection that has been idle for at least IdleFor, preferably the one that has been idle for
	// longest. It reports whether it closed one.
	CloseIdle func() bool

	silent Queue[C]
	closed atomic.Uint64
}

// Opened notes a new connection. Leave the place when the connection has sent a request or is closed.
func (s *Shedder[C]) Opened(c C) *Place[C] { return s.silent.Push(c) }

// Closed is the number of connections that were closed to make room.
func (s *Shedder[C]) Closed() uint64 { return s.closed.Load() }

// MakeRoom closes connections until there is room for one more, and reports whether there is. If there is none, call
// it again after Pause.
func (s *Shedder[C]) MakeRoom() bool {
	for s.Open() >= s.Limit {
		if c, ok := s.silent.PopOlder(Grace); ok {
			if !s.Close(c) {
				continue
			}
		} else if !s.CloseIdle() {
			return false
		}
		s.closed.Add(1)
	}
	return true
}

// Queue holds connections in the order in which they were pushed. The zero value is empty. Its methods may be called
// concurrently.
type Queue[C any] struct {
	mu          sync.Mutex
	first, last *Place[C]
}

// Push appends a connection.
func (q *Queue[C]) Push(c C) *Place[C] {
	p := &Place[C]{conn: c, since: time.Now(), queue: q, queued: true}
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.prev = q.last; p.prev == nil {
		q.first = p
	} else {
		p.prev.next = p
	}
	q.last = p
	return p
}

// PopOlder removes and returns the first connection, if it has been in the queue for at least that long.
func (q *Queue[C]) PopOlder(age time.Duration) (c C, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.first
	if p == nil || time.Since(p.since) < age {
		return c, false
	}
	p.unlink()
	return p.conn, true
}

// Place is the place of one connection in a Queue.
type Place[C any] struct {
	conn  C
	since time.Time
	queue *Queue[C]

	// Under the queue's lock.
	queued     bool
	prev, next *Place[C]
}

// Leave removes the connection from its queue. It does nothing if the connection is not in the queue any more, or if p
// is nil.
func (p *Place[C]) Leave() {
	if p == nil {
		return
	}
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.unlink()
}

func (p *Place[C]) unlink() {
	if !p.queued {
		return
	}
	p.queued = false
	if p.prev == nil {
		p.queue.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		p.queue.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.prev, p.next = nil, nil
}
