package conns_test

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/shared/conns"
)

func TestQueue_order_age_and_repeated_removal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q conns.Queue[int]
		var places []*conns.Place[int]
		for i := range 5 {
			places = append(places, q.Push(i))
			time.Sleep(time.Second)
		}
		(*conns.Place[int])(nil).Leave()
		for _, i := range []int{2, 2, 4, 0} { // from the middle, again, from the end, from the beginning
			places[i].Leave()
		}
		if c, ok := q.PopOlder(5 * time.Second); ok {
			t.Errorf("%d is younger than 5 s", c)
		}
		if c, ok := q.PopOlder(4 * time.Second); !ok || c != 1 {
			t.Errorf("got %d, %t, want 1", c, ok)
		}
		places[1].Leave() // popped already
		if c, ok := q.PopOlder(0); !ok || c != 3 {
			t.Errorf("got %d, %t, want 3", c, ok)
		}
		if c, ok := q.PopOlder(0); ok {
			t.Errorf("got %d from an empty queue", c)
		}
		q.Push(9)
		if c, ok := q.PopOlder(0); !ok || c != 9 {
			t.Errorf("got %d, %t, want 9", c, ok)
		}
	})
}

func TestShedder_closes_silent_connections_then_idle_ones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, closed, idle := map[int]bool{}, []int(nil), []int{7}
		s := conns.Shedder[int]{
			Limit: 3,
			Open:  func() int { return len(open) },
			Close: func(c int) bool { delete(open, c); closed = append(closed, c); return true },
		}
		s.CloseIdle = func() bool {
			if len(idle) == 0 {
				return false
			}
			defer func() { idle = idle[1:] }()
			return s.Close(idle[0])
		}
		enter := func(c int) *conns.Place[int] { open[c] = true; return s.Opened(c) }
		if !s.MakeRoom() {
			t.Error("no room below the limit")
		}
		enter(7).Leave()
		enter(1)
		enter(2).Leave()
		time.Sleep(conns.Grace)
		if !s.MakeRoom() || !slices.Equal(closed, []int{1}) {
			t.Errorf("closed %v, want the silent connection", closed)
		}
		enter(3)
		if !s.MakeRoom() || !slices.Equal(closed, []int{1, 7}) {
			t.Errorf("closed %v, want the idle connection, since the silent one is new", closed)
		}
		enter(4)
		if s.MakeRoom() || s.Closed() != 2 {
			t.Errorf("room was made by closing %v", closed)
		}
	})
}

func TestQuota_counts_by_client(t *testing.T) {
	q := conns.NewQuota(2)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i, want := range []bool{true, true, false} {
		if got := q.Take(a); got != want {
			t.Errorf("place %d of the first client: %v, want %v", i+1, got, want)
		}
	}
	if !q.Take(b) || q.Taken() != 3 {
		t.Errorf("with a place for the second client %d are taken, want 3", q.Taken())
	}
	q.Release(a)
	if !q.Take(a) || q.Take(a) {
		t.Error("a released place is not free again")
	}
	if none := conns.NewQuota(0); !none.Take(a) {
		t.Error("a quota of 0 must still allow one per client")
	}
}
