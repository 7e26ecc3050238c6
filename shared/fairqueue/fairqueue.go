// Package fairqueue shares a few slots for expensive work, such as bcrypt, among clients, so that a client with many
// requests delays another client by one turn at a time. It limits how many callers wait.
package fairqueue

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Config sets the limits of a queue. All but Remember must be positive.
type Config struct {
	Slots     int // callers that hold a slot at the same time
	Waiting   int // callers that wait, of all clients
	PerClient int // callers that wait, of one client
	// Remember is the number of clients whose latest turn is remembered when they do not wait. A free slot goes to the
	// client whose latest turn is the longest ago, and to a client without a remembered turn before all others: in a
	// flood from many addresses, a newcomer waits for one turn. With 0, waiting clients take turns in the order of
	// their arrival.
	Remember int
}

// Queue hands out slots. K identifies a client. It is safe for concurrent use.
type Queue[K comparable] struct {
	cfg     Config
	mu      sync.Mutex
	free    int
	waiting int
	clock   uint64 // counts turns and arrivals
	clients map[K]*client
}

// client holds the callers of one client, in the order of their arrival. Each channel receives once whether its caller
// has a slot.
type client struct {
	callers []chan bool
	latest  uint64 // clock of the latest turn; 0 if none is remembered
	since   uint64 // clock when the first caller began to wait
}

// before reports whether c gets the next slot rather than o.
func (c *client) before(o *client) bool {
	return c.latest < o.latest || c.latest == o.latest && c.since < o.since
}

// New returns a queue whose slots are all free.
func New[K comparable](cfg Config) *Queue[K] {
	return &Queue[K]{cfg: cfg, free: cfg.Slots, clients: map[K]*client{}}
}

// Acquire waits for a slot until ctx ends. If it returns true, the caller has a slot and must call Release. It returns
// false if ctx ended first, or if too many callers wait.
func (q *Queue[K]) Acquire(ctx context.Context, key K) bool {
	granted, ok := q.enter(key)
	if !ok {
		return false
	}
	select {
	case has := <-granted:
		return has
	case <-ctx.Done():
		return q.leave(key, granted)
	}
}

func (q *Queue[K]) enter(key K) (granted chan bool, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.clients[key]
	if c == nil {
		c = &client{}
	}
	if len(c.callers) >= q.cfg.PerClient || q.waiting >= q.cfg.Waiting && !q.makeRoom(len(c.callers)) {
		return nil, false
	}
	granted = make(chan bool, 1)
	q.clients[key] = c
	if q.clock++; len(c.callers) == 0 {
		c.since = q.clock
		if q.cfg.Remember == 0 {
			c.latest = q.clock
		}
	}
	if q.free > 0 { // then nobody waits
		q.free--
		q.clock++
		c.latest = q.clock
		granted <- true
		q.removeIdle()
		return granted, true
	}
	c.callers = append(c.callers, granted)
	q.waiting++
	return granted, true
}

// leave removes a caller that stops waiting. The caller may have got a slot in the same moment, or lost its place.
func (q *Queue[K]) leave(key K, granted chan bool) (has bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case has := <-granted:
		return has
	default:
	}
	c := q.clients[key]
	i := slices.Index(c.callers, granted)
	c.callers = slices.Delete(c.callers, i, i+1)
	q.waiting--
	return false
}

// Release frees the slot of a caller.
func (q *Queue[K]) Release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.grant()
}

// grant gives free slots to waiting callers.
func (q *Queue[K]) grant() {
	for q.free > 0 && q.waiting > 0 {
		var next *client
		for _, c := range q.clients {
			if len(c.callers) > 0 && (next == nil || c.before(next)) {
				next = c
			}
		}
		q.free--
		q.waiting--
		q.clock++
		next.latest = q.clock
		next.callers[0] <- true
		next.callers = next.callers[1:]
	}
	q.removeIdle()
}

// removeIdle forgets clients that have no waiting request, if the queue knows too many clients.
func (q *Queue[K]) removeIdle() {
	if len(q.clients) > q.cfg.Remember {
		maps.DeleteFunc(q.clients, func(_ K, c *client) bool { return len(c.callers) == 0 })
	}
}

// makeRoom removes the last caller of the client with the most callers. It returns false if that would leave the client
// with no more callers than own, the number of those of the client that needs the room.
func (q *Queue[K]) makeRoom(own int) bool {
	var most *client
	for _, c := range q.clients {
		if most == nil || len(c.callers) > len(most.callers) || len(c.callers) == len(most.callers) && c.before(most) {
			most = c
		}
	}
	last := len(most.callers) - 1
	if last <= own {
		return false
	}
	most.callers[last] <- false
	most.callers = most.callers[:last]
	q.waiting--
	return true
}
