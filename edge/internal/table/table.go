// Package table holds all links of an edge in memory. A lookup by slug takes no lock and no allocation, and the links
// contain no pointers for the garbage collector to follow.
//
// The package owns the compact form of links, the index, live changes to the full set, compiled links (rules and
// variants), and images, in which an edge stores its links for its next start. It guarantees:
//
//   - A reader sees a whole state: the one before a change or the one after it.
//   - An Entry stays valid as long as it is referenced.
//   - A broken link does not affect other links. A link whose rules do not compile is set aside (see SetAside).
//
// The package does not decide where links come from, whether to trust them, where images are stored, or how to answer a
// visitor.
//
// # Structure
//
// A store is immutable. It consists of an arena of links, each a sequence of bytes, and an open-addressing index of 64-bit
// words (16 bits of the slug's hash, 48 bits of position). The full set is one large store, the base. Changes create small
// stores in front of the base. They hide its entries, are merged with each other as they come, and are merged into a new
// base by Fold. Readers load one pointer to an immutable list of stores.
//
// Arenas are ordinary garbage-collected memory. Large ones use huge pages. Memory outside the heap would save nothing,
// because the collector does not scan pointer-free memory, and the package would have to know when the last reader has
// left a page before it unmaps the page. On the heap, a string that points into an arena keeps the arena alive.
//
// Known weaknesses: Fold and Load need the old and the new set at the same time, so their peak is twice the memory. A
// string kept from an Entry keeps up to 32 MiB of arena alive, so keep copies.
package table

