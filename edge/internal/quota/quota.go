// Package quota counts the clicks of links with a limit, and decides whether one more may follow.
//
// Counts are in a memory-mapped file, so a process that is killed forgets none. A decision takes no lock, no allocation and
// no I/O. One process never grants more clicks than the limit. A count is taken before the click is recorded, so a process
// that is killed in between can only grant less. A power failure may lose the counts of the last 100 ms.
//
// Edges share counts through a limit.Exchange. An edge in contact grants a click while the clicks of all edges, as far as it
// knows, are below the limit. It is in contact for a second after each exchange. While clicks come, it makes an exchange
// every 100 ms, so all edges together exceed a limit by no more than the clicks of a second.
//
// An edge that is out of contact grants only its share: of the clicks that remained at its last exchange, divided by the
// number of live edges. The shares of all edges add up to what remained, so the limit also holds while the control plane is
// down. An edge that is cut off alone, or returns from a long time without contact, may exceed the limit by at most its
// share, because the others cannot know how much of it is used. An edge that has never had contact knows nothing, so it
// refuses clicks of limited links as Unknown.
//
// Other packages decide what counts as a click and answer the visitor (redirect), and know the links (table).
package quota

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/link"
)

// Config configures a Table. Dir is required.
type Config struct {
	// Dir holds the file of counts. Only one process may use it, and the caller locks it.
	Dir string
	// Exchange shares counts with other edges; nil means that this edge counts alone. Edge is this edge's id in reports.
	Exchange limit.Exchange
	Edge     string
	// Limited calls yield for every link that has a limit. Counters of other links are removed. nil means that none are.
	Limited func(yield func(link uint64, since int64)) error
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Verdict says whether a click may follow its link.
type Verdict uint8

// Verdicts.
const (
	Granted Verdict = iota // and counted
	Spent                  // the limit is reached, or this edge's share of it
	Unknown                // this edge cannot decide: it never had contact, or its disk is full
)

// Table holds the counters of limited links. It is safe for concurrent use. The nil Table grants everything.
type Table struct {
	cfg   Config
	start time.Time
	index atomic.Pointer[index]
	fleet atomic.Pointer[fleet]

	contact atomic.Int64 // nanoseconds since start until which this edge is in contact
	alone   atomic.Bool  // nothing shares counts with this edge
	resting atomic.Bool  // the next exchange is not due soon, because there are no clicks
	pending atomic.Bool  // there are counters in changed
	unsaved atomic.Bool  // the file has changed since the last sync
	changed atomic.Pointer[counter]
	wakeup  chan struct{} // capacity 1

	mu      sync.Mutex // for additions and removals of counters
	file    *file
	free    []*slot
	retry   []*counter // of an exchange that failed; only the exchanging goroutine uses it
	after   uint64     // cursor of the exchange, likewise
	learned bool       // all counts were received in this run, likewise

	granted, unknown, exchanges, failed atomic.Uint64
	reached                             atomic.Int64 // nanoseconds since start of the last successful exchange
}

// counter is the entry of the index for a slot in use.
type counter struct {
	slot   *slot
	num    uint64
	since  uint64
	seal   uint64
	queued atomic.Bool // it is in changed or in retry
	next   *counter    // in changed
	idle   bool        // the last sweep did not find the link; under mu
}

// index is a hash table of counters. Counters are only added to it; removals build another one.
type index struct {
	places []atomic.Pointer[counter] // a power of two, at most half in use
	used   int                       // under mu
}

const minPlaces = 256

func newIndex(counters int) *index {
	n := minPlaces
	for n < 2*counters {
		n *= 2
	}
	return &index{places: make([]atomic.Pointer[counter], n)}
}

func (x *index) find(num, since uint64) *counter {
	mask := uint64(len(x.places) - 1)
	for i := mix(num ^ since<<20); ; i++ {
		c := x.places[i&mask].Load()
		if c == nil || c.num == num && c.since == since {
			return c
		}
	}
}

func (x *index) insertCounter(c *counter) {
	mask := uint64(len(x.places) - 1)
	i := mix(c.num ^ c.since<<20)
	for x.places[i&mask].Load() != nil {
		i++
	}
	x.places[i&mask].Store(c)
	x.used++
}

// all calls fn for every counter.
func (x *index) all(fn func(*counter)) {
	for i := range x.places {
		if c := x.places[i].Load(); c != nil {
			fn(c)
		}
	}
}

// Open reads the file of counts. A damaged file is renamed and replaced by an empty one; the control plane still knows what
// this edge has reported.
func Open(cfg Config) (*Table, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the counters of limited links: %w", err)
	}
	q, err := openFile(cfg.Dir)
	if errors.Is(err, errDamaged) {
		cfg.Logger.Error("limit counters damaged", "error", err, "effect", "counts since the last exchange are lost")
		if err = setAside(cfg.Dir); err == nil {
			q, err = openFile(cfg.Dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the counters of limited links: %w", err)
	}
	t := &Table{cfg: cfg, start: time.Now(), wakeup: make(chan struct{}, 1), file: q}
	f, _ := q.fleet() // load has checked it
	t.fleet.Store(&f)
	t.alone.Store(cfg.Exchange == nil)
	t.contact.Store(-1)
	t.reached.Store(-1)
	x := newIndex(len(q.chunks) * chunkSlots)
	for _, chunk := range q.chunks {
		for i := range chunkSlots {
			s := slotAt(chunk, i)
			if s.seal == 0 {
				t.free = append(t.free, s)
				continue
			}
			c := &counter{slot: s, num: s.num, since: s.since, seal: s.seal}
			x.insertCounter(c)
			if own, _ := c.own(); own != c.sent() {
				t.enqueue(c)
			}
		}
	}
	t.index.Store(x)
	return t, nil
}

// Close writes the counts to the disk. The memory stays mapped, because a request that was cut off may still use it.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(flush(t.file.head, t.file.chunks), t.file.f.Close())
}

// own returns the clicks that were granted here, and the word that says so.
func (c *counter) own() (count, w uint64) {
	w = atomic.LoadUint64(&c.slot.own)
	return w >> checkBits, w
}

// others returns the clicks at other edges.
func (c *counter) others() uint64 { return atomic.LoadUint64(&c.slot.others) >> checkBits }

// sent returns the clicks of own that the control plane knows.
func (c *counter) sent() uint64 { return atomic.LoadUint64(&c.slot.sent) >> checkBits }

func (c *counter) setOthers(n uint64) {
	atomic.StoreUint64(&c.slot.others, word(c.seal, min(n, maxCount), placeOthers))
}

func (c *counter) setSent(n uint64) {
	atomic.StoreUint64(&c.slot.sent, word(c.seal, min(n, maxCount), placeSent))
}

// Take asks for one click of a link with a limit, and counts it if it is granted.
func (t *Table) Take(num uint64, l link.Limit) Verdict {
	if t == nil {
		return Granted
	}
	c := t.index.Load().find(num, uint64(l.Since))
	for {
		if c == nil {
			var err error
			if c, err = t.addLink(num, uint64(l.Since)); err != nil {
				return t.countVerdict(Unknown)
			}
		}
		bound, known := t.bound(c, num, l.Clicks)
		own, before := c.own()
		switch {
		case word(c.seal, own, placeOwn) != before: // the slot was freed after a sweep; the link is back
			c = nil
		case own < bound && own < maxCount:
			if atomic.CompareAndSwapUint64(&c.slot.own, before, word(c.seal, own+1, placeOwn)) {
				t.note(c)
				return t.countVerdict(Granted)
			}
		case known:
			return t.countVerdict(Spent)
		default:
			return t.countVerdict(Unknown)
		}
	}
}

func (t *Table) countVerdict(v Verdict) Verdict {
	switch v {
	case Granted:
		t.granted.Add(1)
	case Unknown:
		t.unknown.Add(1)
	}
	return v
}

// Spent reports whether Take would refuse a click because the limit is reached. It counts no click.
func (t *Table) Spent(num uint64, l link.Limit) bool {
	if t == nil {
		return false
	}
	spent := l.Clicks == 0
	if c := t.index.Load().find(num, uint64(l.Since)); c != nil {
		bound, known := t.bound(c, num, l.Clicks)
		own, _ := c.own()
		spent = known && own >= bound
	}
	return spent
}

// bound returns how many clicks this edge may grant in all. known is false if it cannot tell.
func (t *Table) bound(c *counter, num, clicks uint64) (bound uint64, known bool) {
	if t.alone.Load() || t.inContact() {
		return less(clicks, c.others()), true
	}
	f := t.fleet.Load()
	if f.edges == 0 {
		return 0, clicks == 0
	}
	sent := c.sent()
	remaining, edges := less(clicks, sent+c.others()), uint64(f.edges)
	share := remaining / edges
	// The rest of the division goes to some of the edges, to others for each link.
	if (uint64(f.rank)+num)%edges < remaining%edges {
		share++
	}
	return sent + share, true
}

func less(a, b uint64) uint64 {
	if a <= b {
		return 0
	}
	return a - b
}

// inContact reports whether the counts of other edges are at most a second old, or are being fetched since at most a
// second.
func (t *Table) inContact() bool {
	now := int64(time.Since(t.start))
	if now <= t.contact.Load() {
		return true
	}
	if !t.resting.Load() {
		return false
	}
	t.contact.Store(now + int64(contactFor)) // before resting, for others that call this
	t.resting.Store(false)
	t.wake()
	return true
}

// note schedules a counter for the next exchange and the file for the next sync.
func (t *Table) note(c *counter) {
	if !t.unsaved.Load() {
		t.unsaved.Store(true)
	}
	if t.cfg.Exchange != nil && !c.queued.Load() {
		t.enqueue(c)
	}
}

func (t *Table) enqueue(c *counter) {
	if !c.queued.CompareAndSwap(false, true) {
		return
	}
	for {
		c.next = t.changed.Load()
		if t.changed.CompareAndSwap(c.next, c) {
			break
		}
	}
	if !t.pending.Swap(true) {
		t.wake()
	}
}

func (t *Table) wake() {
	select {
	case t.wakeup <- struct{}{}:
	default:
	}
}

// addLink returns the counter of a link, and creates it if there is none.
func (t *Table) addLink(num, since uint64) (*counter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.index.Load()
	if c := x.find(num, since); c != nil {
		return c, nil
	}
	if len(t.free) == 0 {
		chunk, err := t.file.grow()
		if err != nil {
			t.cfg.Logger.Error("limit counters cannot grow", "error", err)
			return nil, err
		}
		for i := range chunkSlots {
			t.free = append(t.free, slotAt(chunk, i))
		}
	}
	s := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	s.occupy(t.file.id, num, since)
	c := &counter{slot: s, num: num, since: since, seal: s.seal}
	if 2*(x.used+1) > len(x.places) {
		grown := newIndex(2 * (x.used + 1))
		x.all(grown.insertCounter)
		x = grown
	}
	x.insertCounter(c)
	t.index.Store(x)
	return c, nil
}

// Stats holds counters since the start, and gauges.
type Stats struct {
	Granted   uint64 // clicks
	Unknown   uint64 // clicks refused because the edge could not decide
	Counters  int    // links with a counter now
	Exchanges uint64 // successful exchanges
	Failed    uint64 // failed exchanges, which are retried
	// Age is the time since the last successful exchange, or since the start if there was none. It is 0 for an edge that
	// counts alone.
	Age time.Duration
}

// Stats returns the counters.
func (t *Table) Stats() Stats {
	s := Stats{
		Granted: t.granted.Load(), Unknown: t.unknown.Load(), Exchanges: t.exchanges.Load(), Failed: t.failed.Load(),
	}
	if !t.alone.Load() {
		s.Age = time.Since(t.start) - max(0, time.Duration(t.reached.Load()))
	}
	t.mu.Lock()
	s.Counters = t.index.Load().used
	t.mu.Unlock()
	return s
}
