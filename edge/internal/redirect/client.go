package redirect

import (
	"net"
	"net/netip"

	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

// clientIP returns the visitor's address for requests whose header read does not scan.
func (h *Handler) clientIP(ctx *fasthttp.RequestCtx) netip.Addr {
	f := scanHeader(ctx.Request.Header.RawHeaders(), nil, true)
	return visitorIP(ctx, f, h.cfg.Trusted)
}

func visitorIP(ctx *fasthttp.RequestCtx, f facts, trusted visitor.Prefixes) netip.Addr {
	return visitor.ClientIP(peer(ctx), f.forwarded, f.realIP, trusted)
}

// peer returns the address of the other end of the socket.
func peer(ctx *fasthttp.RequestCtx) netip.Addr {
	if a, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr()
	}
	return netip.Addr{}
}
