package guesses_test

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

	"github.com/shortline/shortline/control/internal/fleet/guesses"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/guess"
)

// fleet is replicas on one database, and a clock.
type fleet struct {
	*testing.T
	store  *store.Store
	offset atomic.Int64
}

func (f *fleet) pass(d time.Duration) { f.offset.Add(int64(d)) }

// replica is one that runs until the test ends.
func (f *fleet) replica(cfg guesses.Config) *guesses.Book {
	f.Helper()
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(f.offset.Load())) }
	cfg.Logger = slog.New(slog.DiscardHandler)
	b := guesses.New(cfg, f.store)
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

func client(n int) guess.Client {
	return guess.ClientOf(uint64(1+n%3), netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
}

func (f *fleet) tell(b *guesses.Book, tries ...guess.Told) []guess.Standing {
	f.Helper()
	list, err := b.Tell(f.Context(), guess.Report{Edge: "e", Tries: tries})
	if err != nil || len(list) != len(tries) {
		f.Fatalf("%v, %v", list, err)
	}
	return list
}

func (f *fleet) news(b *guesses.Book, after uint64) guess.News {
	f.Helper()
	n, err := b.News(f.Context(), after)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

func TestBook_replicas_count_together(t *testing.T) {
	each(t, func(f *fleet) {
		a, b := f.replica(guesses.Config{}), f.replica(guesses.Config{})
		six := guess.Client{Link: 1<<64 - 1, From: netip.MustParseAddr("2001:db8::")}
		f.tell(a, guess.Told{Client: client(1), Count: 3}, guess.Told{Client: six, Count: 1})
		got := f.tell(b, guess.Told{Client: client(1), Count: 2, AgoMs: 4000})[0]
		if got.Client != client(1) || got.Count != 5 || got.AgoMs > 3000 || !got.Valid() {
			f.Errorf("%+v", got)
		}
		// An edge that starts hears all of it, and then what is new, from whichever replica it asks.
		all := f.news(a, 0)
		if len(all.Standings) != 2 || all.Standings[0].Client != six || all.Standings[1].Count != 5 || all.Next != all.Standings[1].Mark {
			f.Fatalf("%+v", all)
		}
		heard := make(chan guess.News, 2)
		for _, r := range []*guesses.Book{a, b} {
			go func() {
				n, _ := r.News(f.Context(), all.Next)
				heard <- n
			}()
		}
		f.tell(b, guess.Told{Client: client(1), Right: true})
		for range 2 {
			select {
			case n := <-heard:
				if len(n.Standings) != 1 || n.Standings[0].Client != client(1) || n.Standings[0].Count != 0 {
					f.Errorf("%+v", n)
				}
			case <-time.After(10 * time.Second):
				f.Fatal("nothing was heard")
			}
		}
		if got := f.tell(a, guess.Told{Client: client(1), Right: true, Count: 1})[0]; got.Count != 1 {
			f.Errorf("after the right password one guess makes %+v", got)
		}
		if got := f.tell(a, guess.Told{Client: client(1), Count: -3})[0]; got.Count != 0 {
			f.Errorf("more was taken back than there was: %+v", got)
		}
	})
}

func TestBook_what_is_over_is_forgotten(t *testing.T) {
	each(t, func(f *fleet) {
		b := f.replica(guesses.Config{})
		f.tell(b, guess.Told{Client: client(1), Count: 5}, guess.Told{Client: client(2), Count: 4})
		f.pass(guess.Window + time.Second)
		if got := f.tell(b, guess.Told{Client: client(2), Count: 1})[0]; got.Count != 1 {
			f.Errorf("guesses of eleven minutes ago count: %+v", got)
		}
		if got := f.tell(b, guess.Told{Client: client(1), Count: 1})[0]; got.Count != 6 {
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
		b := f.replica(guesses.Config{MaxRows: 100})
		f.tell(b, guess.Told{Client: client(0), Count: 7})
		for at := 1; at < 1001; at += 200 {
			var many []guess.Told
			for i := range 200 {
				many = append(many, guess.Told{Client: client(at + i), Count: 1})
			}
			f.tell(b, many...)
		}
		// Before the sweep all are told, in parts, each once.
		seen := map[guess.Client]bool{}
		for after := uint64(0); len(seen) < 1001; {
			n := f.news(b, after)
			if len(n.Standings) > guess.MaxStandings || n.Next <= after {
				f.Fatalf("%d standings up to %d after %d", len(n.Standings), n.Next, after)
			}
			for _, s := range n.Standings {
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
		if n := f.news(b, 0); len(n.Standings) > 100 || n.Standings[0].Client != client(0) {
			f.Errorf("%d are left, the first is %+v", len(n.Standings), n.Standings[0])
		}
	})
}

// Reports that come at once lose nothing, and marks are in order: nobody who follows them misses one.
func TestBook_many_at_once(t *testing.T) {
	each(t, func(f *fleet) {
		replicas := []*guesses.Book{f.replica(guesses.Config{}), f.replica(guesses.Config{})}
		const each, edges = 10, 8
		var group sync.WaitGroup
		for e := range edges {
			group.Go(func() {
				for range each {
					if _, err := replicas[e%2].Tell(f.Context(), guess.Report{Edge: fmt.Sprint(e), Tries: []guess.Told{{Client: client(1), Count: 1}, {Client: client(10 + e), Count: 1}}}); err != nil {
						f.Error(err)
					}
				}
			})
		}
		last := map[guess.Client]int{}
		group.Go(func() {
			for after := uint64(0); after < each*edges; {
				n, err := replicas[1].News(f.Context(), after)
				if err != nil {
					f.Error(err)
					return
				}
				for _, s := range n.Standings {
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
		b := f.replica(guesses.Config{Hold: 50 * time.Millisecond})
		if n := f.news(b, 0); n.Next != 0 || len(n.Standings) != 0 {
			f.Errorf("%+v", n)
		}
		f.tell(b, guess.Told{Client: client(1), Count: 1})
		// An edge that has heard more than there is: it is told all, at once.
		if n := f.news(b, 500); n.Next != 1 || len(n.Standings) != 1 {
			f.Errorf("%+v", n)
		}
		if n := f.news(b, 1); n.Next != 1 || len(n.Standings) != 0 {
			f.Errorf("%+v", n)
		}
		ctx, cancel := context.WithCancel(f.Context())
		cancel()
		if _, err := b.Tell(ctx, guess.Report{Edge: "e", Tries: []guess.Told{{Client: client(1), Count: 1}}}); !errors.Is(err, context.Canceled) {
			f.Errorf("a report of somebody who left: %v", err)
		}
	})
}
