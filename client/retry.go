package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Retry says how often a failed request is sent again, and how long the client waits before that. A field with its zero value counts
// as that of [DefaultRetry].
type Retry struct {
	Attempts int           // at most, with the first one; 1 means that nothing is repeated
	First    time.Duration // before the second attempt; it doubles for each further one
	Longest  time.Duration // between two attempts without Retry-After
	// LongestAsked limits Retry-After. If the server asks for a longer wait, the request fails at once.
	LongestAsked time.Duration

	// Tests can replace these. Nil means the real ones.
	Sleep  func(context.Context, time.Duration) error // until the time is over or the context ends
	Now    func() time.Time
	Jitter func() float64 // at least 0 and less than 1
}

// DefaultRetry is the policy of a client without [WithRetry]: four attempts within about four seconds, unless the server asks for more.
var DefaultRetry = Retry{Attempts: 4, First: 500 * time.Millisecond, Longest: 10 * time.Second, LongestAsked: time.Minute}

// NoRetry sends each request once.
var NoRetry = Retry{Attempts: 1}

// complete sets the fields that have their zero value.
func (r Retry) complete() Retry {
	return Retry{
		Attempts: cmp.Or(r.Attempts, DefaultRetry.Attempts), First: cmp.Or(r.First, DefaultRetry.First),
		Longest: cmp.Or(r.Longest, DefaultRetry.Longest), LongestAsked: cmp.Or(r.LongestAsked, DefaultRetry.LongestAsked),
		Sleep: r.Sleep, Now: r.Now, Jitter: r.Jitter,
	}
}

func (r Retry) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r Retry) sleep(ctx context.Context, d time.Duration) error {
	if r.Sleep != nil {
		return r.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// backoff returns the wait after a number of failed attempts: between a half and the whole of what doubling leads to, so that clients
// that failed together do not come back together.
func (r Retry) backoff(failed int) time.Duration {
	d := r.First
	for i := 1; i < failed && d < r.Longest; i++ {
		d *= 2
	}
	d = min(d, max(r.Longest, r.First))
	jitter := rand.Float64
	if r.Jitter != nil {
		jitter = r.Jitter
	}
	return d/2 + time.Duration(jitter()*float64(d/2))
}

// wait returns the wait after a failed attempt, and whether another one is permitted.
func (r Retry) wait(failed int, asked time.Duration) (time.Duration, bool) {
	if failed >= r.Attempts || asked > r.LongestAsked {
		return 0, false
	}
	return max(r.backoff(failed), asked), true
}

// retryAfter reads Retry-After, which has seconds or a date. It returns 0 without one.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// repeatable tells whether an attempt may be sent again after it failed with err, and notes whether it may have taken effect.
func (in *call) repeatable(err error) bool {
	if in.file != nil {
		return false // it was read
	}
	var failed *APIError
	if !errors.As(err, &failed) {
		var lost *lostError
		var dial *net.OpError
		var certificate *tls.CertificateVerificationError
		if !errors.As(err, &lost) || errors.As(err, &certificate) {
			return false // it would fail in the same way
		}
		if errors.As(err, &dial) && dial.Op == "dial" {
			return true // nothing was sent
		}
		in.uncertain = true
		return in.safe
	}
	switch failed.Status {
	case http.StatusTooManyRequests:
		return true // it had no effect
	case http.StatusConflict:
		return failed.Code == CodeIdempotencyRunning
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		in.uncertain = true
		return in.safe
	case http.StatusServiceUnavailable:
		return in.safe
	}
	return false
}
