package redirect

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/shortline/shortline/edge/internal/ratelimit"
	"github.com/valyala/fasthttp"
)

// refuseOverLimit answers 429 and returns true if the visitor is over the rate limit.
func (h *Handler) refuseOverLimit(ctx *fasthttp.RequestCtx) bool {
	if h.limiter == nil {
		return false
	}
	w := h.pool.Get().(*work)
	w.of(ctx, h.proxies)
	ip := h.visitorIP(w.conn, &w.facts)
	h.pool.Put(w)
	return h.refuseOverLimitOf(ctx, h.limiter, ip)
}

// refuseVisitOverLimit is refuseOverLimit for a redirect, with a limiter.
func (h *Handler) refuseVisitOverLimit(w *work, now time.Time) bool {
	wait := h.limiter.Take(w.event.IP, now)
	if wait > 0 {
		h.refuseFor(w.context(), wait)
	}
	return wait > 0
}

// refuseOverLimitOf is refuseOverLimit for a given limiter and address.
func (h *Handler) refuseOverLimitOf(ctx *fasthttp.RequestCtx, l *ratelimit.Limiter, ip netip.Addr) bool {
	wait := l.Take(ip, h.now(ctx))
	if wait > 0 {
		h.refuseFor(ctx, wait)
	}
	return wait > 0
}

// refuseFor answers 429 with the time to wait.
func (h *Handler) refuseFor(ctx *fasthttp.RequestCtx, wait time.Duration) {
	h.tally.add(ctx.ConnID(), cLimited)
	h.answer(ctx, h.pages.TooMany)
	var seconds [20]byte
	ctx.Response.Header.SetCanonical(nameRetryAfter, strconv.AppendInt(seconds[:0], wholeSeconds(wait), 10))
}

var nameRetryAfter = []byte("Retry-After")

// retryAfter returns a wait as the value of Retry-After, in seconds rounded up.
func retryAfter(d time.Duration) string { return strconv.FormatInt(wholeSeconds(d), 10) }

func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
