package lockout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fleetlockout "github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/lockout"
)

// fleet is replicas on one database, and a clock.
type fleet struct {
	*testing.T
	store  *store.Store
	offset atomic.Int64
}

func (f *fleet) pass(d time.Duration) { f.offset.Add(int64(d)) }

// replica is one that runs until the test ends.
func (f *fleet) replica(cfg fleetlockout.Config) *fleetlockout.Counter {
	f.Helper()
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(f.offset.Load())) }
	cfg.Logger = slog.New(slog.DiscardHandler)
	b := fleetlockout.New(cfg, f.store)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = b.Run(ctx) })
	f.Cleanup(func() { cancel(); run.Wait() })
	return b
}

func each(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) { test(&fleet{T: t, store: s}) })
}

func client(n int) lockout.Client {
	return lockout.ClientOf(uint64(1+n%3), netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
}

func (f *fleet) tell(b *fleetlockout.Counter, tries ...lockout.Attempts) []lockout.State {
	f.Helper()
	list, err := b.ReportAttempts(f.Context(), lockout.Report{Edge: "e", Clients: tries})
	if err != nil || len(list) != len(tries) {
		f.Fatalf("%v, %v", list, err)
	}
	return list
}

func (f *fleet) news(b *fleetlockout.Counter, after uint64) lockout.Changes {
	f.Helper()
	n, err := b.StateChanges(f.Context(), after)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

func TestBook_replicas_count_together(t *testing.T) {
	each(t, func(f *fleet) {
		a, b := f.replica(fleetlockout.Config{}), f.replica(fleetlockout.Config{})
		six := lockout.Client{Link: 1<<64 - 1, Address: netip.MustParseAddr("2001:db8::")}
		f.tell(a, lockout.Attempts{Client: client(1), Count: 3}, lockout.Attempts{Client: six, Count: 1})
		got := f.tell(b, lockout.Attempts{Client: client(1), Count: 2, AgoMs: 4000})[0]
		if got.Client != client(1) || got.Count != 5 || got.AgoMs > 3000 || !got.Valid() {
			f.Errorf("%+v", got)
		}
		// An edge that starts hears all of it, and then what is new, from whichever replica it asks.
		all := f.news(a, 0)
		if len(all.States) != 2 || all.States[0].Client != six || all.States[1].Count != 5 || all.Next != all.States[1].Version {
			f.Fatalf("%+v", all)
		}
		heard := make(chan lockout.Changes, 2)
		for _, r := range []*fleetlockout.Counter{a, b} {
			go func() {
				n, _ := r.StateChanges(f.Context(), all.Next)
				heard <- n
			}()
		}
		f.tell(b, lockout.Attempts{Client: client(1), Succeeded: true})
		for range 2 {
			select {
			case n := <-heard:
				if len(n.States) != 1 || n.States[0].Client != client(1) || n.States[0].Count != 0 {
					f.Errorf("%+v", n)
				}
			case <-time.After(10 * time.Second):
				f.Fatal("nothing was heard")
			}
		}
		if got := f.tell(a, lockout.Attempts{Client: client(1), Succeeded: true, Count: 1})[0]; got.Count != 1 {
			f.Errorf("after the right password one guess makes %+v", got)
		}
		if got := f.tell(a, lockout.Attempts{Client: client(1), Count: -3})[0]; got.Count != 0 {
			f.Errorf("more was taken back than there was: %+v", got)
		}
	})
}

func TestBook_what_is_over_is_forgotten(t *testing.T) {
	each(t, func(f *fleet) {
		b := f.replica(fleetlockout.Config{})
		f.tell(b, lockout.Attempts{Client: client(1), Count: 5}, lockout.Attempts{Client: client(2), Count: 4})
		f.pass(lockout.Window + time.Second)
		if got := f.tell(b, lockout.Attempts{Client: client(2), Count: 1})[0]; got.Count != 1 {
			f.Errorf("guesses of eleven minutes ago count: %+v", got)
		}
		if got := f.tell(b, lockout.Attempts{Client: client(1), Count: 1})[0]; got.Count != 6 {
			f.Errorf("ten minutes after a lock's begin it is forgotten: %+v", got)
		}
		f.pass(time.Hour)
		if err := b.Sweep(f.Context()); err != nil {
			f.Fatal(err)
		}
		var rows int
		if err := f.store.Row(f.Context(), `SELECT count(*) FROM guesses`).Scan(&rows); err != nil || rows != 0 {
			f.Errorf("%d addresses are kept, %v", rows, err)
		}
	})
}

func TestBook_memory_is_bounded_and_locks_outlive_single_guesses(t *testing.T) {
	each(t, func(f *fleet) {
		b := f.replica(fleetlockout.Config{MaxRows: 100})
		f.tell(b, lockout.Attempts{Client: client(0), Count: 7})
		for at := 1; at < 1001; at += 200 {
			var many []lockout.Attempts
			for i := range 200 {
				many = append(many, lockout.Attempts{Client: client(at + i), Count: 1})
			}
			f.tell(b, many...)
		}
		// Before the sweep all are told, in parts, each once.
		seen := map[lockout.Client]bool{}
		for after := uint64(0); len(seen) < 1001; {
			n := f.news(b, after)
			if len(n.States) > lockout.MaxStates || n.Next <= after {
				f.Fatalf("%d standings up to %d after %d", len(n.States), n.Next, after)
			}
			for _, s := range n.States {
				if seen[s.Client] {
					f.Fatalf("%v is told twice", s.Client)
				}
				seen[s.Client] = true
			}
			after = n.Next
		}
		if err := b.Sweep(f.Context()); err != nil {
			f.Fatal(err)
		}
		if n := f.news(b, 0); len(n.States) > 100 || n.States[0].Client != client(0) {
			f.Errorf("%d are left, the first is %+v", len(n.States), n.States[0])
		}
	})
}

// Reports that come at once lose nothing, and marks are in order: nobody who follows them misses one.
func TestBook_many_at_once(t *testing.T) {
	each(t, func(f *fleet) {
		replicas := []*fleetlockout.Counter{f.replica(fleetlockout.Config{}), f.replica(fleetlockout.Config{})}
		const each, edges = 10, 8
		var group sync.WaitGroup
		for e := range edges {
			group.Go(func() {
				for range each {
					if _, err := replicas[e%2].ReportAttempts(f.Context(), lockout.Report{Edge: fmt.Sprint(e), Clients: []lockout.Attempts{{Client: client(1), Count: 1}, {Client: client(10 + e), Count: 1}}}); err != nil {
						f.Error(err)
					}
				}
			})
		}
		last := map[lockout.Client]int{}
		group.Go(func() {
			for after := uint64(0); after < each*edges; {
				n, err := replicas[1].StateChanges(f.Context(), after)
				if err != nil {
					f.Error(err)
					return
				}
				for _, s := range n.States {
					if s.Count < last[s.Client] {
						f.Errorf("%v goes from %d to %d", s.Client, last[s.Client], s.Count)
					}
					last[s.Client] = s.Count
				}
				after = n.Next
			}
		})
		group.Wait()
		if last[client(1)] != each*edges {
			f.Errorf("%d guesses are counted, want %d", last[client(1)], each*edges)
		}
		for e := range edges {
			if last[client(10+e)] != each {
				f.Errorf("edge %d: %d guesses are counted", e, last[client(10+e)])
			}
		}
	})
}

func TestBook_nothing_new_and_marks_that_go_back(t *testing.T) {
	each(t, func(f *fleet) {
		b := f.replica(fleetlockout.Config{Hold: 50 * time.Millisecond})
		if n := f.news(b, 0); n.Next != 0 || len(n.States) != 0 {
			f.Errorf("%+v", n)
		}
		f.tell(b, lockout.Attempts{Client: client(1), Count: 1})
		// An edge that has heard more than there is: it is told all, at once.
		if n := f.news(b, 500); n.Next != 1 || len(n.States) != 1 {
			f.Errorf("%+v", n)
		}
		if n := f.news(b, 1); n.Next != 1 || len(n.States) != 0 {
			f.Errorf("%+v", n)
		}
		ctx, cancel := context.WithCancel(f.Context())
		cancel()
		if _, err := b.ReportAttempts(ctx, lockout.Report{Edge: "e", Clients: []lockout.Attempts{{Client: client(1), Count: 1}}}); !errors.Is(err, context.Canceled) {
			f.Errorf("a report of somebody who left: %v", err)
		}
	})
}
