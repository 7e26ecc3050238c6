package redirect

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Rules of the lock on guesses, from the contract: five failures by one address on one link within ten minutes
// lock it for 30 s, and each further failure for twice as long, up to 15 minutes.
const (
	freeGuesses = 5
	guessWindow = 10 * time.Minute
	firstLock   = 30 * time.Second
	longestLock = 15 * time.Minute
)

const (
	lockShards   = 16
	locksInShard = 2048 // so at most 32,768 addresses are remembered, in about 4 MB
)

// guesser is one address at one link. Of an IPv6 address only the /64 counts, since one household has all of it.
type guesser struct {
	link uint64
	from netip.Addr
}

func guesserOf(link uint64, ip netip.Addr) guesser {
	if ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			ip = p.Addr()
		}
	}
	return guesser{link, ip}
}

// tries is what is remembered of a guesser.
type tries struct {
	count  int       // guesses that were not right, or whose outcome isn't known yet
	last   time.Time // of the latest one
	locked time.Time // no guess before this
}

// forgettable reports whether nothing is left to hold against the guesser.
func (t tries) forgettable(now time.Time) bool {
	latest := t.last
	if t.locked.After(latest) {
		latest = t.locked
	}
	return now.Sub(latest) > guessWindow
}

// locks remembers who guessed wrong. Its memory is bounded: when a shard is full, the entry that has the least
// lock left makes room, so a flood of addresses can at worst give others back their free guesses.
type locks struct {
	seed   maphash.Seed
	shards [lockShards]struct {
		sync.Mutex
		m map[guesser]tries
	}
}

func newLocks() *locks {
	l := &locks{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].m = make(map[guesser]tries)
	}
	return l
}

// take asks for one guess. A guess that is granted counts as a failure until right or undo says otherwise, so
// guesses sent at the same time can't slip past the limit together. If it isn't granted, wait is how long the
// lock has still to go, more than 0.
func (l *locks) take(g guesser, now time.Time) (wait time.Duration) {
	s := &l.shards[maphash.Comparable(l.seed, g)%lockShards]
	s.Lock()
	defer s.Unlock()
	t, known := s.m[g]
	if known && t.forgettable(now) {
		t = tries{}
	}
	if wait := t.locked.Sub(now); wait > 0 {
		return wait
	}
	if !known && len(s.m) >= locksInShard {
		makeRoom(s.m, now)
	}
	t.count++
	t.last = now
	if over := t.count - freeGuesses; over >= 0 {
		t.locked = now.Add(lockFor(over))
	}
	s.m[g] = t
	return 0
}

// lockFor gives the length of the n-th lock in a row, from 0.
func lockFor(n int) time.Duration {
	if n > 5 { // 30 s · 2⁵ is past the longest already
		return longestLock
	}
	return min(firstLock<<n, longestLock)
}

// right forgets a guesser, who knows the password.
func (l *locks) right(g guesser) {
	s := &l.shards[maphash.Comparable(l.seed, g)%lockShards]
	s.Lock()
	defer s.Unlock()
	delete(s.m, g)
}

// undo takes back a guess that was granted but never looked at.
func (l *locks) undo(g guesser) {
	s := &l.shards[maphash.Comparable(l.seed, g)%lockShards]
	s.Lock()
	defer s.Unlock()
	t, ok := s.m[g]
	if !ok {
		return
	}
	if t.count--; t.count < freeGuesses {
		t.locked = time.Time{}
	}
	if t.count <= 0 {
		delete(s.m, g)
		return
	}
	s.m[g] = t
}

// size returns how many guessers are remembered.
func (l *locks) size() (n int) {
	for i := range l.shards {
		s := &l.shards[i]
		s.Lock()
		n += len(s.m)
		s.Unlock()
	}
	return n
}

func makeRoom(m map[guesser]tries, now time.Time) {
	var victim guesser
	var least time.Time
	found := false
	for g, t := range m {
		if t.forgettable(now) {
			delete(m, g)
			continue
		}
		if until := t.locked; !found || until.Before(least) {
			victim, least, found = g, until, true
		}
	}
	if found && len(m) >= locksInShard {
		delete(m, victim)
	}
}
