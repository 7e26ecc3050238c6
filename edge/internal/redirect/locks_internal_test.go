package redirect

import (
	"net/netip"
	"testing"
	"time"
)

// Through the front door this would take a bcrypt for each of the addresses.
func TestLocks_memory_is_bounded_and_locks_outlive_single_guesses(t *testing.T) {
	t.Parallel()
	l := newLocks()
	now := time.Unix(1_800_000_000, 0)
	locked := guesserOf(1, netip.MustParseAddr("192.0.2.1"))
	for range freeGuesses {
		l.take(locked, now)
	}
	for i := range lockShards*locksInShard + 4000 {
		g := guesserOf(2, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		if wait := l.take(g, now); wait != 0 {
			t.Fatalf("first guess of %v has to wait %v", g.from, wait)
		}
	}
	if n := l.size(); n > lockShards*locksInShard {
		t.Errorf("%d guessers are remembered, want at most %d", n, lockShards*locksInShard)
	}
	if wait := l.take(locked, now); wait != firstLock {
		t.Errorf("the one who is locked has to wait %v, want %v", wait, firstLock)
	}
	if l.undo(guesserOf(3, netip.IPv6Unspecified())); l.size() > lockShards*locksInShard {
		t.Error("undoing what is not known adds to the table")
	}
}

func TestLocks_guesses_under_way_count(t *testing.T) {
	t.Parallel()
	l := newLocks()
	now := time.Unix(1_800_000_000, 0)
	g := guesserOf(1, netip.MustParseAddr("192.0.2.1"))
	for i := range freeGuesses {
		if wait := l.take(g, now); wait != 0 {
			t.Fatalf("guess %d has to wait %v", i, wait)
		}
	}
	if l.take(g, now) == 0 {
		t.Error("a guess more than are free is granted while the others are looked at")
	}
	l.undo(g) // one of them was not looked at after all
	if wait := l.take(g, now); wait != 0 {
		t.Errorf("the guess that was given back has to wait %v", wait)
	}
}
