package shards_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/clicks/cluster/shards"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var errFault = errors.New("the server was killed")

// faulty is a server that fails at the call with a number, before or after it has done what was asked.
type faulty struct {
	shards.MovingServer
	calls *atomic.Int64 // of all servers
	at    int64
}

func (s faulty) fault(f func() error) error {
	n := s.calls.Add(1)
	if n == s.at && s.at%2 == 0 {
		return errFault
	}
	err := f()
	if n == s.at && err == nil {
		err = errFault
	}
	return err
}

func (s faulty) OwnedSlots(ctx context.Context, owners []uint64) (list []analytics.OwnedSlot, err error) {
	err = s.fault(func() error {
		list, err = s.MovingServer.OwnedSlots(ctx, owners)
		return err
	})
	return list, err
}

func (s faulty) ReadOwned(ctx context.Context, owners []uint64, first, last int64, f func(analytics.Owned) error) error {
	return s.fault(func() error { return s.MovingServer.ReadOwned(ctx, owners, first, last, f) })
}

func (s faulty) WriteOwned(ctx context.Context, o analytics.Owned) error {
	return s.fault(func() error { return s.MovingServer.WriteOwned(ctx, o) })
}

func (s faulty) Forget(ctx context.Context, owners []uint64) error {
	return s.fault(func() error { return s.MovingServer.Forget(ctx, owners) })
}

func (s faulty) Settle(ctx context.Context) error {
	return s.fault(func() error { return s.MovingServer.Settle(ctx) })
}

// mover returns a mover whose servers fail at a call; 0: never.
func (f *fleet) mover(at int64) (*shards.Mover, *atomic.Int64) {
	return f.moverThat(func(text string) { f.t.Log(text) }, at)
}

// moverThat is like mover, with a function that hears about the progress.
func (f *fleet) moverThat(hears func(string), at int64) (*shards.Mover, *atomic.Int64) {
	servers, calls := map[string]shards.MovingServer{}, new(atomic.Int64)
	for name, s := range f.servers {
		servers[name] = faulty{s.(shards.MovingServer), calls, at}
	}
	m := shards.NewMover(f.store, servers, hears)
	m.Hurry(20 * time.Millisecond)
	return m, calls
}

// owned counts the clicks and conversions of workspaces in a shard.
func (f *fleet) owned(name string, workspaces ...uint64) (clicks, won int64) {
	f.t.Helper()
	list, err := f.servers[name].(shards.MovingServer).OwnedSlots(f.t.Context(), workspaces)
	f.ok(err)
	for _, o := range list {
		clicks, won = clicks+o.Clicks, won+o.Conversions
	}
	return clicks, won
}

// TestMove_under_traffic moves two of four workspaces there and back while two processes store their clicks and answer questions.
// The mover fails at every call to a server in turn, before or after it is carried out, and another one continues. Every
// answer must have every acknowledged click once, and in the end every click is in the right shard once.
func TestMove_under_traffic(t *testing.T) {
	f, list := newPair(t, 4)
	tr := newTraffic(list)
	for range 2 {
		p := f.start("main", "b")
		tr.run(t, p, 20)
		tr.ask(t, p)
	}
	tr.goOn(t)
	// Two of three calls do not fail in make test. The number of the call says whether it fails before or after it is carried out.
	at, step, faults := int64(1), testkit.Size[int64](3, 1), 0
	for target, moves := "b", 0; ; moves++ {
		m, calls := f.mover(at)
		err := m.Move(t.Context(), list[:2], target)
		if err != nil && !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		if err != nil {
			faults++
			m, _ = f.mover(0)
			f.ok(m.Move(t.Context(), list[:2], target))
		}
		other := map[string]string{"main": "b", "b": "main"}[target]
		if n, won := f.owned(other, list[:2]...); n+won != 0 {
			t.Errorf("after move %d, %s still has %d clicks and %d conversions", moves, other, n, won)
		}
		if err == nil {
			if calls.Load() >= at {
				t.Errorf("call %d did not fail", at)
			}
			break
		}
		target, at = other, at+step
	}
	if faults < testkit.Size(3, 10) {
		t.Errorf("only %d faults", faults)
	}
	tr.goOn(t)
	tr.end()
	p := f.start("main", "b")
	for _, w := range list {
		lines, err := p.clicks.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Owner: w, Bots: analytics.Everyone}})
		f.ok(err)
		if got := lines[0].Clicks; got < tr.stored[w].Load() || got > tr.begun[w].Load() || got == 0 {
			t.Errorf("workspace %d: %d clicks, want %d to %d", w, got, tr.stored[w].Load(), tr.begun[w].Load())
		}
		a, _ := f.owned("main", w)
		b, _ := f.owned("b", w)
		if a != 0 && b != 0 {
			t.Errorf("workspace %d has %d clicks in main and %d in b", w, a, b)
		}
	}
	var seen, twice int
	ids := map[analytics.Identity]bool{}
	f.ok(p.clicks.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, math.MaxInt, func(r *analytics.Row) error {
		if seen++; ids[r.Identity] {
			twice++
		}
		ids[r.Identity] = true
		return nil
	}))
	t.Logf("%d clicks, %d faults", seen, faults)
	if twice != 0 {
		t.Errorf("%d of %d clicks are there twice", twice, seen)
	}
	if drift, err := p.clicks.Drift(t.Context(), time.Now().Add(-72*time.Hour), time.Now()); err != nil || len(drift.Hours) != 0 {
		t.Errorf("rollups differ from the clicks: %v, %v", drift, err)
	}
}

