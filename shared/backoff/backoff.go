// Package backoff computes the delays between retries: exponential, limited and randomized.
//
// It keeps no state, because callers count failures anyway, for their logs and metrics. (Libraries such as
// cenkalti/backoff hold the state of one loop instead.) Retries whose schedule is stored in the database, such as
// those of webhook deliveries, have a table of delays of their own.
package backoff

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
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

// RetryAfter parses the value of a Retry-After header: whole seconds, or a date. now is the time to which a date is compared.
// The result is at most most, because a peer could otherwise stop its clients for years. It is 0 if text has neither form, or
// if the date has passed.
func RetryAfter(text string, now time.Time, most time.Duration) time.Duration {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(n, 0), int64(most/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), most)
	}
	return 0
}

// LogWorthy reports whether a failure is worth a log line: the first, second, fourth, eighth and so on of a row. Hours
// of failures then take a few lines.
func LogWorthy(failures int) bool { return failures&(failures-1) == 0 }
