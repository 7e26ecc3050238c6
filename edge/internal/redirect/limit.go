package redirect

import (
	"hash/maphash"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/client"
	"github.com/valyala/fasthttp"
)

// A limiter remembers at most limitSets · limitWays clients in 1 MiB, which it allocates once.
const (
	limitSets    = 1 << 14 // a power of two
	limitWays    = 4       // clients in a set: a cache line
	limitStripes = 64      // locks over the sets, a power of two
)

// limiter counts the requests of clients. Each client may make a minute's worth of requests at once. A new client in
// a full set replaces the client with the smallest debt, so that many addresses cannot evict those that are over the
// limit.
type limiter struct {
	seed  maphash.Seed
	every int64 // nanoseconds that a request costs
	locks [limitStripes]struct {
		sync.Mutex
		_ [56]byte // one cache line each
	}
	sets [limitSets][limitWays]debtor
}

// debtor is a client and the time at which its debt of requests is paid off, in Unix nanoseconds.
type debtor struct {
	client uint64 // hash
	until  int64  // 0: unused
}

// newLimiter returns a limiter, or nil if perMinute is 0, which means no limit.
func newLimiter(perMinute int) *limiter {
	if perMinute <= 0 {
		return nil
	}
	return &limiter{seed: maphash.MakeSeed(), every: max(1, int64(time.Minute)/int64(perMinute))}
}

// take counts a request and returns 0. Over the limit it does not count, and returns how long the client must wait.
func (l *limiter) take(ip netip.Addr, now time.Time) (wait time.Duration) {
	key := client.Key(ip).As16()
	hash := maphash.Bytes(l.seed, key[:])
	at, set := now.UnixNano(), hash%limitSets
	lock := &l.locks[set%limitStripes]
	lock.Lock()
	defer lock.Unlock()
	ways := &l.sets[set]
	place := &ways[0]
	for i := range ways {
		if d := &ways[i]; d.client == hash {
			place = d
			break
		} else if d.until < place.until {
			place = d
		}
	}
	until := at
	// A debt of more than a minute comes from a clock that was set back, so ignore it.
	if place.client == hash && place.until > at && place.until <= at+int64(time.Minute) {
		until = place.until
	}
	if until += l.every; until > at+int64(time.Minute) {
		return time.Duration(until - at - int64(time.Minute))
	}
	*place = debtor{hash, until}
	return 0
}

// over answers 429 and returns true if the visitor is over the rate limit.
func (h *Handler) over(ctx *fasthttp.RequestCtx) bool {
	if h.limiter == nil {
		return false
	}
	w := h.pool.Get().(*work)
	f := scanHeader(ctx.Request.Header.RawHeaders(), w.forwarded[:0], len(h.cfg.Trusted) > 0)
	w.forwarded = f.forwarded
	ip := visitorIP(ctx, f, h.cfg.Trusted)
	h.pool.Put(w)
	return h.overAt(ctx, h.limiter, ip)
}

// overAt is over for a given limiter and address.
func (h *Handler) overAt(ctx *fasthttp.RequestCtx, l *limiter, ip netip.Addr) bool {
	wait := l.take(ip, h.now(ctx))
	if wait <= 0 {
		return false
	}
	h.tally.add(ctx.ConnID(), cLimited)
	h.answer(ctx, h.tooMany)
	var seconds [20]byte
	ctx.Response.Header.SetCanonical(nameRetryAfter, strconv.AppendInt(seconds[:0], wholeSeconds(wait), 10))
	return true
}

var nameRetryAfter = []byte("Retry-After")
