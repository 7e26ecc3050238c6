package redirect

import (
	"net"
	"net/netip"

	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

// clientIP returns the visitor's address for requests whose header nobody else scans.
func (h *Handler) clientIP(ctx *fasthttp.RequestCtx) netip.Addr {
	f := scanHeader(ctx.Request.Header.RawHeaders(), nil, true)
	return visitorIP(ctx.Conn(), f, h.cfg.Trusted)
}

func visitorIP(conn net.Conn, f facts, trusted visitor.Prefixes) netip.Addr {
	return visitor.ClientIP(peer(conn), f.forwarded, f.realIP, trusted)
}

// peer returns the address of the other end of a connection.
func peer(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr()
	}
	return netip.Addr{}
}
