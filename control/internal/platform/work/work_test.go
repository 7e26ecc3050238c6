package work

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func enter(t *testing.T, q *Queue, name string) *Slot {
	t.Helper()
	s, err := q.Enter(t.Context(), name)
	testkit.Must(t, err)
	return s
}

// refused reports whether a caller that does not wait gets no slot.
func refused(t *testing.T, q *Queue, name string) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := q.Enter(ctx, name)
	if err == nil {
		s.Leave()
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("%s: %v", name, err)
	}
	return err != nil
}

func TestS7_a_user_holds_a_part_of_the_slots(t *testing.T) {
	t.Parallel()
	q := New(Config{Slots: 3, PerUser: 2, Wait: testkit.Patience, Busy: "Too much."})
	first, second := enter(t, q, "a"), enter(t, q, "a")
	third := make(chan *Slot)
	go func() {
		s, err := q.Enter(t.Context(), "a")
		testkit.Must(t, err)
		third <- s
	}()
	testkit.Eventually(t, "the third caller waits", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.users["a"].callers == 3
	})
	enter(t, q, "b").Leave() // although a's caller came first
	first.Leave()
	first.Leave()
	(<-third).Leave()
	second.Leave()
	if len(q.users) != 0 {
		t.Errorf("%d users are remembered", len(q.users))
	}
}

func TestQueue_callers_without_a_slot_are_told(t *testing.T) {
	t.Parallel()
	q := New(Config{Slots: 1, PerUser: 1, Wait: time.Millisecond, Busy: "Too much."})
	s := enter(t, q, "a")
	for _, name := range []string{"a", "b"} {
		_, err := q.Enter(t.Context(), name)
		if !problem.Is(err, problem.Unavailable) || err.Error() != "Too much. Try again shortly." {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Leave()
	if len(q.users) != 0 {
		t.Errorf("%d users are remembered", len(q.users))
	}
	enter(t, q, "b").Leave()
}

func TestQueue_callers_of_a_user_are_bounded(t *testing.T) {
	t.Parallel()
	q := New(Config{Slots: 1, PerUser: 1, Wait: testkit.Patience, Busy: "Too much."})
	s := enter(t, q, "a")
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	for range perUserWaiting {
		go func() {
			_, err := q.Enter(ctx, "a")
			over <- err
		}()
	}
	testkit.Eventually(t, "all callers wait", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.users["a"].callers == perUserWaiting+1
	})
	if _, err := q.Enter(t.Context(), "a"); !problem.Is(err, problem.Unavailable) {
		t.Errorf("one more caller: %v", err)
	}
	cancel()
	for range perUserWaiting {
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that leaves: %v", err)
		}
	}
	s.Leave()
}

func TestLend_frees_the_slot_but_not_the_share(t *testing.T) {
	t.Parallel()
	q := New(Config{Slots: 1, PerUser: 1, Wait: testkit.Patience, Busy: "Too much."})
	s := enter(t, q, "a")
	ctx := Holding(t.Context(), s)
	again, err := q.Enter(ctx, "a")
	testkit.Must(t, err)
	again.Leave()
	testkit.Must(t, Lend(ctx, func() error {
		enter(t, q, "b").Leave()
		if !refused(t, q, "a") {
			t.Error("the user got another slot")
		}
		return nil
	}))
	if !refused(t, q, "b") {
		t.Error("the slot was not taken again")
	}
	s.Leave()
	enter(t, q, "b").Leave()

	called := false
	testkit.Must(t, Lend(t.Context(), func() error { called = true; return nil }))
	if !called {
		t.Error("without a slot, the work is not done")
	}
}
