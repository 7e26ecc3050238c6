package table

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
)

// What stands before the cache, which takes a lock, now and then allocates, and forgets at will: frontSets sets
// of frontWays compiled links each. A link's key chooses the set.
const (
	frontSets = 2048
	frontWays = 4
)

// frontSet holds the plans for some keys. The tags only save looking at plans that can't match, which may be far from
// the processor: a tag and a plan may be seen out of step, and what the plan says of itself decides.
type frontSet struct {
	tags  [frontWays]atomic.Uint32
	plans [frontWays]atomic.Pointer[Plan]
}

// Plan is the compiled form of one revision of a link: what the redirect of anything but a plain link goes
// by. It is shared and must not be changed.
type Plan struct {
	num, revision, generation uint64 // of its link; first, next to what else every visit looks at
	decision.Plan
}

func newPlanCache(maxBytes int64) (*ristretto.Cache[uint64, *Plan], error) {
	// The cost of a plan is its size in bytes; ten counters for each that fits is the cache's own advice.
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, *Plan]{
		NumCounters:        max(1000, maxBytes/planOverhead*10),
		MaxCost:            maxBytes,
		BufferItems:        64,
		IgnoreInternalCost: true, // else the cache's own bookkeeping eats the budget
	})
	if err != nil {
		return nil, fmt.Errorf("table: cache of compiled links: %w", err)
	}
	return cache, nil
}

const planOverhead = 1 << 10

// Compiled gives the compiled form of a link that Lookup has found: from a cache, or made now. It is never
// nil. When it is in the cache's first level, which holds what is asked for most, it costs no lock and no
// allocation. A link whose rules don't compile has a plan without rules.
func (t *Table) Compiled(e *Entry) *Plan {
	key := e.planKey()
	set, tag := &t.front[key%frontSets], uint32(key>>24)|1
	for way := range set.tags {
		if set.tags[way].Load() != tag {
			continue
		}
		if p := set.plans[way].Load(); p != nil && p.is(e) {
			return p
		}
	}
	p, ok := t.plans.Get(key)
	if !ok || !p.is(e) {
		r := e.Record()
		var err error
		if p, err = compile(&r, rule.Options{Zone: t.zone}); err != nil {
			// Found when the link came and set aside then: what is stored compiles. Should it not, no rules is
			// still the right answer.
			r.Rules = nil
			p, _ = compile(&r, rule.Options{Zone: t.zone})
		}
		p.num, p.revision, p.generation = e.num, e.revision, e.generation
		// The cache may refuse. Then the plan is made again, or found in front.
		t.plans.Set(key, p, int64(planOverhead+p.Size()))
	}
	// A free place, or one that depends on the link: two that are asked for in turn then seldom drive each other out.
	way := key >> 32 % frontWays
	for free := range set.plans {
		if set.plans[free].CompareAndSwap(nil, p) {
			set.tags[free].Store(tag)
			return p
		}
	}
	set.tags[way].Store(tag)
	set.plans[way].Store(p)
	return p
}

// Prepare begins to fetch what Compiled will look at, if it is there. Compiled may follow a little later or not at all.
func (t *Table) Prepare(e *Entry) {
	key := e.planKey()
	set, tag := &t.front[key%frontSets], uint32(key>>24)|1
	for way := range set.tags {
		if set.tags[way].Load() == tag {
			prefetchLink(unsafe.Pointer(set.plans[way].Load()))
			return
		}
	}
}

// planKey mixes what names a plan. A clash costs a compilation, nothing else: is decides.
func (e *Entry) planKey() uint64 {
	k := (e.num*0x9e3779b97f4a7c15 ^ e.revision) * 0xd6e8feb86659fd93
	k = (k ^ k>>32 ^ e.generation) * 0xd6e8feb86659fd93
	return k ^ k>>32
}

func (p *Plan) is(e *Entry) bool {
	return p.num == e.num && p.revision == e.revision && p.generation == e.generation
}

func compile(r *link.Record, opts rule.Options) (*Plan, error) {
	p, err := decision.Compile(r, opts)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return &Plan{Plan: p.Compact()}, nil
}

// usable checks whether a link's rules compile. If not it says why, and gives the form to serve instead: the new
// record with the rules that the same link had before, which compiled when they came, or with none.
func (t *Table) usable(r *link.Record, before *version) (serve link.Record, why error) {
	if !r.SmartRouting || len(r.Rules) == 0 {
		return *r, nil
	}
	if why = decision.Check(r, rule.Options{Zone: t.zone}); why == nil {
		return *r, nil
	}
	serve = *r
	serve.Rules = nil
	if old, found := before.lookup(t.seed, r.Slug); found && old.Num() == r.Num && old.SmartRouting() {
		serve.Rules = old.Record().Rules
	}
	return serve, why
}

// checkable is what usable demands of a record before the table can hold it at all.
func checkable(r *link.Record) error {
	if r.Slug == "" || len(r.Slug) > snapshot.MaxSlug {
		return fmt.Errorf("table: link %d has a slug of %d bytes", r.Num, len(r.Slug))
	}
	return nil
}
