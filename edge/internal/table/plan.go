package table

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// The first cache level has frontSets sets of frontWays compiled links each. A link's key selects the set. The second
// level, a general cache, uses a lock, sometimes allocates, and evicts as it sees fit.
const (
	frontSets = 2048
	frontWays = 4
)

// frontSet holds the plans for some keys. The tags only avoid cache misses on plans that cannot match. A reader may
// see a tag and a plan of different writes, so it always compares the plan's own key.
type frontSet struct {
	tags  [frontWays]atomic.Uint32
	plans [frontWays]atomic.Pointer[Plan]
}

// Plan is the record of one revision of a link, and its chooser if the link's entry has none. Redirects use it for what is not
// in the entry. It is shared and must not be changed.
type Plan struct {
	num, revision, generation uint64 // of the link; in front, next to the other fields that every visit reads
	decision.Plan
	size int64 // in bytes, without the part that other plans may share
}

func newPlanCache(maxBytes int64) (*ristretto.Cache[uint64, *Plan], error) {
	// The cost of a plan is its size in bytes. The cache's documentation recommends ten counters per entry.
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, *Plan]{
		NumCounters:        max(1000, maxBytes/planOverhead*10),
		MaxCost:            maxBytes,
		BufferItems:        64,
		IgnoreInternalCost: true, // else the cache's own bookkeeping counts against the budget
	})
	if err != nil {
		return nil, fmt.Errorf("table: cache of compiled links: %w", err)
	}
	return cache, nil
}

const planOverhead = 1 << 10

// maxTemplates is how many compiled conditions are kept for links with the same ones; up to twice as many in between. Those of
// ten rules take one kilobyte. They are needed only while links arrive.
const maxTemplates = 1024

// Chooser returns the compiled rules and variants of a link with smart routing or A/B testing that Lookup has found. It sets
// own and returns it if they are in the entry, which they are unless they are very many. They refer to the table's memory, like
// the entry's strings. Chooser then takes no lock and no allocation.
func (t *Table) Chooser(e *Entry, own *decision.Chooser) *decision.Chooser {
	flat, rest := e.parts()
	if len(flat) == 0 {
		return &t.Compiled(e).Chooser
	}
	own.Open(flat, view(rest), e.destination)
	return own
}

// Compiled returns the compiled form of a link that Lookup has found, from a cache or newly compiled. The result is
// never nil. A hit in the first cache level, which holds the most visited links, takes no lock and no allocation. A
// link whose rules do not compile has a plan without rules.
func (t *Table) Compiled(e *Entry) *Plan {
	key := e.planKey()
	if p := t.inFront(key, e); p != nil {
		return p
	}
	p, ok := t.plans.Get(key)
	if !ok || !p.is(e) {
		return t.compileOnce(key, e)
	}
	t.toFront(key, p)
	return p
}

// inFront returns the plan of a link if the first cache level has it.
func (t *Table) inFront(key uint64, e *Entry) *Plan {
	set, tag := &t.front[key%frontSets], uint32(key>>24)|1
	for way := range set.tags {
		if set.tags[way].Load() != tag {
			continue
		}
		if p := set.plans[way].Load(); p != nil && p.is(e) {
			return p
		}
	}
	return nil
}

// toFront adds a plan to the first cache level.
func (t *Table) toFront(key uint64, p *Plan) {
	set, tag := &t.front[key%frontSets], uint32(key>>24)|1
	// Use a free way, else one that depends on the link, so that two alternating links seldom evict each other.
	way := key >> 32 % frontWays
	for free := range set.plans {
		if set.plans[free].CompareAndSwap(nil, p) {
			set.tags[free].Store(tag)
			return
		}
	}
	set.tags[way].Store(tag)
	set.plans[way].Store(p)
}

