package kit

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

// Limits are requests per minute and user, or per address for requests without a user. 0 means no limit.
type Limits struct {
	Default      int `env:"RATE_LIMIT_DEFAULT" envDefault:"100" help:"API requests per minute, for each user or address; 0 disables this and each of the following limits"`
	APIKeys      int `env:"RATE_LIMIT_API_KEYS" envDefault:"5" help:"API keys created per minute"`
	Webhooks     int `env:"RATE_LIMIT_WEBHOOKS" envDefault:"5" help:"webhook changes per minute"`
	WebhookRetry int `env:"RATE_LIMIT_WEBHOOK_RETRY" envDefault:"5" help:"manual webhook retries per minute"`
	Routing      int `env:"RATE_LIMIT_ROUTING" envDefault:"30" help:"routing rule requests per minute"`
	Variants     int `env:"RATE_LIMIT_VARIANTS" envDefault:"30" help:"variant requests per minute"`
	Analytics    int `env:"RATE_LIMIT_ANALYTICS" envDefault:"60" help:"analytics queries per minute"`
	Export       int `env:"RATE_LIMIT_EXPORT" envDefault:"10" help:"analytics exports per minute"`
	Conversions  int `env:"RATE_LIMIT_CONVERSIONS" envDefault:"1000" help:"requests with conversions per minute; each may have 1,000 conversions"`
	MCP          int `env:"RATE_LIMIT_MCP" envDefault:"300" help:"messages of MCP clients per minute; the endpoints behind their tools have their own limits"`
	Shared       int `env:"RATE_LIMIT_SHARED_REPORTS" envDefault:"600" help:"requests of viewers of shared reports per minute and address"`
	Reset        int `env:"RATE_LIMIT_PASSWORD_RESET" envDefault:"5" help:"password resets by e-mail per minute and address"`
}

// LimitName is one of the rate limits. Each endpoint has exactly one.
type LimitName uint8

const (
	LimitDefault LimitName = iota
	LimitAPIKeys
	LimitWebhooks
	LimitWebhookRetry
	LimitRouting
	LimitVariants
	LimitAnalytics
	LimitExport
	LimitPasswordReset
	LimitConversions
	LimitMCP
	LimitSharedReports
	NoLimit // for cheap requests, such as documents
)

func (l Limits) all() [NoLimit]int {
	return [NoLimit]int{l.Default, l.APIKeys, l.Webhooks, l.WebhookRetry, l.Routing, l.Variants, l.Analytics, l.Export, l.Reset,
		l.Conversions, l.MCP, l.Shared}
}

// limitNames are their names in metrics and, in capitals, in settings.
var limitNames = [NoLimit]string{"default", "api_keys", "webhooks", "webhook_retry", "routing", "variants", "analytics", "export",
	"password_reset", "conversions", "mcp", "shared_reports"}

func (l Limits) validate() (problems []error) {
	for i, n := range l.all() {
		if n < 0 {
			problems = append(problems, fmt.Errorf("RATE_LIMIT_%s: must not be negative", strings.ToUpper(limitNames[i])))
		}
	}
	return problems
}

const window = time.Minute

// limiter counts requests in windows of one minute that begin with a caller's first request. With PostgreSQL, all replicas
// share the counts in a table. If the table cannot be reached in time, and with SQLite, where there is only one process,
// the counts are in memory.
type limiter struct {
	store   *store.Store
	max     [NoLimit]int
	timeout time.Duration // of counting in the database

	mu     sync.Mutex
	counts map[string]count
	full   map[string]int64 // keys that have reached the limit in the shared table, and until when (ms)
	swept  int64
}

type count struct {
	n   int
	end int64 // ms
}

func newLimiter(st *store.Store, l Limits, timeout time.Duration) *limiter {
	return &limiter{store: st, max: l.all(), timeout: timeout, counts: map[string]count{}, full: map[string]int64{}}
}

// hit counts one request, and returns the number of requests in the window and the end of the window (ms).
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
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
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

// sweep removes windows that have ended, once per window. The caller holds mu.
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

// chargeLimit counts the request against one limit of the caller, adds the state of the limit to the response headers, and
// refuses the request if the limit is exceeded.
func (k *Kit) chargeLimit(c echo.Context, caller string, name LimitName) error {
	return k.takeOne(c, caller, name, 1)
}

// takeOne is take with a multiple of the limit. The response headers tell about the count that leaves fewer requests.
func (k *Kit) takeOne(c echo.Context, caller string, name LimitName, factor int) error {
	if name == NoLimit || k.limiter.max[name] == 0 {
		return nil
	}
	allowed := factor * k.limiter.max[name]
	n, end := k.limiter.hit(c.Request().Context(), strconv.Itoa(int(name))+"|"+caller, allowed)
	h := c.Response().Header()
	if left, err := strconv.Atoi(h.Get("X-RateLimit-Remaining")); err == nil && left <= allowed-n {
		return nil
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(allowed))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, allowed-n)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt((end+999)/1000, 10))
	if n <= allowed {
		return nil
	}
	k.metrics.limited.WithLabelValues(limitNames[name]).Inc()
	a := NewAnswer(http.StatusTooManyRequests, "Too many requests; try again later.")
	a.retryAfter = max(time.Second, time.Duration(end-store.Now())*time.Millisecond)
	return a
}
