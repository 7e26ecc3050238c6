package fairqueue

import (
	"context"
	"fmt"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	maxWaiting = 256
	perClient  = 16
	remember   = 4096
)

func newQueue(slots int) *Queue[string] {
	return New[string](Config{Slots: slots, Waiting: maxWaiting, PerClient: perClient, Remember: remember})
}

// wait adds a caller to the queue and returns the channel that receives whether it has a slot.
func wait(t *testing.T, q *Queue[string], client string) <-chan bool {
	t.Helper()
	granted, ok := q.enter(client)
	if !ok {
		t.Fatalf("%s is refused", client)
	}
	return granted
}

func has(granted <-chan bool) bool {
	select {
	case ok := <-granted:
		return ok
	default:
		return false
	}
}

func TestQueue_newcomer_is_next(t *testing.T) {
	t.Parallel()
	q := newQueue(2)
	for range 2 {
		wait(t, q, "busy") // takes a slot
	}
	var flood []<-chan bool
	for i := range 24 {
		for range 8 {
			flood = append(flood, wait(t, q, fmt.Sprint("flood ", i)))
		}
	}
	for range 24 * 2 { // each client of the flood has had one or two turns
		q.Release()
	}
	newcomer := wait(t, q, "newcomer")
	before := 0
	for _, granted := range flood {
		if has(granted) {
			before++
		}
	}
	if before != 48 || has(newcomer) {
		t.Fatalf("%d turns of the flood", before)
	}
	if q.Release(); !has(newcomer) {
		t.Fatal("the next turn went to a client that has had one")
	}
}

func TestQueue_is_bounded_and_has_room_for_a_newcomer(t *testing.T) {
	t.Parallel()
	q := newQueue(1)
	wait(t, q, "busy")
	dropped := 0
	var flood []<-chan bool
	for i := range maxWaiting / perClient {
		for range perClient {
			flood = append(flood, wait(t, q, fmt.Sprint("flood ", i)))
		}
	}
	if _, ok := q.enter("flood 0"); ok || q.waiting != maxWaiting {
		t.Fatalf("%d wait", q.waiting)
	}
	newcomer := wait(t, q, "newcomer")
	for _, granted := range flood {
		select {
		case ok := <-granted:
			if ok {
				t.Error("a slot was granted twice")
			}
			dropped++
		default:
		}
	}
	if dropped != 1 || q.waiting != maxWaiting {
		t.Fatalf("%d lost their place, %d wait", dropped, q.waiting)
	}
	for range maxWaiting {
		q.Release()
	}
	if q.Release(); q.waiting != 0 || q.free != 1 || !has(newcomer) {
		t.Fatalf("%d wait, %d slots are free", q.waiting, q.free)
	}
}

func TestQueue_callers_that_leave_free_their_place(t *testing.T) {
	t.Parallel()
	q := newQueue(1)
	ctx, cancel := context.WithCancel(t.Context())
	if !q.Acquire(ctx, "a") {
		t.Fatal("no slot in an empty queue")
	}
	left := make(chan bool)
	for range 3 {
		go func() { left <- q.Acquire(ctx, "b") }()
	}
	testkit.Eventually(t, "three callers wait", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.waiting == 3
	})
	cancel()
	for range 3 {
		if <-left {
			t.Error("got a slot that is taken")
		}
	}
	if q.Release(); q.waiting != 0 || q.free != 1 {
		t.Fatalf("%d wait, %d slots are free", q.waiting, q.free)
	}
	for i := range remember + 2 {
		if !q.Acquire(t.Context(), fmt.Sprint(i)) {
			t.Fatal("no slot")
		}
		q.Release()
	}
	if len(q.clients) > remember {
		t.Errorf("%d clients are remembered", len(q.clients))
	}
}

// Without memory of turns, clients take turns in the order of their arrival, whatever the number of their callers.
func TestQueue_without_memory_takes_turns_in_order(t *testing.T) {
	t.Parallel()
	q := New[string](Config{Slots: 1, Waiting: maxWaiting, PerClient: 8})
	wait(t, q, "busy")
	callers := map[string]<-chan bool{}
	for _, name := range []string{"a1", "a2", "a3", "b1", "c1"} {
		callers[name] = wait(t, q, name[:1])
	}
	next := func() string {
		q.Release()
		for name, granted := range callers {
			if has(granted) {
				return name
			}
		}
		return "nobody"
	}
	for _, want := range []string{"a1", "b1", "c1"} {
		if got := next(); got != want {
			t.Fatalf("the slot went to %s, want %s", got, want)
		}
	}
	callers["b2"] = wait(t, q, "b") // b has had its turn and queues again, behind a
	for _, want := range []string{"a2", "b2", "a3", "nobody"} {
		if got := next(); got != want {
			t.Fatalf("the slot went to %s, want %s", got, want)
		}
	}
	if len(q.clients) != 0 {
		t.Errorf("%d clients are remembered", len(q.clients))
	}
}
