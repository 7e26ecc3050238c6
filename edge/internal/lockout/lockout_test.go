package lockout_test

import (
	"net/netip"
	"testing"
	"time"

	edgelockout "github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/shared/lockout"
)

var (
	start = time.Unix(1_800_000_000, 0)
	one   = netip.MustParseAddr("192.0.2.1")
)

func TestTable_memory_is_bounded_and_locks_outlive_single_guesses(t *testing.T) {
	t.Parallel()
	const most = 32_768
	l := edgelockout.New(edgelockout.Config{})
	for range lockout.Threshold {
		l.Begin(1, one, start)
	}
	for i := range most + 4000 {
		from := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if _, wait := l.Begin(2, from, start); wait != 0 {
			t.Fatalf("first guess of %v has to wait %v", from, wait)
		}
	}
	if n := l.Stats().Clients; n > most {
		t.Errorf("%d clients are remembered, want at most %d", n, most)
	}
	if _, wait := l.Begin(1, one, start); wait != 30*time.Second {
		t.Errorf("the one who is locked has to wait %v", wait)
	}
}

func TestTable_guesses_under_way_count(t *testing.T) {
	t.Parallel()
	l := edgelockout.New(edgelockout.Config{})
	var last edgelockout.Attempt
	for i := range lockout.Threshold {
		g, wait := l.Begin(1, one, start)
		if wait != 0 {
			t.Fatalf("guess %d has to wait %v", i, wait)
		}
		last = g
	}
	if _, wait := l.Begin(1, one, start); wait == 0 {
		t.Error("a guess more than are free is granted while the others are looked at")
	}
	last.Cancel() // one of them was not looked at after all
	g, wait := l.Begin(1, one, start)
	if wait != 0 {
		t.Errorf("the guess that was given back has to wait %v", wait)
	}
	if wait := g.Recheck(start); wait != 0 {
		t.Errorf("it is not looked at for %v, for the sake of those that aren't either", wait)
	}
	if g.Succeed(); l.Stats().Clients != 0 {
		t.Error("who knows the password is remembered")
	}
}
