package redirect

import (
	"net"
	"net/netip"

	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

// clientIP returns the visitor's address for requests whose header nobody else scans.
func (h *Handler) clientIP(ctx *fasthttp.RequestCtx) netip.Addr {
	f := scanHeader(ctx.Request.Header.RawHeaders(), nil, h.proxies)
	return h.visitorIP(ctx.Conn(), &f)
}

func (h *Handler) visitorIP(conn net.Conn, f *facts) netip.Addr {
	return visitor.ClientIPFrom(h.cfg.ClientIPHeader, peer(conn), f.forwarded, f.realIP, h.cfg.Trusted)
}

// proxies says which header lines have the address of a visitor.
type proxies struct {
	usual bool   // X-Forwarded-For and X-Real-IP
	name  string // another header in lower case; "": none
}

// proxiesOf returns the header lines of which trusted proxies need to be asked for; none without such proxies.
func proxiesOf(cfg *Config) proxies {
	switch {
	case len(cfg.Trusted) == 0:
		return proxies{}
	case cfg.ClientIPHeader.Usual():
		return proxies{usual: true}
	}
	return proxies{name: cfg.ClientIPHeader.Name()}
}

// peer returns the address of the other end of a connection.
func peer(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr()
	}
	return netip.Addr{}
}
