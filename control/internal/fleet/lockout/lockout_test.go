package lockout_test

import (
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	fleetlockout "github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/lockout/lockouttest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fleet is a database that replicas share, and a clock.
type fleet struct {
	*testing.T
	store  *store.Store
	offset atomic.Int64
}

func (f *fleet) pass(d time.Duration) { f.offset.Add(int64(d)) }

// counter returns a Counter without its background jobs. It deletes rows only when the test calls Sweep.
func (f *fleet) counter(cfg fleetlockout.Config) *fleetlockout.Counter {
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(f.offset.Load())) }
	cfg.Logger = slog.New(slog.DiscardHandler)
	return fleetlockout.New(cfg, f.store)
}

// replica runs a Counter until the test ends.
func (f *fleet) replica(cfg fleetlockout.Config) *fleetlockout.Counter {
	f.Helper()
	c := f.counter(cfg)
	testkit.Run(f, c.Run)
	return c
}

func each(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) { test(&fleet{T: t, store: s}) })
}

func client(n int) lockout.Client {
	return lockout.ClientOf(uint64(1+n%3), netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
}

func (f *fleet) report(to *fleetlockout.Counter, attempts ...lockout.Attempts) []lockout.State {
	f.Helper()
	list, err := to.ReportAttempts(f.Context(), lockout.Report{Edge: "e", Clients: attempts})
	if err != nil || len(list) != len(attempts) {
		f.Fatalf("%v, %v", list, err)
	}
	return list
}

func (f *fleet) changes(from *fleetlockout.Counter, after uint64) lockout.Changes {
	f.Helper()
	n, err := from.StateChanges(f.Context(), after)
	testkit.Must(f, err)
	return n
}

func TestCounter_conforms(t *testing.T) {
	for dialect, open := range map[string]func(testing.TB) *store.Store{"sqlite": storetest.Open, "postgres": storetest.OpenPostgres} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			lockouttest.Run(t, func(t *testing.T) (a, b lockout.Exchange) {
				f := &fleet{T: t, store: open(t)}
				return f.replica(fleetlockout.Config{}), f.replica(fleetlockout.Config{})
			})
		})
	}
}

func TestCounter_forgets_old_failures(t *testing.T) {
	each(t, func(f *fleet) {
		c := f.counter(fleetlockout.Config{})
		f.report(c, lockout.Attempts{Client: client(1), Count: 5}, lockout.Attempts{Client: client(2), Count: 4})
		f.pass(lockout.Window + time.Second)
		if got := f.report(c, lockout.Attempts{Client: client(2), Count: 1})[0]; got.Count != 1 {
			f.Errorf("failures of eleven minutes ago still count: %+v", got)
		}
		if got := f.report(c, lockout.Attempts{Client: client(1), Count: 1})[0]; got.Count != 6 {
			f.Errorf("a lockout is forgotten ten minutes after its start, not after its end: %+v", got)
		}
		f.pass(time.Hour)
		testkit.Must(f, c.Sweep(f.Context()))
		var rows int
		if err := f.store.Row(f.Context(), `SELECT count(*) FROM guesses`).Scan(&rows); err != nil || rows != 0 {
			f.Errorf("%d addresses left, %v", rows, err)
		}
	})
}

func TestCounter_keeps_at_most_MaxRows_and_prefers_lockouts(t *testing.T) {
	each(t, func(f *fleet) {
		c := f.counter(fleetlockout.Config{MaxRows: 100})
		f.report(c, lockout.Attempts{Client: client(0), Count: 7})
		for at := 1; at < 1001; at += 200 {
			var many []lockout.Attempts
			for i := range 200 {
				many = append(many, lockout.Attempts{Client: client(at + i), Count: 1})
			}
			f.report(c, many...)
		}
		// Before the sweep, several calls return all clients, each once.
		seen := map[lockout.Client]bool{}
		for after := uint64(0); len(seen) < 1001; {
			n := f.changes(c, after)
			if len(n.States) > lockout.MaxStates || n.Next <= after {
				f.Fatalf("%d states up to %d after %d", len(n.States), n.Next, after)
			}
			for _, s := range n.States {
				if seen[s.Client] {
					f.Fatalf("%v is returned twice", s.Client)
				}
				seen[s.Client] = true
			}
			after = n.Next
		}
		testkit.Must(f, c.Sweep(f.Context()))
		if n := f.changes(c, 0); len(n.States) > 100 || n.States[0].Client != client(0) {
			f.Errorf("%d clients left, the first is %+v", len(n.States), n.States[0])
		}
	})
}

func TestCounter_answers_after_Hold_without_a_change(t *testing.T) {
	each(t, func(f *fleet) {
		c := f.replica(fleetlockout.Config{Hold: 50 * time.Millisecond})
		if n := f.changes(c, 0); n.Next != 0 || len(n.States) != 0 {
			f.Errorf("without any attempt: %+v", n)
		}
		f.report(c, lockout.Attempts{Client: client(1), Count: 1})
		if n := f.changes(c, 1); n.Next != 1 || len(n.States) != 0 {
			f.Errorf("without a new attempt: %+v", n)
		}
	})
}
