// Package table holds every link an edge knows, in memory, and finds one by its slug without a lock, an
// allocation or a pointer for the garbage collector to follow.
//
// It owns the compact form of a link, the index over it, the live changes laid over the full set, the compiled
// form (rules, variants) of the links that have one, and images, in which a program keeps its links for its next
// start. It promises that a reader sees a whole state: the one before or the one after a change, never part of
// it; that an Entry stays valid for as long as it is held; and that no link, however broken, does harm to
// another: one whose rules don't compile is set aside (see SetAside). It leaves to others where the links come
// from, whether to believe them, where images are kept, and what to answer.
//
// # Shape
//
// A store is immutable: an arena of links, each a run of bytes, and an open-addressing index of 64-bit words
// (16 bits of the slug's hash, 48 bits of position). The full set is one large store, the base. Changes make
// small stores in front of it, which shadow it, are merged among each other as they come, and are folded into
// a new base by Fold. What readers use is one pointer to an immutable list of stores.
//
// Arenas are ordinary garbage-collected memory, backed by huge pages where they are large. Mapping them
// outside the heap would save nothing (the collector doesn't look into pointer-free memory) and would need an
// answer to when a reader is done with an unmapped page; so a string that points into an arena keeps it alive,
// and nothing else is needed.
//
// Known weaknesses: Fold and Load hold the old and the new set for a moment, so their peak is twice the
// memory; and a string kept from an Entry keeps up to 32 MiB of arena alive, so keep copies.
package table

import (
	"hash/maphash"
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config has a useful zero value.
type Config struct {
	// Zone is the zone of rules that name none. nil means UTC.
	Zone *time.Location
	// PlanBytes bounds the memory of compiled links, roughly. 0 means 32 MiB.
	PlanBytes int64
}

// Table is safe for concurrent use. Readers never wait; writers wait for each other.
type Table struct {
	zone *time.Location
	seed maphash.Seed
	now  atomic.Pointer[version]

	// The two levels of compiled links. Neither is the truth: what is missing is compiled again.
	front [frontSets]frontSet
	plans *ristretto.Cache[uint64, *Plan]

	mu    sync.Mutex       // for writers
	aside map[string]aside // under mu: links set aside, by slug
}

// version is one state of the table. It never changes once readers can see it.
type version struct {
	upper  []*store // changes, newest first; each shadows those after it
	frozen int      // the last so many of upper are being folded into a new base
	base   *store

	generation uint64 // one more at each Load: revisions of two incarnations may be equal and mean different links
	count      int
	hash       snapshot.StateHash
	cursor     snapshot.Cursor
}

// New makes an empty table. Close it to stop what the cache of compiled links runs.
func New(cfg Config) (*Table, error) {
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	if cfg.PlanBytes == 0 {
		cfg.PlanBytes = 32 << 20
	}
	plans, err := newPlanCache(cfg.PlanBytes)
	if err != nil {
		return nil, err
	}
	t := &Table{zone: cfg.Zone, seed: maphash.MakeSeed(), plans: plans, aside: map[string]aside{}}
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

// Lookup finds a link by its slug, exactly as written. It doesn't keep slug.
func (t *Table) Lookup(slug []byte) (Entry, bool) {
	v := t.now.Load()
	b := v.find(maphash.Bytes(t.seed, slug), slug)
	if b == nil {
		return Entry{}, false
	}
	return readEntry(b, v.generation), true
}

// find returns the bytes that start with the link's, or nil.
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

// State is what the table says of itself at one moment.
type State struct {
	Cursor snapshot.Cursor
	Hash   snapshot.StateHash
	Links  int
}

// State gives cursor, fingerprint and number of links of one and the same version.
func (t *Table) State() State {
	v := t.now.Load()
	return State{Cursor: v.cursor, Hash: v.hash, Links: v.count}
}

// Len is the number of links.
func (t *Table) Len() int { return t.now.Load().count }

// Cursor is the position that the table's state stands for: zero until the first Load.
func (t *Table) Cursor() snapshot.Cursor { return t.now.Load().cursor }

// StateHash is the fingerprint of all links, as they came: setting one aside doesn't change it.
func (t *Table) StateHash() snapshot.StateHash { return t.now.Load().hash }

// Bytes is the memory of links and index. Compiled links come on top.
func (t *Table) Bytes() int64 {
	v := t.now.Load()
	n := v.base.bytes()
	for _, s := range v.upper {
		n += s.bytes()
	}
	return n
}

// aside is a link set aside, as it came.
type aside struct {
	record link.Record
	why    error
}

// Aside names a link that is set aside, and says why.
type Aside struct{ Slug, Reason string }

const (
	maxAside  = 100 // links that SetAside names
	maxReason = 200 // bytes of a reason: a rule may be long, and what is wrong with it is told with its path
)

// SetAside names up to 100 links whose rules did not compile, and tells how many there are. Such a link
// serves the rules it had before, or none; everything else about it is as published.
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

// Records calls begin with the cursor of one state of the table, then fn for every link of it, as it was published,
// in no particular order. The record is overwritten by the next; its strings may be kept. Changes
// that happen meanwhile are not seen. An error of either ends it.
func (t *Table) Records(begin func(snapshot.Cursor) error, fn func(*link.Record) error) error {
	i := t.Image()
	if err := begin(i.Cursor()); err != nil {
		return err
	}
	return i.Records(fn)
}

// survivors yields every link and tombstone of the layers, newest first, that no newer layer shadows.
func survivors(layers []*store, seed maphash.Seed, fn func(b []byte) error) error {
	for i, s := range layers {
		newer := layers[:i]
		err := s.each(func(b []byte) error {
			slug := slugOf(b)
			hash := maphash.Bytes(seed, slug)
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

// merge makes one store of several, newest first.
func merge(layers []*store, seed maphash.Seed, keepTombstones bool) *store {
	var a arena
	_ = survivors(layers, seed, func(b []byte) error { // fn has no error to give
		if keepTombstones || !isTombstone(b) {
			copy(a.take(len(b)), b)
		}
		return nil
	})
	s, err := a.store(seed)
	if err != nil {
		panic("BUG: table: merged stores hold a slug twice: " + err.Error())
	}
	return s
}

// collectLarge runs a collection if a store of this size has just been let go, so that two sets of links
// don't stay in memory until the heap has doubled. With pointer-free arenas it takes a few milliseconds.
func collectLarge(bytes int64) {
	if bytes >= 32<<20 {
		runtime.GC()
	}
}

// slot maps a hash to one of n slots, evenly, without a division and for any n.
func slot(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}
