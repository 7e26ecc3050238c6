// Package backoff computes the delays between retries: exponential, limited and randomized.
//
// It keeps no state, because callers count failures anyway, for their logs and metrics. (Libraries such as
// cenkalti/backoff hold the state of one loop instead.) Retries whose schedule is stored in the database, such as
// those of webhook deliveries, have a table of delays of their own.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Policy says how delays grow. First must be above 0.
type Policy struct {
	First time.Duration // the delay after the first failure; it doubles with each further one
	Most  time.Duration // the longest delay
}

// Limit is the longest delay after a number of consecutive failures, of which there is at least one.
func (p Policy) Limit(failures int) time.Duration {
	d := p.First
	for i := 1; i < failures && d < p.Most; i++ {
		d *= 2
	}
	return min(d, p.Most)
}

// Delay is the limit, shortened by up to a half at random. Use it where few clients share a server.
func (p Policy) Delay(failures int) time.Duration {
	d := p.Limit(failures)
	return d - rand.N(d/2+1)
}

// Spread is a random delay between First and twice the limit, at most Most. Use it where many clients lose the same
// server at once and must not return to it together.
func (p Policy) Spread(failures int) time.Duration {
	return p.First + rand.N(max(p.Limit(failures+1)-p.First, 0)+1)
}

// Sleep waits for d, or until ctx ends. It reports whether d has passed.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// LogWorthy reports whether a failure is worth a log line: the first, second, fourth, eighth and so on of a row. Hours
// of failures then take a few lines.
func LogWorthy(failures int) bool { return failures&(failures-1) == 0 }
