// Package ratelimit limits how often clients, or holders of a key, may do something, in a fixed amount of memory.
package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/client"
)

// A Limiter remembers at most sets · ways clients in 1 MiB, which it allocates once.
const (
	sets    = 1 << 14 // a power of two
	ways    = 4       // clients in a set: a cache line
	stripes = 64      // locks over the sets, a power of two
)

// Limiter counts the requests of clients. Each client may make a minute's worth of requests at once. A new client in
// a full set replaces the client with the smallest debt, so that many addresses cannot evict those that are over the
// limit. It is safe for concurrent use.
type Limiter struct {
	seed  maphash.Seed
	every int64 // nanoseconds that a request costs
	locks [stripes]struct {
		sync.Mutex
		_ [56]byte // one cache line each
	}
	sets [sets][ways]debtor
}

// debtor is a client and the time at which its debt of requests is paid off, in Unix nanoseconds.
type debtor struct {
	client uint64 // hash
	until  int64  // 0: unused
}

// New returns a Limiter, or nil if perMinute is 0. A nil Limiter has no limit.
func New(perMinute int) *Limiter {
	if perMinute <= 0 {
		return nil
	}
	return &Limiter{seed: maphash.MakeSeed(), every: max(1, int64(time.Minute)/int64(perMinute))}
}

// Take counts a request and returns 0. Over the limit it does not count, and returns how long the client must wait.
func (l *Limiter) Take(ip netip.Addr, now time.Time) (wait time.Duration) {
	return l.TakeMany(ip, 1, now)
}

// TakeMany is Take for n requests at once, which count all or not at all. Each client can take a minute's worth of requests
// at once, so n must not be larger than that.
func (l *Limiter) TakeMany(ip netip.Addr, n int, now time.Time) (wait time.Duration) {
	if l == nil {
		return 0
	}
	key := client.Key(ip).As16()
	return l.takeTokens(maphash.Bytes(l.seed, key[:]), n, now)
}

// TakeKey is TakeMany for the holder of a key instead of a client.
func (l *Limiter) TakeKey(key string, n int, now time.Time) (wait time.Duration) {
	if l == nil {
		return 0
	}
	return l.takeTokens(maphash.String(l.seed, key), n, now)
}

func (l *Limiter) takeTokens(hash uint64, n int, now time.Time) (wait time.Duration) {
	at, set := now.UnixNano(), hash%sets
	lock := &l.locks[set%stripes]
	lock.Lock()
	defer lock.Unlock()
	in := &l.sets[set]
	place := &in[0]
	for i := range in {
		if d := &in[i]; d.client == hash {
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
	if until += int64(n) * l.every; until > at+int64(time.Minute) {
		return time.Duration(until - at - int64(time.Minute))
	}
	*place = debtor{hash, until}
	return 0
}
