// Package lock is who may guess the password of a link now. It counts guesses of each client at each link by the rules
// of package guess, and shares the counts with other edges through a guess.Exchange where it has one.
//
// It promises that a guess is granted or refused at once, from memory; that guesses made at the same time can't slip
// past the limit together; and that memory is bounded, so that a flood of addresses can at worst give others back their
// free guesses. What other edges know comes within about a second while the control plane is there, also after a restart,
// and refuses guesses that were granted but not looked at yet. While it is away each edge counts for itself, and tells
// the rest afterwards.
//
// It leaves to the caller to look at a password, and to say what came of it. Known weaknesses: a client that guesses at n
// edges within the time that a report takes may have n guesses more; a report that is made twice because its answer got
// lost counts twice; the two clocks of a fake time and of reports must be one.
package lock

import (
	"hash/maphash"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/guess"
)

const (
	shards     = 16
	maxInShard = 2048 // so at most 32,768 clients are remembered, in about 7 MB
)

// Config has a working zero value: a table that nobody shares.
type Config struct {
	// Exchange is how others are told; nil for nobody. Edge is what this one is called there.
	Exchange guess.Exchange
	Edge     string
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Table is for any number of goroutines.
type Table struct {
	cfg     Config
	seed    maphash.Seed
	waiting chan struct{} // capacity 1: there is something to tell
	after   uint64        // the mark of what was heard last; the listener's
	shards  [shards]shard

	told, learned, failed atomic.Uint64
}

type shard struct {
	sync.Mutex
	m     map[guess.Client]*entry
	dirty map[guess.Client]struct{} // those with something to tell; maybe some that are gone
}

// entry is what is remembered of a client.
type entry struct {
	guess.Tries      // of all edges, as far as known, and of this one
	open        int  // granted here and not looked at yet
	untold      int  // of Count, what no report has
	right       bool // it knew the password, which no report says; untold is what came after

	sent     *guess.Told     // on its way
	heard    *guess.Standing // meanwhile
	lastMark uint64          // of the standing that was taken last
}

// New makes an empty table.
func New(cfg Config) *Table {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	t := &Table{cfg: cfg, seed: maphash.MakeSeed(), waiting: make(chan struct{}, 1)}
	for i := range t.shards {
		t.shards[i].m = make(map[guess.Client]*entry)
		t.shards[i].dirty = make(map[guess.Client]struct{})
	}
	return t
}

func (t *Table) of(c guess.Client) *shard {
	return &t.shards[maphash.Comparable(t.seed, c)%shards]
}

// Guess is one that was granted. Stands is asked before it is looked at. Then Right is called if it was right, and nothing
// if it was wrong; Undo, if it isn't looked at after all.
type Guess struct {
	table  *Table
	client guess.Client
	free   bool // there was no lock before it
}

// Take asks for one guess. A guess that is granted counts as a failure until Right or Undo says otherwise. If it isn't
// granted, wait is how long the lock has still to go, more than 0.
func (t *Table) Take(link uint64, from netip.Addr, now time.Time) (g Guess, wait time.Duration) {
	c := guess.ClientOf(link, from)
	s := t.of(c)
	s.Lock()
	defer s.Unlock()
	e := s.m[c]
	if e != nil {
		if wait := e.Until().Sub(now); wait > 0 {
			return g, wait
		}
	} else {
		e = s.add(c, now)
	}
	e.Tries = e.With(1, now)
	e.open++
	e.untold++
	t.tell(s, c)
	return Guess{t, c, e.Count <= guess.Free}, 0
}

// Stands reports whether the guess, which may have waited, may be looked at, now that more may be known of its client.
// If not, the guess is undone, and wait is for how long there are no others, more than 0.
func (g Guess) Stands(now time.Time) (wait time.Duration) {
	s := g.table.of(g.client)
	s.Lock()
	e := s.m[g.client]
	if e == nil { // it made room for others
		s.Unlock()
		return 0
	}
	// What isn't looked at yet may turn out to be right or be undone. A guess after a lock is alone until the next one.
	known := e.Tries
	known.Count -= e.open
	if !g.free || known.Count < guess.Free {
		e.open = max(0, e.open-1)
		s.Unlock()
		return 0
	}
	wait = max(known.Until().Sub(now), time.Second)
	s.Unlock()
	g.Undo()
	return wait
}

// Right forgets what is held against the client, who knows the password.
func (g Guess) Right() {
	t := g.table
	s := t.of(g.client)
	s.Lock()
	defer s.Unlock()
	e := s.m[g.client]
	if e == nil {
		return
	}
	if t.cfg.Exchange == nil || e.sent == nil && e.lastMark == 0 && e.untold == e.Count {
		s.drop(g.client) // nobody has heard of it
		return
	}
	e.Tries, e.untold, e.right = guess.Tries{Last: e.Last}, 0, true
	t.tell(s, g.client)
}

// Undo takes back a guess that was never looked at.
func (g Guess) Undo() {
	t := g.table
	s := t.of(g.client)
	s.Lock()
	defer s.Unlock()
	e := s.m[g.client]
	if e == nil {
		return
	}
	e.open = max(0, e.open-1)
	if e.Count > 0 {
		e.Count--
		e.untold--
	}
	t.tell(s, g.client)
	s.dropIdle(g.client, e)
}

// Stats counts since the start; Clients is a gauge.
type Stats struct {
	Clients int    // that are remembered
	Told    uint64 // tries of clients that other edges were told of
	Learned uint64 // standings that came from others
	Failed  uint64 // exchanges that failed, which are made again
}

// Stats gives the counters.
func (t *Table) Stats() Stats {
	st := Stats{Told: t.told.Load(), Learned: t.learned.Load(), Failed: t.failed.Load()}
	for i := range t.shards {
		s := &t.shards[i]
		s.Lock()
		st.Clients += len(s.m)
		s.Unlock()
	}
	return st
}

// add makes an entry, and room for it. The shard is locked, as for all below.
func (s *shard) add(c guess.Client, now time.Time) *entry {
	if len(s.m) >= maxInShard {
		s.makeRoom(now)
	}
	e := &entry{}
	s.m[c] = e
	return e
}

// makeRoom forgets what counts for nothing any more, or else the one that has the least lock left.
func (s *shard) makeRoom(now time.Time) {
	var victim guess.Client
	var least time.Time
	found := false
	for c, e := range s.m {
		if now.After(e.ForgetAt()) {
			s.drop(c)
			continue
		}
		if until := e.Until(); !found || until.Before(least) {
			victim, least, found = c, until, true
		}
	}
	if found && len(s.m) >= maxInShard {
		s.drop(victim)
	}
}

func (s *shard) drop(c guess.Client) {
	delete(s.m, c)
	delete(s.dirty, c)
}

// dropIdle lets go of an entry that holds nothing.
func (s *shard) dropIdle(c guess.Client, e *entry) {
	if e.Count == 0 && e.open == 0 && e.untold == 0 && !e.right && e.sent == nil {
		s.drop(c)
	}
}
