// Package clicktest is the conformance suite of click.Sink. Every implementation runs it, so that a caller may rely on
// the contract of the port and not on the sink that it happens to have.
package clicktest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ID names one click permanently.
type ID struct {
	click.Lane
	Seq uint64
}

// Target is a sink under test and the storage behind it.
type Target struct {
	// Open returns a new sink on the same storage, as after a restart of its process.
	Open func(t *testing.T) click.Sink
	// Clicks returns what a correct reader of the storage counts: every click once. A reader need not know
	// Event.AcceptLanguage, Event.Prefetch or loss markers.
	Clicks func(t *testing.T) map[ID]click.Event
	// Lost returns how many clicks the stored loss markers name. Nil: the sink does not pass markers on.
	Lost func(t *testing.T) uint64
	// Break makes deliveries fail until repair is called. Some of the failed ones should take effect.
	Break func(t *testing.T) (repair func())
}

// Run runs the suite, one test after the other. open returns a target with empty storage.
func Run(t *testing.T, open func(t *testing.T) Target) {
	for name, test := range map[string]func(*testing.T, Target){
		"stores_every_field":            storesEveryField,
		"accepts_an_empty_batch":        acceptsAnEmptyBatch,
		"counts_repeats_once":           countsRepeatsOnce,
		"copies_the_records":            copiesTheRecords,
		"fills_a_hole_with_a_repair":    fillsAHoleWithARepair,
		"keeps_loss_markers":            keepsLossMarkers,
		"a_cancelled_delivery_recovers": aCancelledDeliveryRecovers,
		"survives_failures_and_restart": survivesFailuresAndRestart,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// event returns the click that the suite delivers at a position of a lane. All events of the suite differ.
func event(lane click.Lane, seq uint64) click.Event {
	return click.Event{
		Seq: seq, Time: 1_767_225_600_000 + int64(seq), Link: 1 + seq%7, Owner: 1 + seq%3,
		IP:        netip.AddrFrom4([4]byte{192, 0, 2, byte(seq)}),
		UserAgent: "agent/" + string(rune('a'+lane.Lane%26)), Referer: "https://example.org/",
	}
}

// batch returns the clicks from first to last of a lane.
func batch(lane click.Lane, first, last uint64) *click.Batch {
	b := &click.Batch{Lane: lane, First: first, Count: int(last + 1 - first)}
	for seq := first; seq <= last; seq++ {
		e := event(lane, seq)
		b.Records = click.AppendRecord(b.Records, &e)
	}
	return b
}

// deliver delivers each batch as often as it takes, as any caller of a sink must.
func deliver(t *testing.T, s click.Sink, batches ...*click.Batch) {
	t.Helper()
	for _, b := range batches {
		testkit.Eventually(t, "a delivery succeeds", func() bool { return s.Deliver(t.Context(), b) == nil })
	}
}

// expect compares the storage with clicks 1 to last of each lane.
func expect(t *testing.T, target Target, last uint64, lanes ...click.Lane) {
	t.Helper()
	got := target.Clicks(t)
	for _, lane := range lanes {
		for seq := uint64(1); seq <= last; seq++ {
			if e, stored := got[ID{lane, seq}]; !stored {
				t.Fatalf("click %d of %+v is missing", seq, lane)
			} else if want := event(lane, seq); e != want {
				t.Fatalf("click %d of %+v:\n got %+v\nwant %+v", seq, lane, e, want)
			}
		}
	}
	if want := int(last) * len(lanes); len(got) != want {
		t.Errorf("%d clicks are stored, want %d", len(got), want)
	}
}

func storesEveryField(t *testing.T, target Target) {
	lane := click.Lane{Edge: 1 << 63, Epoch: 2, Lane: 3}
	want := click.Event{
		Seq: 1, Time: 1_767_225_600_123, Link: 5, Owner: 6, Variant: link.ID{1}, Rule: link.ID{2}, IP: netip.MustParseAddr("2001:db8::1"),
		UserAgent: "agent", Referer: "https://example.org/ä",
		UTM: link.UTM{Source: "1", Medium: "2", Campaign: "3", Term: "4", Content: "5", ID: "6", SourcePlatform: "7"},
	}
	deliver(t, target.Open(t), &click.Batch{Lane: lane, First: 1, Count: 1, Records: click.AppendRecord(nil, &want)})
	if got := target.Clicks(t); !reflect.DeepEqual(got, map[ID]click.Event{{lane, 1}: want}) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func acceptsAnEmptyBatch(t *testing.T, target Target) {
	deliver(t, target.Open(t), &click.Batch{Lane: click.Lane{Edge: 1}, First: 1})
	expect(t, target, 0)
}

// A caller that got no answer delivers again, after a restart possibly cut at other places.
func countsRepeatsOnce(t *testing.T, target Target) {
	lane := click.Lane{Edge: 1}
	s, one := target.Open(t), batch(lane, 1, 10)
	deliver(t, s, one, one, one, batch(lane, 5, 14))
	deliver(t, target.Open(t), batch(lane, 8, 20))
	expect(t, target, 20, lane)
}

// Batch.Records belongs to the caller again when Deliver has returned.
func copiesTheRecords(t *testing.T, target Target) {
	lane := click.Lane{Edge: 1}
	s, b := target.Open(t), batch(lane, 1, 10)
	deliver(t, s, b)
	clear(b.Records)
	deliver(t, s, batch(lane, 11, 20))
	expect(t, target, 20, lane)
}

func fillsAHoleWithARepair(t *testing.T, target Target) {
	lane := click.Lane{Edge: 1}
	s, repair := target.Open(t), batch(lane, 5, 24)
	repair.Repair = true
	deliver(t, s, batch(lane, 1, 10), batch(lane, 21, 30), repair, repair)
	expect(t, target, 30, lane)
}

func keepsLossMarkers(t *testing.T, target Target) {
	if target.Lost == nil {
		t.Skip("this sink does not pass loss markers on")
	}
	lane := click.Lane{Edge: 1}
	s, b := target.Open(t), batch(lane, 1, 10)
	marker := click.Event{Seq: 30, Time: 1_767_225_600_000, LostFrom: 11, LostTo: 30}
	lost := &click.Batch{Lane: lane, First: 30, Count: 1, Records: click.AppendRecord(nil, &marker)}
	deliver(t, s, b, lost, lost)
	expect(t, target, 10, lane)
	if n := target.Lost(t); n != 20 {
		t.Errorf("%d clicks are lost, want 20", n)
	}
}

func aCancelledDeliveryRecovers(t *testing.T, target Target) {
	lane := click.Lane{Edge: 1}
	s := target.Open(t)
	deliver(t, s, batch(lane, 1, 10))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Deliver(ctx, batch(lane, 11, 20)) // any outcome is allowed
	deliver(t, s, batch(lane, 11, 20))
	expect(t, target, 20, lane)
}

// Lanes deliver concurrently. Deliveries fail with and without effect, acknowledged batches come again, batches are cut at
// other places, and the sink restarts.
func survivesFailuresAndRestart(t *testing.T, target Target) {
	const lanes, rounds, each = 8, 3, 100
	var failed atomic.Int64
	walk := func(s click.Sink, l int, round uint64, upTo uint64, giveUp bool) {
		r := rand.New(rand.NewPCG(uint64(l), round))
		lane := click.Lane{Edge: 7, Epoch: 1, Lane: uint8(l)}
		for next := round*each + 1; next <= upTo; {
			first := max(1, next-min(next-1, r.Uint64N(30)))
			last := min(first+r.Uint64N(40), upTo)
			err := s.Deliver(t.Context(), batch(lane, first, last))
			switch {
			case err == nil:
				next = max(next, last+1)
			case errors.Is(err, click.ErrCorrupt) || errors.Is(err, click.ErrSchema):
				t.Error(err)
				return
			default:
				if failed.Add(1); giveUp {
					return
				}
			}
		}
	}
	all := func(s click.Sink, round uint64, giveUp bool) {
		var running sync.WaitGroup
		for l := range lanes {
			running.Go(func() { walk(s, l, round, (round+1)*each, giveUp) })
		}
		running.Wait()
	}
	for round := range uint64(rounds) {
		s := target.Open(t)
		repair := target.Break(t)
		all(s, round, true)
		repair()
		all(s, round, false)
	}
	if failed.Load() == 0 {
		t.Error("no delivery failed, so the test proves nothing")
	}
	var list []click.Lane
	for l := range lanes {
		list = append(list, click.Lane{Edge: 7, Epoch: 1, Lane: uint8(l)})
	}
	expect(t, target, rounds*each, list...)
}
