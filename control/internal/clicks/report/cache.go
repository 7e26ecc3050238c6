package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// CacheConfig says how long reports are remembered. The zero value is usable.
type CacheConfig struct {
	// TTL is how long at most; 0 means 5 minutes.
	TTL time.Duration
	// Shared says that other processes store clicks too, which Cache.Clicked doesn't hear of: reports are then
	// remembered for SharedTTL at most.
	Shared bool
	// MaxBytes bounds the reports that are remembered, by their size as JSON; 0 means 64 MiB.
	MaxBytes int64
}

// SharedTTL is how old a remembered report may be where clicks are stored by other processes too.
const SharedTTL = 2 * time.Second

// Cache remembers reports until a click of the links that they are about is stored, or any link is changed. A report
// that was computed while that happened counts as older than the click. Answers are kept apart by who asks. It is
// safe for concurrent use.
type Cache struct {
	ttl     time.Duration
	reports *ristretto.Cache[string, *remembered]

	// Clicks are counted by link and by owner, many of each in one counter: two that share one only cost an answer
	// its place.
	all    atomic.Uint64
	links  [stripes]atomic.Uint64
	owners [stripes]atomic.Uint64

	hits, misses, stale atomic.Uint64
}

const stripes = 4096 // a power of two

// NewCache makes a Cache, to be closed when nobody asks any more.
func NewCache(cfg CacheConfig) (*Cache, error) {
	if cfg.TTL < 0 || cfg.MaxBytes < 0 {
		return nil, errors.New("ANALYTICS_CACHE_TTL: must not be negative")
	}
	if cfg.TTL == 0 {
		cfg.TTL = 5 * time.Minute
	}
	if cfg.Shared {
		cfg.TTL = min(cfg.TTL, SharedTTL)
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 64 << 20
	}
	const usual = 4 << 10 // bytes of a report; ten counters for each that has room
	reports, err := ristretto.NewCache(&ristretto.Config[string, *remembered]{
		NumCounters: max(1000, 10*cfg.MaxBytes/usual), MaxCost: cfg.MaxBytes, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of reports: %w", err)
	}
	return &Cache{ttl: cfg.TTL, reports: reports}, nil
}

// Close ends what the Cache does in the background.
func (c *Cache) Close() { c.reports.Close() }

// Clicked forgets what newly stored clicks have changed. It doesn't wait and keeps nothing of the rows.
func (c *Cache) Clicked(rows []analytics.Row) {
	if len(rows) == 0 {
		return
	}
	c.all.Add(1)
	for i := range rows {
		c.links[stripe(rows[i].Link)].Add(1)
		c.owners[stripe(rows[i].Owner)].Add(1)
	}
}

// stripe spreads dense numbers as they are.
func stripe(num uint64) uint64 { return num & (stripes - 1) }

// clicks is the counter of the clicks in a scope: of one link, of one owner, or of all.
func (c *Cache) clicks(scope analytics.Scope) *atomic.Uint64 {
	switch {
	case len(scope.Links) == 1:
		return &c.links[stripe(scope.Links[0])]
	case scope.Owner != 0:
		return &c.owners[stripe(scope.Owner)]
	}
	return &c.all
}

// moment is a state of what reports are made from.
type moment struct {
	clicks   uint64
	revision uint64 // of links
}

type remembered struct {
	at   time.Time // when its making began
	of   moment
	what any
}

// Caching is s with a memory. A nil cache remembers nothing.
func (s *Service) Caching(c *Cache) *Service {
	again := *s
	again.cache = c
	return &again
}

// recall answers with what is remembered and still true, or makes it. The scope says which clicks it is about; key
// holds everything else that the answer depends on, besides the links themselves.
func recall[T any](ctx context.Context, s *Service, p auth.Principal, scope analytics.Scope, key string, make func() (*T, error)) (*T, error) {
	c := s.cache
	if c == nil {
		return make()
	}
	revision, err := s.store.Revision(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the newest revision: %w", err)
	}
	key = fmt.Sprint(p.UserID, " ", p.Role, " ", scope.Links, " ", scope.Owner, " ", scope.Bots, " ", key)
	now := moment{c.clicks(scope).Load(), revision}
	at := time.Now()
	if r, ok := c.reports.Get(key); ok {
		if r.of == now && at.Sub(r.at) < c.ttl {
			c.hits.Add(1)
			return r.what.(*T), nil
		}
		c.stale.Add(1)
	} else {
		c.misses.Add(1)
	}
	made, err := make()
	if err != nil {
		return nil, err
	}
	size := int64(len(key))
	if text, err := json.Marshal(made); err == nil {
		size += int64(len(text))
	}
	c.reports.SetWithTTL(key, &remembered{at, now, made}, size, c.ttl)
	return made, nil
}

// key says what a report of a period depends on.
func key(what string, a Ask, p Period) string {
	return fmt.Sprint(what, " ", a.Limit, " ", a.open(), " ", int(p.First), " ", int(p.Last), " ", p.Zone)
}

var cacheDesc = prometheus.NewDesc("shortline_report_cache_lookups_total",
	"Reports that were asked for: remembered (hit), not remembered (miss), or remembered but out of date (stale).", []string{"result"}, nil)

// Describe and Collect make the Cache a prometheus.Collector.
func (c *Cache) Describe(ch chan<- *prometheus.Desc) { ch <- cacheDesc }

// Collect reads the counters.
func (c *Cache) Collect(ch chan<- prometheus.Metric) {
	for result, n := range map[string]*atomic.Uint64{"hit": &c.hits, "miss": &c.misses, "stale": &c.stale} {
		ch <- prometheus.MustNewConstMetric(cacheDesc, prometheus.CounterValue, float64(n.Load()), result)
	}
}
