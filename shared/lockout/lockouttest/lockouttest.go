// Package lockouttest is the conformance suite of lockout.Exchange. Every implementation runs it: in process, over HTTP,
// and the fake that the edge's tests use.
package lockouttest

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Run runs the suite. For each test, open returns two exchanges that share one empty state, as two edges see it. They may
// be connected to different replicas, or be the same value.
func Run(t *testing.T, open func(t *testing.T) (a, b lockout.Exchange)) {
	for name, test := range map[string]func(s *suite){
		"counts_attempts_of_all_edges_together": (*suite).together,
		"wakes_every_edge_that_waits":           (*suite).wakes,
		"forgets_after_a_success":               (*suite).success,
		"takes_cancelled_attempts_back":         (*suite).cancelled,
		"starts_over_at_a_cursor_of_the_future": (*suite).future,
		"ends_with_the_context_of_the_caller":   (*suite).contexts,
		"loses_no_concurrent_report":            (*suite).concurrent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t)
			test(&suite{t, a, b})
		})
	}
}

type suite struct {
	*testing.T
	a, b lockout.Exchange
}

var (
	one = lockout.ClientOf(7, netip.MustParseAddr("192.0.2.1"))
	two = lockout.ClientOf(1<<64-1, netip.MustParseAddr("2001:db8::"))
)

func (s *suite) report(to lockout.Exchange, attempts ...lockout.Attempts) []lockout.State {
	s.Helper()
	states, err := to.ReportAttempts(s.Context(), lockout.Report{Edge: "e", Clients: attempts})
	if err != nil || len(states) != len(attempts) {
		s.Fatalf("report of %d clients: %v, %v", len(attempts), states, err)
	}
	for _, state := range states {
		if !state.Valid() {
			s.Errorf("state %+v is not valid", state)
		}
	}
	return states
}

func (s *suite) changes(from lockout.Exchange, after uint64) lockout.Changes {
	s.Helper()
	c, err := from.StateChanges(s.Context(), after)
	testkit.Must(s, err)
	return c
}

func (s *suite) together() {
	s.report(s.a, lockout.Attempts{Client: one, Count: 3}, lockout.Attempts{Client: two, Count: 1})
	// A report arrives late, so its attempt is older than those at the other edge.
	state := s.report(s.b, lockout.Attempts{Client: one, Count: 2, AgoMs: 60_000})[0]
	if state.Client != one || state.Count != 5 || state.AgoMs > 30_000 {
		s.Errorf("after 3 and 2 attempts: %+v", state)
	}
	all := s.changes(s.a, 0)
	byClient := map[lockout.Client]lockout.State{}
	for _, state := range all.States {
		byClient[state.Client] = state
	}
	if len(all.States) != 2 || byClient[one].Count != 5 || byClient[two].Count != 1 || all.Next != byClient[one].Version ||
		byClient[two].Version >= all.Next {
		s.Errorf("all changes: %+v", all)
	}
}

func (s *suite) wakes() {
	s.report(s.a, lockout.Attempts{Client: one, Count: 1}, lockout.Attempts{Client: two, Count: 1})
	cursor := s.changes(s.a, 0).Next
	woken := make(chan lockout.Changes, 2)
	for _, exchange := range []lockout.Exchange{s.a, s.b} {
		go func() {
			changes, err := lockout.Changes{Next: cursor}, error(nil)
			for err == nil && len(changes.States) == 0 { // a call may end without a change
				changes, err = exchange.StateChanges(s.Context(), cursor)
			}
			woken <- changes
		}()
	}
	select {
	case changes := <-woken:
		s.Fatalf("woken without a change: %+v", changes)
	case <-time.After(20 * time.Millisecond):
	}
	s.report(s.b, lockout.Attempts{Client: one, Count: 1})
	for range 2 {
		if changes := <-woken; len(changes.States) != 1 || changes.States[0].Client != one || changes.States[0].Count != 2 ||
			changes.Next <= cursor {
			s.Errorf("after one more attempt: %+v", changes)
		}
	}
}

func (s *suite) success() {
	s.report(s.a, lockout.Attempts{Client: one, Count: 4})
	if state := s.report(s.b, lockout.Attempts{Client: one, Succeeded: true, Count: 1})[0]; state.Count != 1 {
		s.Errorf("a success and one attempt after it: %+v", state)
	}
	if state := s.report(s.a, lockout.Attempts{Client: one, Succeeded: true})[0]; state.Count != 0 {
		s.Errorf("a success: %+v", state)
	}
}

func (s *suite) cancelled() {
	s.report(s.a, lockout.Attempts{Client: one, Count: 3})
	if state := s.report(s.a, lockout.Attempts{Client: one, Count: -1})[0]; state.Count != 2 {
		s.Errorf("one of 3 attempts cancelled: %+v", state)
	}
	if state := s.report(s.b, lockout.Attempts{Client: one, Count: -3})[0]; state.Count != 0 {
		s.Errorf("more attempts cancelled than there are: %+v", state)
	}
}

func (s *suite) future() {
	s.report(s.a, lockout.Attempts{Client: one, Count: 1})
	if c := s.changes(s.b, 500); c.Next >= 500 || len(c.States) != 1 || c.States[0].Client != one {
		s.Errorf("changes after a version that does not exist yet: %+v", c)
	}
}

func (s *suite) contexts() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := s.a.ReportAttempts(ctx, lockout.Report{Edge: "e", Clients: []lockout.Attempts{{Client: one, Count: 1}}}); err == nil {
		s.Error("a report with a cancelled context succeeds")
	}
	s.report(s.a, lockout.Attempts{Client: two, Count: 1})
	cursor := s.changes(s.a, 0).Next
	ctx, cancel = context.WithTimeout(s.Context(), 10*time.Millisecond)
	defer cancel()
	if c, err := s.a.StateChanges(ctx, cursor); err == nil && len(c.States) > 0 {
		s.Errorf("changes without a change: %+v", c)
	}
}

// concurrent makes several edges report at once while another follows: no attempt is lost, and no version is skipped.
func (s *suite) concurrent() {
	const edges, reports = 8, 10
	var group sync.WaitGroup
	own := func(edge int) lockout.Client { return lockout.ClientOf(uint64(100+edge), one.Address) }
	for edge := range edges {
		group.Go(func() {
			for range reports {
				_, err := s.a.ReportAttempts(s.Context(),
					lockout.Report{Edge: "e", Clients: []lockout.Attempts{{Client: one, Count: 1}, {Client: own(edge), Count: 1}}})
				if err != nil {
					s.Error(err)
				}
			}
		})
	}
	last := map[lockout.Client]int{}
	group.Go(func() {
		for after := uint64(0); last[one] < edges*reports; {
			c, err := s.b.StateChanges(s.Context(), after)
			if err != nil {
				s.Error(err)
				return
			}
			for _, state := range c.States {
				if state.Count < last[state.Client] {
					s.Errorf("the count of %v goes from %d back to %d", state.Client, last[state.Client], state.Count)
				}
				last[state.Client] = state.Count
			}
			after = c.Next
		}
	})
	group.Wait()
	for edge := range edges {
		if n := last[own(edge)]; n != reports {
			s.Errorf("%d of %d attempts of edge %d counted", n, reports, edge)
		}
	}
}
