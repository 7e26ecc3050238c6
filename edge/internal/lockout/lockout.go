// Package lockout decides whether a client may try the password of a link. It counts the attempts of each client at each
// link by the rules of shared/lockout, and shares the counts with other edges if it has a lockout.Exchange.
//
// Decisions come from memory, without waiting. Concurrent attempts cannot exceed the limit together. Memory is bounded: a
// flood of addresses can at worst evict other clients, who then get their free attempts again. Attempts at other edges
// arrive within about a second while the control plane is up, also after a restart. They can stop attempts that were
// granted but whose password was not compared yet. While the control plane is down, each edge counts for itself and
// reports its attempts afterwards.
//
// The caller compares passwords and reports the result. Known weaknesses: a client that tries passwords at n edges within
// the time of one report may get n more attempts. A report that is sent again because its answer was lost counts twice.
// A fake clock in Config must be the clock of the times that callers pass.
package lockout

import (
	"cmp"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/lockout"
)

const (
	shards     = 16
	maxInShard = 2048 // so at most 32,768 clients are kept, in about 7 MB
)

// Config has a working zero value: a table that is not shared.
type Config struct {
	// Exchange shares attempts with other edges; nil means that they are not shared. Edge is this edge's id in reports.
	Exchange lockout.Exchange
	Edge     string
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Table holds the failures of clients. It is safe for concurrent use.
type Table struct {
	cfg    Config
	seed   maphash.Seed
	wakeup chan struct{} // capacity 1: there are attempts to report
	after  uint64        // cursor of StateChanges; only the receiving goroutine uses it
	shards [shards]shard

	reported, received, failed atomic.Uint64
}

type shard struct {
	sync.Mutex
	m     map[lockout.Client]*entry
	dirty map[lockout.Client]struct{} // clients with attempts to report; may name clients that were evicted
}

// entry is the state of one client.
type entry struct {
	lockout.Failures      // at all edges as far as known, and at this one
	pending          int  // attempts granted here whose password was not compared yet
	unreported       int  // failures in Count that no report contains
	succeeded        bool // the client entered the right password and no report says so; unreported counts what came after

	inFlight    *lockout.Attempts // in the report that is being sent
	deferred    *lockout.State    // received while a report is in flight
	lastVersion uint64            // of the state that was applied last
}

// New returns an empty table.
func New(cfg Config) *Table {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	t := &Table{cfg: cfg, seed: maphash.MakeSeed(), wakeup: make(chan struct{}, 1)}
	for i := range t.shards {
		t.shards[i].m = make(map[lockout.Client]*entry)
		t.shards[i].dirty = make(map[lockout.Client]struct{})
	}
	return t
}

func (t *Table) shardOf(c lockout.Client) *shard {
	return &t.shards[maphash.Comparable(t.seed, c)%shards]
}

// Attempt is one granted attempt at a password. The caller calls Recheck before it compares the password, then Succeed if
// the password is right, and nothing if it is wrong. Cancel withdraws an attempt whose password is not compared.
type Attempt struct {
	table  *Table
	client lockout.Client
	free   bool // granted without a lockout before it
}

// Begin asks for one attempt. A granted attempt counts as a failure until Succeed or Cancel is called. If the client is
// locked out, wait is the remaining time, above 0.
func (t *Table) Begin(link uint64, from netip.Addr, now time.Time) (a Attempt, wait time.Duration) {
	c := lockout.ClientOf(link, from)
	s := t.shardOf(c)
	s.Lock()
	defer s.Unlock()
	e := s.m[c]
	if e != nil {
		if wait := e.LockedUntil().Sub(now); wait > 0 {
			return a, wait
		}
	} else {
		e = s.insertClient(c, now)
	}
	e.Failures = e.Add(1, now)
	e.pending++
	e.unreported++
	t.markDirty(s, c)
	return Attempt{t, c, e.Count <= lockout.Threshold}, 0
}

// Recheck decides again whether the password may be compared, since failures at other edges may have arrived while the
// attempt was queued. If not, the attempt is cancelled and wait is the time to the end of the lockout, above 0.
func (a Attempt) Recheck(now time.Time) (wait time.Duration) {
	s := a.table.shardOf(a.client)
	s.Lock()
	e := s.m[a.client]
	if e == nil { // evicted
		s.Unlock()
		return 0
	}
	// Pending attempts may still succeed or be cancelled, so they don't count here. After a lockout there is one attempt
	// at a time, so an attempt that is not free needs no check.
	known := e.Failures
	known.Count -= e.pending
	if !a.free || known.Count < lockout.Threshold {
		e.pending = max(0, e.pending-1)
		s.Unlock()
		return 0
	}
	wait = max(known.LockedUntil().Sub(now), time.Second)
	s.Unlock()
	a.Cancel()
	return wait
}

// Succeed forgets the client's failures: the password was right.
func (a Attempt) Succeed() {
	t := a.table
	s := t.shardOf(a.client)
	s.Lock()
	defer s.Unlock()
	e := s.m[a.client]
	if e == nil {
		return
	}
	if t.cfg.Exchange == nil || e.inFlight == nil && e.lastVersion == 0 && e.unreported == e.Count {
		s.drop(a.client) // no other edge knows of the failures
		return
	}
	e.Failures, e.unreported, e.succeeded = lockout.Failures{Last: e.Last}, 0, true
	t.markDirty(s, a.client)
}

// Cancel takes back an attempt whose password was not compared.
func (a Attempt) Cancel() {
	t := a.table
	s := t.shardOf(a.client)
	s.Lock()
	defer s.Unlock()
	e := s.m[a.client]
	if e == nil {
		return
	}
	e.pending = max(0, e.pending-1)
	if e.Count > 0 {
		e.Count--
		e.unreported--
	}
	t.markDirty(s, a.client)
	s.dropIdle(a.client, e)
}

// Stats holds counters since the start, and one gauge.
type Stats struct {
	Clients  int    // clients in the table now
	Reported uint64 // clients in reports that were acknowledged
	Received uint64 // states received from other edges
	Failed   uint64 // failed calls of the exchange, which are retried
}

// Stats returns the counters.
func (t *Table) Stats() Stats {
	st := Stats{Reported: t.reported.Load(), Received: t.received.Load(), Failed: t.failed.Load()}
	for i := range t.shards {
		s := &t.shards[i]
		s.Lock()
		st.Clients += len(s.m)
		s.Unlock()
	}
	return st
}

// insertClient inserts an entry and evicts another if the shard is full. The caller of this and of the methods below holds the
// shard's mutex.
func (s *shard) insertClient(c lockout.Client, now time.Time) *entry {
	if len(s.m) >= maxInShard {
		s.evict(now)
	}
	e := &entry{}
	s.m[c] = e
	return e
}

// evict removes entries whose failures no longer count. If there are none, it removes the entry whose lockout ends first.
func (s *shard) evict(now time.Time) {
	var victim lockout.Client
	var least time.Time
	found := false
	for c, e := range s.m {
		if now.After(e.ForgetAt()) {
			s.drop(c)
			continue
		}
		if until := e.LockedUntil(); !found || until.Before(least) {
			victim, least, found = c, until, true
		}
	}
	if found && len(s.m) >= maxInShard {
		s.drop(victim)
	}
}

func (s *shard) drop(c lockout.Client) {
	delete(s.m, c)
	delete(s.dirty, c)
}

// dropIdle removes an entry without failures and without anything to report.
func (s *shard) dropIdle(c lockout.Client, e *entry) {
	if e.Count == 0 && e.pending == 0 && e.unreported == 0 && !e.succeeded && e.inFlight == nil {
		s.drop(c)
	}
}
