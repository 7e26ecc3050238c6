package auth

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/shortline/shortline/shared/client"
)

const (
	maxWaiting    = 256   // callers in one queue
	maxOfClient   = 16    // of one client: people behind one address who sign in at the same moment
	maxRemembered = 4_096 // clients whose latest turn is known
)

// ClientOf is who sends from an address, as far as guessing is concerned: an IPv4 address or an IPv6 /64, which one
// customer of a provider has whole.
func ClientOf(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	return client.Key(a).String()
}

type clientKey struct{}

// WithClient says which address a request comes from; see ClientOf. Passwords takes turns by it.
func WithClient(ctx context.Context, ip string) context.Context {
	return context.WithValue(ctx, clientKey{}, ClientOf(ip))
}

func clientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}

// fairQueue shares a few slots among clients. A free slot goes to the client whose latest turn is the longest ago, and
// to one that had none before all others. So a flood of guesses from many addresses delays somebody who has not been
// there before by one turn at most. It is safe for concurrent use.
type fairQueue struct {
	mu      sync.Mutex
	free    int
	waiting int
	turns   uint64
	arrived uint64
	clients map[string]*queued
}

// queued is one client's part of the queue.
type queued struct {
	callers []chan bool // in the order of their arrival; each is told once whether it has a slot
	latest  uint64      // turn; 0 means none that is remembered
	since   uint64      // when the first of them began to wait
}

func newFairQueue(slots int) *fairQueue {
	return &fairQueue{free: slots, clients: map[string]*queued{}}
}

// acquire waits for a slot until ctx ends, and reports whether the caller has one and must release it.
func (q *fairQueue) acquire(ctx context.Context, client string) bool {
	told, ok := q.enter(client)
	if !ok {
		return false
	}
	select {
	case has := <-told:
		return has
	case <-ctx.Done():
		return q.leave(client, told)
	}
}

func (q *fairQueue) enter(client string) (told chan bool, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.clients[client]
	if c == nil {
		c = &queued{}
	}
	if len(c.callers) >= maxOfClient || q.waiting >= maxWaiting && !q.makeRoom(len(c.callers)) {
		return nil, false
	}
	told = make(chan bool, 1)
	q.clients[client] = c
	if q.arrived++; len(c.callers) == 0 {
		c.since = q.arrived
	}
	c.callers = append(c.callers, told)
	q.waiting++
	q.hand()
	return told, true
}

// leave takes a caller out that no longer waits. It may have been told that it has a slot in the same moment.
func (q *fairQueue) leave(client string, told chan bool) (has bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case has := <-told:
		return has
	default:
	}
	c := q.clients[client]
	i := slices.Index(c.callers, told)
	c.callers = slices.Delete(c.callers, i, i+1)
	q.waiting--
	return false
}

// release gives a slot back.
func (q *fairQueue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.hand()
}

// hand gives free slots to those who wait.
func (q *fairQueue) hand() {
	for q.free > 0 && q.waiting > 0 {
		var next *queued
		for _, c := range q.clients {
			if len(c.callers) > 0 && (next == nil || c.latest < next.latest || c.latest == next.latest && c.since < next.since) {
				next = c
			}
		}
		q.free--
		q.waiting--
		q.turns++
		next.latest = q.turns
		next.callers[0] <- true
		next.callers = next.callers[1:]
	}
	if len(q.clients) > maxRemembered {
		maps.DeleteFunc(q.clients, func(_ string, c *queued) bool { return len(c.callers) == 0 })
	}
}

// makeRoom turns away the last caller of the client with the most of them, if that client has more than the one who
// asks.
func (q *fairQueue) makeRoom(than int) bool {
	var most *queued
	for _, c := range q.clients {
		if most == nil || len(c.callers) > len(most.callers) {
			most = c
		}
	}
	last := len(most.callers) - 1
	if last <= than {
		return false
	}
	most.callers[last] <- false
	most.callers = most.callers[:last]
	q.waiting--
	return true
}
