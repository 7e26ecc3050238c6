package proxy

import (
	"net/netip"

	"github.com/shortline/shortline/shared/conns"
	"github.com/valyala/fasthttp"
)

// places limits a resource in total and per client. The caller holds a lock.
type places struct {
	most, taken int
	clients     *conns.Quota
}

func newPlaces(most, each int) places { return places{most: most, clients: conns.NewQuota(each)} }

// acquire takes a place for a client. It returns 0, or the status with which to reject the request.
func (p *places) acquire(from netip.Addr) int {
	if !p.clients.Take(from) {
		return fasthttp.StatusTooManyRequests
	}
	if p.taken >= p.most {
		p.clients.Release(from)
		return fasthttp.StatusServiceUnavailable
	}
	p.taken++
	return 0
}

func (p *places) release(from netip.Addr) {
	p.taken--
	p.clients.Release(from)
}
