package listen

import (
	"errors"
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/shortline/shortline/edge/internal/proxyheader"
)

// proxied are the settings and counters of the PROXY protocol.
type proxied struct {
	trusted                       func(netip.Addr) bool
	missing, malformed, untrusted atomic.Uint64
}

// ProxyStats holds the counters of the PROXY protocol: connections that were closed.
type ProxyStats struct {
	Missing   uint64 // a trusted proxy sent something else
	Malformed uint64
	Untrusted uint64 // another client sent a PROXY header
}

// Proxied turns on the PROXY protocol, versions 1 and 2, on all ports. Connections from trusted addresses must begin with a
// PROXY header, and count as connections from the address in it. Those from other addresses must not. Call it after
// AwaitHeads and before Accept.
func (l *Listener) Proxied(trusted func(netip.Addr) bool) { l.proxied = &proxied{trusted: trusted} }

// ProxyStats returns the counters of the PROXY protocol, or nil if it is off.
func (l *Listener) ProxyStats() *ProxyStats {
	p := l.proxied
	if p == nil {
		return nil
	}
	return &ProxyStats{p.missing.Load(), p.malformed.Load(), p.untrusted.Load()}
}

// addrOf returns the IP address of the other end of a connection.
func addrOf(c net.Conn) netip.Addr {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// awaitProxy reads the PROXY header of a connection. It returns false if the connection must be closed.
func (c *conn) awaitProxy(p *proxied) bool {
	b := &c.buffered
	if c.secure != nil {
		b = &c.secure.ahead
	}
	trusted := p.trusted(addrOf(c))
	for {
		from, n, err := proxyheader.Parse(*b)
		switch {
		case errors.Is(err, proxyheader.ErrIncomplete):
			if c.more(b, proxyheader.MaxSize) != nil {
				return false // as any connection that sends nothing
			}
		case errors.Is(err, proxyheader.ErrNone):
			if trusted {
				p.missing.Add(1)
			}
			return !trusted
		case !trusted:
			p.untrusted.Add(1)
			return false
		case err != nil:
			p.malformed.Add(1)
			return false
		default:
			if from.IsValid() {
				c.from = net.TCPAddrFromAddrPort(from)
			}
			*b = (*b)[n:]
			return true
		}
	}
}
