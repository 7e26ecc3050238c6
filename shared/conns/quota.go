package conns

import (
	"net/netip"
	"sync"
)

// Quota limits how many of something one client may have at a time, such as request bodies that are still arriving.
// Its methods may be called concurrently. Clients are keys of package client.
type Quota struct {
	limit int
	mu    sync.Mutex
	taken map[netip.Addr]int
}

// NewQuota allows limit per client, at least one.
func NewQuota(limit int) *Quota { return &Quota{limit: max(limit, 1), taken: map[netip.Addr]int{}} }

// Take reports whether the client may have one more. If so, the caller must call Release once.
func (q *Quota) Take(client netip.Addr) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[client] >= q.limit {
		return false
	}
	q.taken[client]++
	return true
}

// Release gives back what Take took.
func (q *Quota) Release(client netip.Addr) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[client]--; q.taken[client] == 0 {
		delete(q.taken, client)
	}
}

// Taken is the sum over all clients.
func (q *Quota) Taken() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.taken {
		n += one
	}
	return n
}
