package ship_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestHold_keeps_clicks_in_the_spool(t *testing.T) {
	t.Parallel()
	s := openSpool(t, settings(scratch(t)))
	defer s.Close()
	sink := newStore(t)
	sh := newShipper(t, s, sink)
	sh.Hold(snapshot.ErrTwin)
	stop := start(t, sh.Run)
	for i := range 90 {
		e := click.Event{Link: uint64(i + 1), Time: time.Now().Add(-time.Duration(i+1) * time.Minute).UnixMilli()}
		if !s.Append(uint32(i), &e) {
			t.Fatal("a click was dropped although there was room")
		}
	}
	testkit.Eventually(t, "the oldest click's age is known", func() bool { return sh.Stats().Oldest > 0 })
	stop() // also while shipping is held and every lane has a current batch
	if n := len(sink.links()); n != 0 || s.Stats().Pending != 90 || !sh.Stats().Held || sh.Stats().Failing != 0 {
		t.Errorf("%d clicks left, %d pending, %+v", n, s.Stats().Pending, sh.Stats())
	}
	if err := sh.Drain(t.Context()); !errors.Is(err, ship.ErrHeld) || len(sink.links()) != 0 {
		t.Errorf("Drain: %v, %d clicks left", err, len(sink.links()))
	}
	stop = start(t, sh.Run)
	sh.Hold(nil)
	testkit.Eventually(t, "all shipped", func() bool { return s.Stats().Pending == 0 })
	stop()
	if n := len(sink.links()); n != 90 || sh.Stats().Held || sh.Stats().Oldest != 0 {
		t.Errorf("%d clicks arrived", n)
	}
}

// swallower accepts one batch without keeping it, like a topic that lost its end.
type swallower struct {
	mu      sync.Mutex
	lane    click.Lane
	first   uint64
	count   int
	repairs []*click.Batch
}

func (s *swallower) Deliver(_ context.Context, b *click.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Repair {
		copied := *b
		s.repairs = append(s.repairs, &copied)
	} else if s.count == 0 && b.First > 1 {
		s.lane, s.first, s.count = b.Lane, b.First, b.Count
	}
	return nil
}

func TestRepair_ships_a_swallowed_batch_once_more(t *testing.T) {
	t.Parallel()
	cfg := settings(scratch(t))
	cfg.Lanes = 1
	s := openSpool(t, cfg)
	t.Cleanup(func() { s.Close() }) // after the shipper has stopped
	sink := &swallower{}
	sh := newShipper(t, s, sink)
	start(t, sh.Run)
	for i := range 200 {
		e := click.Event{Link: uint64(i + 1)}
		s.Append(0, &e)
	}
	testkit.Eventually(t, "all acknowledged", func() bool { return s.Stats().Pending == 0 })
	o := click.Range{Epoch: sink.lane.Epoch, Lane: sink.lane.Lane, From: sink.first, To: sink.first + uint64(sink.count) - 1}
	if r := sh.Repair(o); r != (snapshot.Repair{Range: o, Held: uint64(sink.count)}) {
		t.Fatalf("%+v of %d", r, sink.count)
	}
	testkit.Eventually(t, "the batch again, marked as a repair", func() bool {
		sink.mu.Lock()
		defer sink.mu.Unlock()
		n := 0
		for _, b := range sink.repairs {
			n += b.Count
		}
		return n == sink.count && sink.repairs[0].First == sink.first && sink.repairs[0].Lane == sink.lane
	})
	for _, gone := range []click.Range{{Epoch: 99, From: 1, To: 5}, {Epoch: o.Epoch, Lane: o.Lane, From: 1000, To: 2000}} {
		if r := sh.Repair(gone); r.Held != 0 || r.Refused == "" || r.Again || r.Range != gone {
			t.Errorf("clicks that the spool never had: %+v", r)
		}
	}
	if r := sh.Repair(click.Range{Epoch: o.Epoch, Lane: o.Lane, From: 150, To: 300}); r.Held == 0 || r.Refused == "" {
		t.Errorf("half of it: %+v", r)
	}
}
