package certs

import (
	"context"
	"crypto/x509"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// delays are the times between orders that fail; the last one repeats.
var delays = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// delay returns how long to wait after a number of failures, at least 1. It is random, up to a fifth more than in the table.
func delay(failures int) time.Duration {
	d := delays[min(failures, len(delays))-1]
	return d + rand.N(d/5)
}

// fraction spreads host names evenly over [0, 1).
func fraction(name string) float64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	x := h.Sum64() // the upper bits of FNV vary little between names with the same end
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// between returns the point of an interval that belongs to a host name.
func between(from, to time.Time, name string) time.Time {
	return from.Add(time.Duration(fraction(name) * float64(to.Sub(from))))
}

// renewAt returns when to renew a certificate unless the authority says otherwise: at two thirds of its life, or up to a
// ninth of its life earlier. The name decides, so that certificates of the same day are not renewed at the same time.
func renewAt(leaf *x509.Certificate, name string) time.Time {
	life := leaf.NotAfter.Sub(leaf.NotBefore)
	due := leaf.NotBefore.Add(life * 2 / 3)
	return between(due.Add(-life/9), due, name)
}

const (
	// askEvery is how often the authority is asked when to renew a certificate.
	askEvery = 6 * time.Hour
	// soon is the least time between a new certificate and its renewal.
	soon = time.Hour
)

// plan returns when to renew a certificate and when to look at it again. It asks the authority (ARI, RFC 9773), and if it
// does not answer, uses renewAt. A window that begins after nine tenths of the life is too late to be trusted.
func (s *Service) plan(ctx context.Context, leaf *x509.Certificate, name string) (renew, look time.Time) {
	renew = renewAt(leaf, name)
	look = renew
	info, err := s.issuer.ask(ctx, leaf)
	if err != nil || !info.HasWindow() {
		return renew, look
	}
	latest := leaf.NotBefore.Add(leaf.NotAfter.Sub(leaf.NotBefore) * 9 / 10)
	if window := info.SuggestedWindow; window.Start.Before(latest) {
		renew = between(window.Start, window.End, name)
		if renew.After(latest) {
			renew = latest
		}
	}
	next := askEvery + rand.N(askEvery/4)
	if info.RetryAfter != nil {
		next = min(max(next, time.Until(*info.RetryAfter)), 24*time.Hour)
	}
	if look = s.cfg.Now().Add(next); renew.Before(look) {
		look = renew
	}
	return renew, look
}
