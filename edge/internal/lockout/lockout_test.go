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

func TestTable_bounds_memory_and_keeps_lockouts_longest(t *testing.T) {
	t.Parallel()
	const limit = 32_768
	l := edgelockout.New(edgelockout.Config{})
	for range lockout.Threshold {
		l.Begin(1, one, start)
	}
	for i, more := 0, 320; more > 0 && i < 2*limit; i++ { // after the table is full, about 20 in each of its shards
		from := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if _, wait := l.Begin(2, from, start); wait != 0 {
			t.Fatalf("the first attempt of %v has to wait %v", from, wait)
		}
		if i >= limit && l.Stats().Clients >= limit {
			more--
		}
	}
	if n := l.Stats().Clients; n > limit {
		t.Errorf("%d clients in the table, want at most %d", n, limit)
	}
	if _, wait := l.Begin(1, one, start); wait != 30*time.Second {
		t.Errorf("the locked out client has to wait %v", wait)
	}
}

func TestTable_counts_pending_attempts(t *testing.T) {
	t.Parallel()
	l := edgelockout.New(edgelockout.Config{})
	var last edgelockout.Attempt
	for i := range lockout.Threshold {
		g, wait := l.Begin(1, one, start)
		if wait != 0 {
			t.Fatalf("attempt %d has to wait %v", i, wait)
		}
		last = g
	}
	if _, wait := l.Begin(1, one, start); wait == 0 {
		t.Error("one more attempt is granted while the others are pending")
	}
	last.Cancel() // its password was not compared
	g, wait := l.Begin(1, one, start)
	if wait != 0 {
		t.Errorf("the attempt after a cancelled one has to wait %v", wait)
	}
	if wait := g.Recheck(start); wait != 0 {
		t.Errorf("pending attempts delay it by %v", wait)
	}
	if g.Succeed(); l.Stats().Clients != 0 {
		t.Error("the client is still in the table after a success")
	}
}