import (
	"cmp"
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"golang.org/x/sync/singleflight"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config configures a Table. The zero value is valid.
type Config struct {
	// Zone is the time zone of rules without one. nil means UTC.
	Zone *time.Location
	// PlanBytes is the approximate limit of the memory of compiled links. 0 means 128 MiB.
	PlanBytes int64
}

// Table is a set of links. It is safe for concurrent use. Readers never wait; writers wait for each other.
type Table struct {
	zone *time.Location
	seed seed
	now  atomic.Pointer[version]

	// The two cache levels of compiled links. A missing link is compiled again.
	front [frontSets]frontSet
	plans *ristretto.Cache[uint64, *Plan]

	compiling singleflight.Group // by plan key
	templates *decision.Templates

	mu    sync.Mutex       // for writers
	aside map[string]aside // links set aside, by slug; under mu
}

// version is one state of the table. It never changes once readers can see it.
type version struct {
	upper  []*store // changes, newest first; each shadows those after it
	frozen int      // how many of the last stores in upper are being folded into a new base
	base   *store

	generation uint64 // increases with each Load, because two incarnations may use the same revision for different links
	count      int
	hash       snapshot.StateHash
	cursor     snapshot.Cursor
}

// New returns an empty table. Call Close to stop the goroutines of its cache.
func New(cfg Config) (*Table, error) {
	cfg.Zone = cmp.Or(cfg.Zone, time.UTC)
	cfg.PlanBytes = cmp.Or(cfg.PlanBytes, 128<<20)
	plans, err := newPlanCache(cfg.PlanBytes)
	if err != nil {
		return nil, err
	}
	t := &Table{
		zone: cfg.Zone, seed: newSeed(), plans: plans, templates: decision.NewTemplates(rule.Options{Zone: cfg.Zone},
			maxTemplates),
		aside: map[string]aside{},
	}
	var none arena
	base, err := none.store(t.seed)
	if err != nil {
		return nil, err
	}
	t.now.Store(&version{base: base})
	return t, nil
}

// Close releases the cache of compiled links. The table must not be used afterwards.
func (t *Table) Close() { t.plans.Close() }

// Lookup finds a link by its exact slug. It does not keep slug.
func (t *Table) Lookup(slug []byte) (Entry, bool) {
	v := t.now.Load()
	b := v.find(t.seed.hash(slug), slug)
	if b == nil {
		return Entry{}, false
	}
	return readEntry(b, v.generation), true
}

// find returns a slice that starts with the link's bytes, or nil.
func (v *version) find(hash uint64, slug []byte) []byte {
	for _, s := range v.upper {
		if b := s.find(hash, slug); b != nil {
			if isTombstone(b) {
				return nil
			}
			return b
		}
	}
	return v.base.find(hash, slug)
}

// State describes the table at one moment.
type State struct {
	Cursor snapshot.Cursor
	Hash   snapshot.StateHash
	Links  int
}

// State returns the cursor, the fingerprint and the number of links of one version.
func (t *Table) State() State {
	v := t.now.Load()
	return State{Cursor: v.cursor, Hash: v.hash, Links: v.count}
}

// Len returns the number of links.
func (t *Table) Len() int { return t.now.Load().count }

// Cursor returns the position of the table's state. It is zero until the first Load.
func (t *Table) Cursor() snapshot.Cursor { return t.now.Load().cursor }

// StateHash returns the fingerprint of all published links. Setting a link aside does not change it.
func (t *Table) StateHash() snapshot.StateHash { return t.now.Load().hash }

// Bytes returns the memory of links and index, without compiled links.
func (t *Table) Bytes() int64 {
	v := t.now.Load()
	n := v.base.bytes()
	for _, s := range v.upper {
		n += s.bytes()
	}
	return n
}

// aside is the published form of a link that is set aside.
type aside struct {
	record link.Record
	why    error
}

// Aside is a link that is set aside, with the reason.
type Aside struct{ Slug, Reason string }

const (
	maxAside  = 100 // maximum number of links in the result of SetAside
	maxReason = 200 // maximum bytes of a reason, because a reason quotes parts of a rule
)

// SetAside returns up to 100 links whose rules did not compile, and how many there are. The table serves such a link
// with its previous rules or none. All its other fields are as published.
func (t *Table) SetAside() (links []Aside, count int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for slug, a := range t.aside {
		if len(links) == maxAside {
			break
		}
		reason := a.why.Error()
		if len(reason) > maxReason {
			reason = strings.ToValidUTF8(reason[:maxReason], "")
		}
		links = append(links, Aside{slug, reason})
	}
	return links, len(t.aside)
}

// Records calls begin with the cursor of the current state, then fn for every published link of that state, in no
// particular order. The next call overwrites the record, but its strings may be kept. Later changes are not visible.
// Records stops at the first error of begin or fn and returns it.
func (t *Table) Records(begin func(snapshot.Cursor) error, fn func(*link.Record) error) error {
	i := t.Image()
	if err := begin(i.Cursor()); err != nil {
		return err
	}
	return i.Records(fn)
}

// survivors calls fn for every link and tombstone of the layers that no newer layer hides. layers[0] is the newest.
func survivors(layers []*store, seed seed, fn func(b []byte) error) error {
	for i, s := range layers {
		newer := layers[:i]
		err := s.each(func(b []byte) error {
			slug := slugOf(b)
			hash := seed.hash(slug)
			for _, n := range newer {
				if n.find(hash, slug) != nil {
					return nil
				}
			}
			return fn(b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// merge merges several stores into one. layers[0] is the newest.
func merge(layers []*store, seed seed, keepTombstones bool) *store {
	var a arena
	_ = survivors(layers, seed, func(b []byte) error { // fn returns no errors
		if keepTombstones || !isTombstone(b) {
			copy(a.allocate(len(b)), b)
		}
		return nil
	})
	s, err := a.store(seed)
	if err != nil {
		panic("BUG: table: merged stores contain a duplicate slug: " + err.Error())
	}
	return s
}

// collectLarge runs the garbage collector after a store of the given size was dropped, if that is large. Otherwise two
// sets of links would stay in memory until the heap has doubled. A collection takes a few milliseconds, because arenas
// have no pointers.
func collectLarge(bytes int64) {
	if bytes >= 32<<20 {
		runtime.GC()
	}
}

// slot maps a hash evenly to one of n slots, without a division.
func slot(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}
