package auth

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// wait asks for a turn and returns where the answer comes, once the caller is in the queue.
func wait(t *testing.T, q *fairQueue, client string) <-chan bool {
	t.Helper()
	told, ok := q.enter(client)
	if !ok {
		t.Fatalf("%s is turned away", client)
	}
	return told
}

func has(told <-chan bool) bool {
	select {
	case ok := <-told:
		return ok
	default:
		return false
	}
}

func TestLow_BcryptQueue_a_newcomer_is_next(t *testing.T) {
	t.Parallel()
	q := newFairQueue(2)
	for range 2 {
		wait(t, q, "busy") // they have the slots
	}
	var flood []<-chan bool
	for i := range 24 {
		for range 8 {
			flood = append(flood, wait(t, q, fmt.Sprint("flood ", i)))
		}
	}
	for range 24 * 2 { // every one of the flood has had a turn or two
		q.release()
	}
	newcomer := wait(t, q, "newcomer")
	before := 0
	for _, told := range flood {
		if has(told) {
			before++
		}
	}
	if before != 48 || has(newcomer) {
		t.Fatalf("%d turns of the flood", before)
	}
	if q.release(); !has(newcomer) {
		t.Fatal("the next turn went to somebody who has had one")
	}
}

func TestLow_BcryptQueue_is_bounded_and_a_full_one_has_room_for_a_newcomer(t *testing.T) {
	t.Parallel()
	q := newFairQueue(1)
	wait(t, q, "busy")
	dropped := 0
	var flood []<-chan bool
	for i := range maxWaiting / maxOfClient {
		for range maxOfClient {
			flood = append(flood, wait(t, q, fmt.Sprint("flood ", i)))
		}
	}
	if _, ok := q.enter("flood 0"); ok || q.waiting != maxWaiting {
		t.Fatalf("%d wait", q.waiting)
	}
	newcomer := wait(t, q, "newcomer")
	for _, told := range flood {
		select {
		case ok := <-told:
			if ok {
				t.Error("a slot that nobody has given back")
			}
			dropped++
		default:
		}
	}
	if dropped != 1 || q.waiting != maxWaiting {
		t.Fatalf("%d were turned away, %d wait", dropped, q.waiting)
	}
	for range maxWaiting {
		q.release()
	}
	if q.release(); q.waiting != 0 || q.free != 1 || !has(newcomer) {
		t.Fatalf("%d wait, %d slots are free", q.waiting, q.free)
	}
}

func TestLow_BcryptQueue_those_who_leave_take_nothing_with_them(t *testing.T) {
	t.Parallel()
	q := newFairQueue(1)
	ctx, cancel := context.WithCancel(t.Context())
	if !q.acquire(ctx, "a") {
		t.Fatal("no slot in an empty queue")
	}
	left := make(chan bool)
	for range 3 {
		go func() { left <- q.acquire(ctx, "b") }()
	}
	for {
		q.mu.Lock()
		n := q.waiting
		q.mu.Unlock()
		if n == 3 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	for range 3 {
		if <-left {
			t.Error("a slot that is taken")
		}
	}
	if q.release(); q.waiting != 0 || q.free != 1 {
		t.Fatalf("%d wait, %d slots are free", q.waiting, q.free)
	}
	for i := range maxRemembered + 2 {
		if !q.acquire(t.Context(), fmt.Sprint(i)) {
			t.Fatal("no slot")
		}
		q.release()
	}
	if len(q.clients) > maxRemembered {
		t.Errorf("%d clients are remembered", len(q.clients))
	}
}

func TestH3_ClientOf(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "fe80::1%eth0": "fe80::", "": "", "pipe": "pipe",
	} {
		if got := ClientOf(ip); got != want {
			t.Errorf("%s is %s, want %s", ip, got, want)
		}
	}
}
