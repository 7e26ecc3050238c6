package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/store"
)

// Limits are requests a minute for one user, or for one address where nobody is signed in. 0 means no limit.
type Limits struct {
	Default      int `env:"RATE_LIMIT_DEFAULT" envDefault:"100" help:"API requests a minute, per user or address; 0 is off"`
	APIKeys      int `env:"RATE_LIMIT_API_KEYS" envDefault:"5" help:"API keys created a minute"`
	Webhooks     int `env:"RATE_LIMIT_WEBHOOKS" envDefault:"5" help:"webhook changes a minute"`
	WebhookRetry int `env:"RATE_LIMIT_WEBHOOK_RETRY" envDefault:"5" help:"manual webhook retries a minute"`
	Routing      int `env:"RATE_LIMIT_ROUTING" envDefault:"30" help:"routing rule requests a minute"`
	Variants     int `env:"RATE_LIMIT_VARIANTS" envDefault:"30" help:"variant requests a minute"`
	Analytics    int `env:"RATE_LIMIT_ANALYTICS" envDefault:"60" help:"analytics queries a minute"`
	Export       int `env:"RATE_LIMIT_EXPORT" envDefault:"10" help:"analytics exports a minute"`
}

// DefaultLimits are the documented ones.
func DefaultLimits() Limits {
	return Limits{Default: 100, APIKeys: 5, Webhooks: 5, WebhookRetry: 5, Routing: 30, Variants: 30, Analytics: 60, Export: 10}
}

// limitName is one of the counts that an endpoint can fall under. An endpoint falls under exactly one.
type limitName uint8

const (
	limitDefault limitName = iota
	limitAPIKeys
	limitWebhooks
	limitWebhookRetry
	limitRouting
	limitVariants
	limitAnalytics
	limitExport
	noLimit // documents and the like, which cost nothing
)

func (l Limits) all() [noLimit]int {
	return [noLimit]int{l.Default, l.APIKeys, l.Webhooks, l.WebhookRetry, l.Routing, l.Variants, l.Analytics, l.Export}
}

// limitNames are their names in metrics and, in capitals, in settings.
var limitNames = [noLimit]string{"default", "api_keys", "webhooks", "webhook_retry", "routing", "variants", "analytics", "export"}

func (l Limits) validate() (problems []error) {
	for i, n := range l.all() {
		if n < 0 {
			problems = append(problems, fmt.Errorf("RATE_LIMIT_%s: must not be negative", strings.ToUpper(limitNames[i])))
		}
	}
	return problems
}

const (
	window     = time.Minute
	countLimit = 250 * time.Millisecond // how long counting in the database may hold up a request
)

// limiter counts requests in windows of a minute that begin with a caller's first request. With Postgres the
// count is in a table that all replicas share; if that can't be reached in time, and with SQLite, where there
// is one process, it is in memory.
type limiter struct {
	store *store.Store
	max   [noLimit]int

	mu     sync.Mutex
	counts map[string]count
	full   map[string]int64 // keys known to be used up in the shared table, and until when (ms)
	swept  int64
}

type count struct {
	n   int
	end int64 // ms
}

func newLimiter(st *store.Store, l Limits) *limiter {
	return &limiter{store: st, max: l.all(), counts: map[string]count{}, full: map[string]int64{}}
}

// hit counts one request and returns how many there were in the window that ends at end (ms).
func (l *limiter) hit(ctx context.Context, key string, allowed int) (n int, end int64) {
	now := store.Now()
	if !l.store.Shared() {
		return l.local(key, now)
	}
	l.mu.Lock()
	until := l.full[key]
	l.mu.Unlock()
	if until > now {
		return allowed + 1, until
	}
	ctx, cancel := context.WithTimeout(ctx, countLimit)
	defer cancel()
	n, end, err := l.store.HitRate(ctx, key, now, now+window.Milliseconds())
	if err != nil {
		return l.local(key, now)
	}
	if n > allowed {
		l.mu.Lock()
		l.full[key] = end
		l.sweep(now)
		l.mu.Unlock()
	}
	return n, end
}

func (l *limiter) local(key string, now int64) (int, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	c := l.counts[key]
	if c.end <= now {
		c = count{end: now + window.Milliseconds()}
	}
	c.n++
	l.counts[key] = c
	return c.n, c.end
}

// sweep forgets windows that have ended, once a window; the caller holds mu.
func (l *limiter) sweep(now int64) {
	if now-l.swept < window.Milliseconds() {
		return
	}
	l.swept = now
	for k, c := range l.counts {
		if c.end <= now {
			delete(l.counts, k)
		}
	}
	for k, end := range l.full {
		if end <= now {
			delete(l.full, k)
		}
	}
}

// take counts the request against one limit of the caller, tells the caller in headers, and refuses what is too
// much.
func (s *Server) take(c echo.Context, caller string, name limitName) error {
	if name == noLimit {
		return nil
	}
	allowed := s.limiter.max[name]
	if allowed == 0 {
		return nil
	}
	n, end := s.limiter.hit(c.Request().Context(), strconv.Itoa(int(name))+"|"+caller, allowed)
	h := c.Response().Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(allowed))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, allowed-n)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt((end+999)/1000, 10))
	if n <= allowed {
		return nil
	}
	s.metrics.limited.WithLabelValues(limitNames[name]).Inc()
	a := newAnswer(http.StatusTooManyRequests, "Too many requests; try again later.")
	a.retryAfter = max(time.Second, time.Duration(end-store.Now())*time.Millisecond)
	return a
}