// compileOnce compiles a link. Callers that want the same link meanwhile wait for the result, because many visitors come at
// once when a link has become popular.
func (t *Table) compileOnce(key uint64, e *Entry) *Plan {
	var name [8]byte
	binary.LittleEndian.PutUint64(name[:], key)
	shared, _, _ := t.compiling.Do(string(name[:]), func() (any, error) {
		if p := t.inFront(key, e); p != nil {
			return p, nil // another caller has just finished
		}
		p := t.compile(e)
		// The general cache may reject the plan. The first level still holds it, or it is compiled again.
		t.plans.Set(key, p, planOverhead+p.size)
		t.toFront(key, p)
		return p, nil
	})
	if p := shared.(*Plan); p.is(e) {
		return p
	}
	return t.compile(e) // two links with the same key
}

func (t *Table) compile(e *Entry) *Plan {
	r := e.Record()
	p := &Plan{num: e.num, revision: e.revision, generation: e.generation}
	if flat, _ := e.parts(); len(flat) > 0 {
		p.Plan = (&decision.Plan{Record: r}).Compact() // the entry has the chooser
		p.size = int64(p.Size())
		return p
	}
	plan, shared, err := t.templates.Compile(&r)
	if err != nil {
		// This should not happen: links whose rules do not compile were set aside when they arrived. If it does, serve the
		// link without rules.
		r.Rules = nil
		plan, shared, _ = t.templates.Compile(&r)
	}
	p.Plan = plan
	p.size = int64(p.Size() - shared)
	return p
}

// Prepare starts to prefetch the memory that Chooser or Compiled will read. Neither need follow.
func (t *Table) Prepare(e *Entry) {
	if e.flags&decides != 0 {
		// Approach has prefetched the lines before these. The tail ends with the memory of its links, not with the link, so that
		// no pointer leads behind that memory, which the garbage collector would not accept.
		for at := cacheLine; at < min(prepared, len(e.tail)); at += 3 * cacheLine {
			prefetchLink(unsafe.Pointer(&e.tail[at]))
		}
		return
	}
	key := e.planKey()
	set, tag := &t.front[key%frontSets], uint32(key>>24)|1
	for way := range set.tags {
		if set.tags[way].Load() == tag {
			prefetchLink(unsafe.Pointer(set.plans[way].Load()))
			return
		}
	}
}

const (
	cacheLine = 64
	prepared  = 13 * cacheLine // bytes of the tail; the chooser of ten rules has 1 KB, most of which a visit reads
)

// planKey hashes the identity of a plan. A collision only costs a compilation, because the caller checks with is.
func (e *Entry) planKey() uint64 {
	k := (e.num*0x9e3779b97f4a7c15 ^ e.revision) * 0xd6e8feb86659fd93
	k = (k ^ k>>32 ^ e.generation) * 0xd6e8feb86659fd93
	return k ^ k>>32
}

func (p *Plan) is(e *Entry) bool {
	return p.num == e.num && p.revision == e.revision && p.generation == e.generation
}

// usable compiles a link's rules and variants. If the rules do not compile, it returns the reason and the record to serve
// instead: the new record with the previous rules of the same link, which did compile, or without rules.
func (t *Table) usable(r *link.Record, before *version) (serve link.Record, c decision.Chooser, why error) {
	if !r.SmartRouting && !r.ABTesting {
		return *r, c, nil
	}
	if c, why = t.templates.Chooser(r); why == nil {
		return *r, c, nil
	}
	serve = *r
	serve.Rules = nil
	if old, found := before.lookup(t.seed, r.Key); found && old.Num() == r.Num && old.SmartRouting() {
		serve.Rules = old.Record().Rules
	}
	var err error
	if c, err = t.templates.Chooser(&serve); err != nil {
		serve.Rules = nil
		c, _ = t.templates.Chooser(&serve) // without rules, nothing can be at fault
	}
	return serve, c, why
}

// checkable returns an error if the table cannot hold the record at all.
func checkable(r *link.Record) error {
	if r.Key == "" || len(r.Key) > snapshot.MaxKey {
		return fmt.Errorf("table: link %d has a key of %d bytes", r.Num, len(r.Key))
	}
	return nil
}
