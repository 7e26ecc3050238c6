//go:build linux

package listen_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Clients that have sent many requests are answered in turn, a few requests at a time.
func TestVisits_share_the_loop(t *testing.T) {
	t.Parallel()
	const requests, most = 2000, 8<<10/100 + 1 // an answer has more than 100 bytes
	v := visitable(t, plain, 1000, patientTimeouts, strings.Repeat("x", 100))
	gate := make(chan struct{})
	var order []string // of the loop; read after its last answer has arrived
	v.watch.Store(new(func(c net.Conn) {
		<-gate
		order = append(order, c.RemoteAddr().String())
	}))
	clients := []net.Conn{v.dial(), v.dial(), v.dial()}
	for _, c := range clients { // the loop waits in the first request of all
		_, err := io.WriteString(c, strings.Repeat(simpleVisit, requests))
		testkit.Must(t, err)
	}
	close(gate)
	for _, c := range clients {
		in := bufio.NewReader(c)
		for range requests {
			v.answer(in)
		}
	}
	v.stopped()
	if len(order) != len(clients)*requests {
		t.Fatalf("the loop has answered %d requests of %d", len(order), len(clients)*requests)
	}
	left := map[string]int{}
	for _, c := range clients {
		left[c.LocalAddr().String()] = requests
	}
	run := 0
	for n, client := range order {
		if run++; n > 0 && client != order[n-1] {
			run = 1
		}
		if left[client]--; left[client] == 0 {
			delete(left, client)
		}
		if run > most && len(left) > 1 {
			t.Fatalf("%d requests of one client were answered in a row, want at most %d", run, most)
		}
	}
}

// A client that reads late gets the answers to all its requests, however large they are.
func TestVisits_large_answers_to_many_requests(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		large := strings.Repeat("0123456789abcdef", 4<<10)
		v := visitable(t, kind, 1000, patientTimeouts, large)
		for _, requests := range []int{1, 300} {
			conn := v.dial()
			_, err := io.WriteString(conn, strings.Repeat(simpleVisit, requests))
			testkit.Must(t, err)
			other := v.dial()
			if got := v.exchange(other, bufio.NewReader(other), simpleVisit); got != large {
				t.Errorf("another visitor got %d bytes of %d", len(got), len(large))
			}
			in := bufio.NewReader(conn)
			for n := range requests {
				if got := v.answer(in); got != large {
					if !strings.HasPrefix(got, "server ") || kind == plain && requests == 1 {
						t.Fatalf("answer %d has %d bytes of %d", n, len(got), len(large))
					}
				}
			}
			if got := v.exchange(conn, in, otherVisit); !strings.HasPrefix(got, "server ") {
				t.Errorf("after %d requests, the server's answer is %q", requests, got)
			}
		}
	})
}

// A stop waits for no client that has sent many requests, also if answers begin to wait for the disk.
func TestVisits_stop_while_clients_wait_for_their_turn(t *testing.T) {
	t.Parallel()
	const requests = 1000
	v := visitable(t, plain, 1000, patientTimeouts, "")
	over, gate := make(chan struct{}), make(chan struct{})
	stopped := "" // the client whose requests are answered at the stop; only the loop uses it
	v.watch.Store(new(func(c net.Conn) {
		<-gate
		switch client := c.RemoteAddr().String(); {
		case stopped == "" && v.visits.Load() >= requests:
			stopped = client
			go func() {
				defer close(over)
				v.stopped()
			}()
			testkit.Eventually(t, "the stop", v.l.IsClosed)
		case stopped != "" && stopped != client && v.disk.Load() == nil:
			d := &disk{released: make(chan struct{})}
			close(d.released)
			v.disk.Store(d)
		}
	}))
	clients := []net.Conn{v.dial(), v.dial()}
	for _, c := range clients {
		_, err := io.WriteString(c, strings.Repeat(simpleVisit, requests))
		testkit.Must(t, err)
	}
	close(gate)
	for _, c := range clients {
		in := bufio.NewReader(c)
		v.answer(in)
		_, _ = io.Copy(io.Discard, in) // a reset tells that requests were not answered
	}
	<-over
	if n := v.l.Open(); n != 0 {
		t.Errorf("%d connections are open after the stop", n)
	}
}
