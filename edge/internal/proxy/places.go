package proxy

import (
	"net/netip"

	"github.com/valyala/fasthttp"
)

// places limits a resource in total and per client. The caller holds a lock.
type places struct {
	most, each int
	taken      int
	clients    map[netip.Addr]int
}

func newPlaces(most, each int) places {
	return places{most: most, each: each, clients: map[netip.Addr]int{}}
}

// take takes a place for a client. It returns 0, or the status with which to reject the request.
func (p *places) take(from netip.Addr) int {
	switch {
	case p.clients[from] >= p.each:
		return fasthttp.StatusTooManyRequests
	case p.taken >= p.most:
		return fasthttp.StatusServiceUnavailable
	}
	p.taken++
	p.clients[from]++
	return 0
}

func (p *places) leave(from netip.Addr) {
	p.taken--
	if p.clients[from]--; p.clients[from] <= 0 {
		delete(p.clients, from)
	}
}