// A move that is cancelled at any point leaves the workspace where it was.
func TestMove_cancelled(t *testing.T) {
	f, list := newPair(t, 2)
	tr := newTraffic(list)
	p := f.start("main", "b")
	tr.run(t, p, 20)
	tr.ask(t, p)
	tr.goOn(t)
	for at := int64(1); ; at += testkit.Size[int64](3, 1) {
		m, _ := f.mover(at)
		err := m.Move(t.Context(), list[:1], "b")
		m, _ = f.mover(0)
		if err == nil { // the move makes fewer calls
			break
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("move: %v", err)
		}
		if err := m.Cancel(t.Context(), list[0]); err != nil {
			f.refused(err, `"b" already answers`)
			f.ok(m.Move(t.Context(), list[:1], "b"))
			break
		}
		if n, won := f.owned("b", list[0]); n+won != 0 {
			t.Errorf("b still has %d clicks and %d conversions", n, won)
		}
		f.refused(m.Cancel(t.Context(), list[0]), "is not moving")
	}
	tr.end()
	if n, _ := f.owned("b", list[0]); n < tr.stored[list[0]].Load() {
		t.Errorf("b has %d clicks, want %d", n, tr.stored[list[0]].Load())
	}
}

func TestMove_refuses(t *testing.T) {
	f, list := newPair(t, 4)
	m, _ := f.mover(0)
	f.refused(m.Move(t.Context(), list[:1], "c"), `no shard "c" is registered`)
	f.refused(m.Move(t.Context(), list[:1], "main"), "already", `"main"`)
	f.refused(m.Cancel(t.Context(), list[0]), "is not moving")

	// Links that were transferred keep workspaces together.
	f.ok(f.store.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO link_moves (revision, link_num, from_num, to_num) VALUES (1, 1, ?, ?), (2, 1, ?, ?)`,
			list[0], list[1], list[1], 99)
		if err == nil { // 99 was deleted, but has clicks
			_, err = tx.Exec(t.Context(), `INSERT INTO click_shard_workspaces (workspace_num, shard) VALUES (99, 'main')`)
		}
		return err
	}))
	f.refused(m.Move(t.Context(), list[:1], "b"), "must stay together", "number:99")
	if num, err := shards.Workspace(t.Context(), f.store, "number:99"); err != nil || num != 99 {
		t.Error(num, err)
	}
	f.ok(m.Move(t.Context(), []uint64{list[0], list[1], 99}, "b"))

	// A process with an old list of shards.
	old := shards.New(f.store, []string{"main"}, nil)
	f.ok(old.Record(t.Context()))
	f.refused(m.Move(t.Context(), list[2:3], "b"), "does not know the shard")
	f.end(old)

	// A move in progress: transfers, other moves, settings without its shards.
	failing, _ := f.mover(3)
	if err := failing.Move(t.Context(), list[2:3], "b"); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	f.refused(m.Move(t.Context(), list[2:4], "b"), "has begun", "control move-workspace b ")
	f.refused(shards.New(f.store, []string{"main"}, nil).Check(t.Context()), `"b" is missing`, "are moving")
	for other, want := range map[uint64]error{list[3]: store.ErrClicksMove, list[2]: nil} {
		if err := f.store.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.SameClickShard(t.Context(), []uint64{list[2], other})
			return err
		}); !errors.Is(err, want) {
			t.Errorf("a transfer: %v, want %v", err, want)
		}
	}
	lines, err := f.running.Moves(t.Context())
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "interrupted") {
		t.Errorf("%q, %v", lines, err)
	}
	f.ok(m.Move(t.Context(), list[2:3], "b"))
	if lines, err := f.running.Moves(t.Context()); err != nil || len(lines) != 0 {
		t.Errorf("%q, %v", lines, err)
	}
}

// A program that runs a move is replaced only when it has not been seen for a while.
func TestMove_has_one_runner(t *testing.T) {
	f, list := newPair(t, 1)
	m, _ := f.mover(3)
	if err := m.Move(t.Context(), list, "b"); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	seen := func(ago time.Duration) {
		t.Helper()
		f.ok(f.store.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(),
				`UPDATE click_shard_moves SET runner_host = 'far', runner_at = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - ?`,
				ago.Milliseconds())
			return err
		}))
	}
	other, _ := f.mover(0)
	seen(5 * time.Second)
	if err := other.Move(t.Context(), list, "b"); err == nil ||
		!strings.Contains(err.Error(), `another program runs this move, on the host "far"`) {
		t.Errorf("%v", err)
	}
	seen(time.Minute)
	f.ok(other.Move(t.Context(), list, "b"))
}

// A program that fails lets another one continue at once, also while it records that it runs the move.
func TestMove_continues_at_once(t *testing.T) {
	f, list := newPair(t, 1)
	for range testkit.Size(10, 100) {
		m, _ := f.mover(1)
		m.Beat(time.Microsecond)
		if err := m.Move(t.Context(), list, "b"); !errors.Is(err, errFault) {
			t.Fatal(err)
		}
	}
}

// A move that has ended does not look as if another program had ended it.
func TestMove_ends_beside_beats(t *testing.T) {
	f, list := newPair(t, 1)
	for range testkit.Size(2, 10) {
		for _, target := range []string{"b", "main"} {
			m, _ := f.mover(0)
			m.Beat(time.Microsecond)
			f.ok(m.Move(t.Context(), list, target))
		}
	}
}

// A move waits for what began before it. A process that loses the database ends its writes, and holds a move up only until its lease has
// ended.
func TestMove_waits_for_processes(t *testing.T) {
	f, list := newPair(t, 1)
	p := f.start("main", "b")
	for _, open := range []func(context.Context, ...uint64) (sharded.View, error){p.directory.Write, p.directory.Read} {
		view, err := open(t.Context(), list[0])
		f.ok(err)
		ctx, cancel := context.WithCancel(t.Context())
		waits := 0
		m, _ := f.moverThat(func(text string) {
			if strings.HasPrefix(text, "waiting for a process") {
				waits++
			}
			if waits == 5 { // a second; a process that notices the move is faster
				cancel()
			}
		}, 0)
		if err := m.Move(ctx, list, "b"); !errors.Is(err, context.Canceled) {
			t.Errorf("a move beside an old view: %v", err)
		}
		if got := view.Places[list[0]]; got != (sharded.Place{Shard: "main"}) {
			t.Errorf("%v", got)
		}
		f.ok(view.End())
		f.ok(m.Cancel(t.Context(), list[0]))
	}

	view, err := p.directory.Write(t.Context(), list[0])
	f.ok(err)
	p.directory.Lapse()
	if view.Context.Err() == nil {
		t.Error("a write goes on although the lease has ended")
	}
	if view.End() == nil {
		t.Error("a write succeeds although the lease has ended")
	}
	view, err = p.directory.Write(t.Context(), list[0]) // the database can be reached again
	f.ok(err)
	f.ok(view.End())
	m, _ := f.mover(0)
	f.ok(m.Move(t.Context(), list, "b"))
	view, err = p.directory.Write(t.Context(), list[0])
	f.ok(err)
	if got := view.Places[list[0]]; got != (sharded.Place{Shard: "b"}) {
		t.Errorf("after the move: %v", got)
	}
	f.ok(view.End())
}
