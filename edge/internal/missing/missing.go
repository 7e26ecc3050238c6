// Package missing counts the slugs that visitors ask for and that do not exist.
//
// A Table keeps the Slots most frequent slugs in a fixed amount of memory, about 250 KiB. With at most Slots distinct slugs
// all counts are exact. With more, a slug that is not in the table is counted in a sketch (HeavyKeeper), in which a slug
// that is asked for once decays the counts of others only with a small probability that falls with the count. So a flood
// of random slugs neither grows the memory nor evicts slugs that are asked for steadily. The hash is keyed, so nobody can
// choose slugs that collide.
//
// Add never waits. While another goroutine uses the table, Add drops its sample and counts it.
//
// The table hands out its counts in numbered batches. A batch stays the same until it is acknowledged, so that the receiver
// can recognize a repetition by its number. What has not been acknowledged is lost with the process.
package missing

import (
	"cmp"
	"container/heap"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Slots is the number of slugs in a Table.
const Slots = snapshot.MaxMissing

// age is how often ranks are halved, so that slugs that nobody asks for any more leave the table.
const age = time.Hour

// Config has a working zero value.
type Config struct {
	// Every is the least time between two batches, and until a batch that was not acknowledged is handed out again; 0 means
	// one minute.
	Every time.Duration
	// Now is nil for time.Now.
	Now func() time.Time
}

// Table is safe for concurrent use.
type Table struct {
	cfg     Config
	seed    maphash.Seed
	dropped atomic.Uint64
	taken   atomic.Uint64

	mu     sync.Mutex
	index  map[uint64]int // positions in order, by the hash of the slug
	slots  [Slots]slot
	order  []uint16 // positions of used slots: a heap with the smallest rank first
	sketch sketch
	aged   time.Time

	batch  snapshot.Missing // not acknowledged yet if it has slugs
	handed time.Time
}

// slot is one slug of the table.
type slot struct {
	hash   uint64
	count  uint64 // since the last batch
	first  int64  // time of the first of these requests, in Unix milliseconds
	last   int64
	rank   uint32 // decides who leaves the table; halved as time passes
	host   string // "" is the default host
	domain uint64 // of host
	size   uint8
	text   [link.MaxSlug]byte
}

// New returns an empty Table.
func New(cfg Config) *Table {
	cfg.Every = cmp.Or(cfg.Every, time.Minute)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Table{cfg: cfg, seed: maphash.MakeSeed(), index: make(map[uint64]int, Slots), order: make([]uint16, 0, Slots), aged: cfg.Now()}
}

// Add counts one request for a slug that does not exist on a host, which belongs to a domain; "" and 0 are the default ones. It ignores
// what cannot be the slug of a link. It does not allocate once the table is full, and does not keep slug.
func (t *Table) Add(host string, domain uint64, slug []byte) {
	if !link.ValidSlug(slug) || reserved(slug) {
		return
	}
	if !t.mu.TryLock() {
		t.dropped.Add(1)
		return
	}
	defer t.mu.Unlock()
	t.taken.Add(1)
	now := t.cfg.Now().UnixMilli()
	hash := maphash.Bytes(t.seed, slug)
	if domain != 0 {
		hash ^= bits.RotateLeft64(maphash.Comparable(t.seed, domain), 1)
	}
	if at, ok := t.index[hash]; ok {
		s := &t.slots[t.order[at]]
		if s.count++; s.count == 1 {
			s.first = now
		}
		s.last = now
		if s.rank < math.MaxUint32 {
			s.rank++
		}
		heap.Fix(byRank{t}, at)
		return
	}
	if len(t.order) < Slots {
		n := uint16(len(t.order))
		t.slots[n].set(host, domain, slug, hash, 1, now)
		heap.Push(byRank{t}, n)
		return
	}
	n := t.sketch.countSlug(hash)
	if least := &t.slots[t.order[0]]; n > least.rank {
		t.sketch.forget(hash)
		delete(t.index, least.hash)
		least.set(host, domain, slug, hash, n, now)
		t.index[hash] = 0
		heap.Fix(byRank{t}, 0)
	}
}

// reserved reports whether the service itself uses the slug. Scanners ask for such paths, and no link can have them.
func reserved(slug []byte) bool {
	if len(slug) > len("favicon") {
		return false
	}
	return link.Reserved(string(slug)) // does not escape, so it does not allocate
}

// set begins to count a slug. The sketch knows no times, so those of n earlier requests are now.
func (s *slot) set(host string, domain uint64, slug []byte, hash uint64, n uint32, now int64) {
	s.host, s.domain, s.first, s.last = host, domain, now, now
	s.hash, s.count, s.rank = hash, uint64(n), n
	s.size = uint8(copy(s.text[:], slug))
}

// Batch returns the counts to report now, or nil. Until Acknowledge it returns the same batch again, at most once in
// Config.Every. The caller must not change the batch.
func (t *Table) Batch() *snapshot.Missing {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.cfg.Now()
	if now.Sub(t.aged) >= age {
		t.aged = now
		t.decay()
	}
	if !t.handed.IsZero() && now.Sub(t.handed) < t.cfg.Every {
		return nil
	}
	if len(t.batch.Slugs) == 0 {
		t.collect()
	}
	if len(t.batch.Slugs) == 0 {
		return nil
	}
	t.handed = now
	b := t.batch
	b.At = now.UnixMilli()
	return &b
}

// collect moves the counts of the slots to a new batch.
func (t *Table) collect() {
	var list []snapshot.MissingSlug
	for _, n := range t.order {
		if s := &t.slots[n]; s.count > 0 {
			list = append(list, snapshot.MissingSlug{
				Host: s.host, Domain: s.domain, Slug: string(s.text[:s.size]), Count: s.count, First: s.first, Last: s.last,
			})
			s.count = 0
		}
	}
	if len(list) > 0 {
		slices.SortFunc(list, func(a, b snapshot.MissingSlug) int {
			return cmp.Or(strings.Compare(a.Host, b.Host), cmp.Compare(a.Domain, b.Domain), strings.Compare(a.Slug, b.Slug))
		})
		t.batch = snapshot.Missing{Seq: t.batch.Seq + 1, Slugs: list}
	}
}

// Acknowledge drops the batch with a number. Other numbers have no effect.
func (t *Table) Acknowledge(seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq == t.batch.Seq {
		t.batch.Slugs = nil
	}
}

// decay halves all ranks and removes the slugs whose rank is 0 and whose counts were collected.
func (t *Table) decay() {
	t.sketch.halve()
	kept := make([]slot, 0, len(t.order))
	for _, n := range t.order {
		s := t.slots[n]
		if s.rank /= 2; s.rank > 0 || s.count > 0 {
			kept = append(kept, s)
		}
	}
	clear(t.index)
	t.order = t.order[:0]
	for n, s := range kept {
		t.slots[n] = s
		heap.Push(byRank{t}, uint16(n))
	}
}

// Stats are the counters of a Table.
type Stats struct {
	Slugs   int    // in the table now
	Counted uint64 // requests
	Dropped uint64 // requests that were not counted, because the table was in use
}

// Stats returns the counters.
func (t *Table) Stats() Stats {
	t.mu.Lock()
	n := len(t.order)
	t.mu.Unlock()
	return Stats{Slugs: n, Counted: t.taken.Load(), Dropped: t.dropped.Load()}
}

// byRank implements heap.Interface over the order of a Table and keeps its index.
type byRank struct{ t *Table }

func (h byRank) Len() int { return len(h.t.order) }

func (h byRank) Less(i, j int) bool {
	return h.t.slots[h.t.order[i]].rank < h.t.slots[h.t.order[j]].rank
}

func (h byRank) Swap(i, j int) {
	o := h.t.order
	o[i], o[j] = o[j], o[i]
	h.t.index[h.t.slots[o[i]].hash] = i
	h.t.index[h.t.slots[o[j]].hash] = j
}

func (h byRank) Push(x any) {
	n := x.(uint16)
	h.t.index[h.t.slots[n].hash] = len(h.t.order)
	h.t.order = append(h.t.order, n)
}

// Pop is required by heap.Interface. Slots are replaced, not popped.
func (h byRank) Pop() any { panic("BUG: a slot was popped") }

// Size of the sketch.
const (
	rows  = 2
	cells = 1 << 13 // a power of two
)

// sketch estimates how often each of many slugs was added. An estimate is never above the real number, except when the
// fingerprints of two slugs collide.
type sketch [rows][cells]cell

type cell struct{ print, count uint32 }

// places returns the cells of a hash, and the fingerprint in them.
func (s *sketch) places(hash uint64) (a, b *cell, print uint32) {
	return &s[0][hash%cells], &s[1][hash>>13%cells], uint32(hash >> 32)
}

// countSlug counts a slug and returns its estimate, at least 1.
func (s *sketch) countSlug(hash uint64) uint32 {
	a, b, print := s.places(hash)
	return max(a.countPrint(print), b.countPrint(print), 1)
}

// countPrint counts a fingerprint and returns its count, or 0 if the cell belongs to another one.
func (c *cell) countPrint(print uint32) uint32 {
	switch {
	case c.count == 0:
		*c = cell{print, 1}
	case c.print == print:
		if c.count < math.MaxUint32 {
			c.count++
		}
	case rand.Float64() >= math.Pow(1.08, -float64(min(c.count, 1000))):
		return 0
	default:
		if c.count--; c.count > 0 {
			return 0
		}
		*c = cell{print, 1}
	}
	return c.count
}

// forget removes a slug whose count moved to the table.
func (s *sketch) forget(hash uint64) {
	a, b, print := s.places(hash)
	for _, c := range []*cell{a, b} {
		if c.print == print {
			*c = cell{}
		}
	}
}

func (s *sketch) halve() {
	for i := range s {
		for j := range s[i] {
			s[i][j].count /= 2
		}
	}
}
