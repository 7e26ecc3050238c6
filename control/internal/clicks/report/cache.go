package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/metric"
)

// CacheConfig has the limits of a Cache. The zero value is usable.
type CacheConfig struct {
	// TTL is how long a report is cached at most; 0 means 5 minutes.
	TTL time.Duration
	// Shared reports that other processes also store clicks, of which Cache.Clicked does not learn. Reports are then
	// cached for at most SharedTTL.
	Shared bool
	// MaxBytes limits the size of the cached reports, measured as JSON; 0 means 64 MiB.
	MaxBytes int64
}

// SharedTTL is the maximum age of a cached report if other processes also store clicks.
const SharedTTL = 2 * time.Second

// Cache keeps reports until a click on their links is stored, or any link changes. A report that was being computed at
// that moment counts as outdated. Entries are separate for each caller. A Cache is safe for concurrent use.
type Cache struct {
	metric.Set // makes it a prometheus.Collector

	ttl     time.Duration
	reports *ristretto.Cache[string, *remembered]

	// Changes are counted by link and by owner. Several of them share a counter; the only consequence is that an entry
	// may be dropped early.
	all    atomic.Uint64
	links  [stripes]atomic.Uint64
	owners [stripes]atomic.Uint64
	// unsure counts clicks whose link may have moved to another owner. They change every owner's reports.
	unsure  atomic.Uint64
	present atomic.Pointer[store.Owners] // nil before Caching

	hits, misses, stale atomic.Uint64
}

const stripes = 4096 // a power of two

// NewCache returns a Cache. The caller closes it when nobody uses it any more.
func NewCache(cfg CacheConfig) (*Cache, error) {
	if cfg.TTL < 0 || cfg.MaxBytes < 0 {
		return nil, errors.New("ANALYTICS_CACHE_TTL: must not be negative")
	}
	cfg.TTL = cmp.Or(cfg.TTL, 5*time.Minute)
	if cfg.Shared {
		cfg.TTL = min(cfg.TTL, SharedTTL)
	}
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 64<<20)
	const usual = 4 << 10 // assumed size of a report; ristretto wants ten counters per entry
	reports, err := ristretto.NewCache(&ristretto.Config[string, *remembered]{
		NumCounters: max(1000, 10*cfg.MaxBytes/usual), MaxCost: cfg.MaxBytes, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of reports: %w", err)
	}
	c := &Cache{ttl: cfg.TTL, reports: reports}
	const name, help = "shortline_report_cache_lookups_total",
		"Requested reports by result: cached (hit), not cached (miss), or cached but outdated (stale)."
	c.Set = metric.Set{
		metric.Total(name, help, c.hits.Load, "result", "hit"),
		metric.Total(name, help, c.misses.Load, "result", "miss"),
		metric.Total(name, help, c.stale.Load, "result", "stale"),
	}
	return c, nil
}

// Close stops the background work of the Cache.
func (c *Cache) Close() { c.reports.Close() }

// Clicked invalidates reports about newly stored clicks, or the clicks of newly stored conversions. It does not block and does not keep
// the rows.
func (c *Cache) Clicked(rows []analytics.Row) {
	if len(rows) == 0 {
		return
	}
	c.all.Add(1)
	present := c.present.Load()
	if present != nil && !present.Current() {
		c.unsure.Add(1)
	}
	for i := range rows {
		owner := rows[i].Owner
		if present != nil {
			owner = present.Of(rows[i].Link, owner)
		}
		c.links[stripe(rows[i].Link)].Add(1)
		c.owners[stripe(owner)].Add(1)
	}
}

// stripe returns the counter of a number. Numbers are dense, so they need no hashing.
func stripe(num uint64) uint64 { return num & (stripes - 1) }

// clicks returns a count that rises with the clicks of a scope: of one link, of one owner, or of everything.
func (c *Cache) clicks(scope analytics.Scope) uint64 {
	switch {
	case len(scope.Links) == 1:
		return c.links[stripe(scope.Links[0])].Load()
	case scope.Owner != 0:
		return c.owners[stripe(scope.Owner)].Load() + c.unsure.Load()
	}
	return c.all.Load()
}

// moment identifies the state of the data from which a report was made.
type moment struct {
	clicks   uint64
	revision uint64 // of the links
}

type remembered struct {
	at   time.Time // when its computation began
	of   moment
	what any
}

// Caching returns a copy of s that uses the cache. With a nil cache, nothing is cached. A Cache serves one store.
func (s *Service) Caching(c *Cache) *Service {
	again := *s
	again.cache = c
	if c != nil {
		c.present.Store(s.store.Owners())
	}
	return &again
}

// recall returns the cached report if it is current, and otherwise makes it. The scope selects the clicks of the
// report. key contains everything else on which the report depends, except the links themselves.
func recall[T any](ctx context.Context, s *Service, p auth.Principal, scope analytics.Scope, key string,
	make func() (*T, error)) (*T, error) {
	c := s.cache
	if c == nil {
		return make()
	}
	revision, err := s.store.Revision(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the newest revision: %w", err)
	}
	if owners := s.store.Owners(); scope.Owner != 0 && !owners.Cover(revision) {
		if err := owners.Refresh(ctx); err != nil { // otherwise Clicked counts clicks for former owners
			return nil, err
		}
	}
	if len(scope.Links) == 1 { // the key of other reports contains the filters that chose the links
		key = fmt.Sprint(scope.Links[0], " ", key)
	}
	key = fmt.Sprint(p.Scope(), " ", len(scope.Links), " ", scope.Owner, " ", scope.Bots, " ", key)
	now := moment{c.clicks(scope), revision}
	at := s.now()
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

// key returns the cache key of a report about a period.
func key(what string, a Ask, p Period) string {
	return fmt.Sprint(what, " ", a.Limit, " ", a.isOpen(), " ", int(p.First), " ", int(p.Last), " ", p.Zone, " ", p.From, " ", p.To, " ",
		p.Every, " ",
		a.Compare, " ", a.ofPeople, " ", a.ofBots, " ", strconv.Quote(a.Goal), " ", a.selected.key)
}
