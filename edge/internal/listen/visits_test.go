//go:build linux

package listen_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/conns"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Simple requests are answered without the server, and all others by the server. Both see the client's address.
func TestVisits_and_the_server(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		pieces := "visit" // a goroutine of its own may wait for the rest
		if kind == plain {
			pieces = "server"
		}
		for name, c := range map[string]struct {
			pieces []string
			want   []string
		}{
			"first and later": {[]string{simpleVisit, simpleVisit, simpleVisit}, []string{"visit", "visit", "visit"}},
			"two at once":     {[]string{simpleVisit + simpleVisit}, []string{"visit", "visit"}},
			"in pieces":       {[]string{simpleVisit[:9], simpleVisit[9:]}, []string{pieces}},
			"not simple":      {[]string{otherVisit}, []string{"server"}},
			"with a body": {[]string{"POST /visit HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody", simpleVisit},
				[]string{"server", "server"}},
			"one, then two":   {[]string{simpleVisit, simpleVisit + otherVisit}, []string{"visit", "visit", "server"}},
			"two, then one":   {[]string{otherVisit + simpleVisit}, []string{"server", "server"}},
			"a late request":  {[]string{"", simpleVisit}, []string{"visit"}},
			"then not simple": {[]string{simpleVisit, simpleVisit, otherVisit}, []string{"visit", "visit", "server"}},
			// "" is either: the pieces may arrive together
			"a late rest":      {[]string{simpleVisit, simpleVisit[:4], simpleVisit[4:]}, []string{"visit", ""}},
			"an empty line":    {[]string{"\r\n" + simpleVisit}, []string{"server"}},
			"HTTP/1.0, closes": {[]string{"GET /other HTTP/1.0\r\n\r\n"}, []string{"server"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				v := visitable(t, kind, 1000, patientTimeouts, "")
				conn := v.dial()
				in, got := bufio.NewReader(conn), 0
				for _, piece := range c.pieces {
					if _, err := io.WriteString(conn, piece); err != nil {
						t.Fatal(err)
					}
					if !strings.HasSuffix(piece, "\r\n\r\n") && !strings.HasSuffix(piece, "body") {
						// The system holds a connection back until bytes arrive, or for a second.
						testkit.Eventually(t, "the connection", func() bool { return v.l.Open() == 1 })
						continue
					}
					for range max(1, strings.Count(piece, "GET ")) {
						if body, want := v.answer(in), c.want[got]+" of "+conn.LocalAddr().String(); !strings.HasSuffix(body, want) {
							t.Errorf("answer %d is %q, want %q", got, body, want)
						}
						got++
					}
				}
				if got != len(c.want) {
					t.Errorf("%d answers, want %d", got, len(c.want))
				}
			})
		}
	})
}

// The server loses a connection that is idle for some time. The connection stays open, and its next requests are answered.
func TestVisits_leave_the_server(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "", 50*time.Millisecond)
		all, open := v.dial(), v.dial()
		in, other := bufio.NewReader(all), bufio.NewReader(open)
		for range 2 {
			v.exchange(open, other, simpleVisit)
			if got := v.exchange(all, in, otherVisit); !strings.HasPrefix(got, "server ") {
				t.Fatalf("got %q", got)
			}
		}
		testkit.Eventually(t, "the server has no connections", func() bool { return v.server.GetOpenConnectionsCount() == 0 })
		if n := v.l.Open(); n != 2 {
			t.Errorf("%d connections are open, want 2", n)
		}
		for i, want := range []string{"visit ", "server "} {
			if got := v.exchange(all, in, []string{simpleVisit, otherVisit}[i]); !strings.HasPrefix(got, want) {
				t.Errorf("answer %d is %q, want %q", i, got, want)
			}
		}
		testkit.Eventually(t, "the server has no connections", func() bool { return v.server.GetOpenConnectionsCount() == 0 })
		v.stopped()
		v.ended(all)
		v.ended(open)
		if n := v.l.Open(); n != 0 {
			t.Errorf("%d connections are open after the stop", n)
		}
	})
}

// No request is lost that arrives while its connection leaves the server.
func TestVisits_requests_while_leaving(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 10_000, patientTimeouts, "", leavesAfter)
		var clients sync.WaitGroup
		failures := make(chan error, 300)
		for n := range 300 {
			clients.Go(func() { failures <- intermittent(v, n) })
		}
		clients.Wait()
		close(failures)
		for err := range failures {
			if err != nil {
				t.Error(err)
			}
		}
		if v.visits.Load() == 0 {
			t.Error("no connection left the server")
		}
		testkit.Eventually(t, "all connections are closed", func() bool { return v.l.Open() == 0 })
	})
}

// leavesAfter is the time after which the server loses idle connections, at the next sweep.
const leavesAfter = 100 * time.Millisecond

// intermittent sends pairs of requests. The pauses between them end when the server loses connections.
func intermittent(v *visited, n int) error {
	c, err := v.connect()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for i := range 8 {
		if i%2 == 0 && i > 0 {
			pause(leavesAfter + time.Duration((n*37+i*101)%350)*time.Millisecond)
		}
		if _, err := io.WriteString(c, []string{simpleVisit, otherVisit}[(n+i)%2]); err != nil {
			return err
		}
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return fmt.Errorf("request %d of client %d: %w", i, n, err)
		}
		if body, err := io.ReadAll(r.Body); err != nil || !bytes.HasSuffix(body, []byte(c.LocalAddr().String())) {
			return errors.Join(err, fmt.Errorf("got %q at %s", body, c.LocalAddr()))
		}
	}
	return nil
}

// A connection ends when the visitor or the answer says so, and none is left behind.
func TestVisits_ends(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "")
		for range 50 {
			c := v.dial()
			if got := v.exchange(c, bufio.NewReader(c), onlyVisit); !strings.HasPrefix(got, "visit ") {
				t.Fatalf("got %q", got)
			}
			v.ended(c)
			c = v.dial()
			if got := v.exchange(c, bufio.NewReader(c), simpleVisit); !strings.HasPrefix(got, "visit ") {
				t.Fatalf("got %q", got)
			}
			_ = c.Close()
			c = v.dial() // says nothing
			_ = c.Close()
		}
		testkit.Eventually(t, "all connections are closed", func() bool { return v.l.Open() == 0 })
	})
}

// Parked connections have the same deadlines as others.
func TestVisits_deadlines(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, listen.Timeouts{Read: 1500 * time.Millisecond, Write: time.Minute, Idle: 500 * time.Millisecond}, "")
		began := time.Now() // the listener may accept before a dial returns
		quiet, kept := v.dial(), v.dial()
		v.exchange(kept, bufio.NewReader(kept), simpleVisit)
		v.ended(kept)
		if took := time.Since(began); took < 500*time.Millisecond {
			t.Errorf("an idle connection was closed after %v", took)
		}
		testkit.Within(t, 5*time.Second, began, "closing an idle connection")
		v.ended(quiet)
		if took := time.Since(began); took < 1500*time.Millisecond {
			t.Errorf("a silent connection was closed after %v", took)
		}
	})
}

// At the limit of connections, those that have their answer are closed for new ones, but not before they are idle for a second.
func TestVisits_shed_idle_connections(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		const limit = 20
		v := visitable(t, kind, limit, listen.Timeouts{Read: time.Minute, Write: time.Minute, Idle: time.Minute}, "")
		kept, began := make([]net.Conn, limit), time.Now()
		for i := range kept {
			kept[i] = v.dial()
			v.exchange(kept[i], bufio.NewReader(kept[i]), simpleVisit)
			if i == 0 {
				sweeps(t, v.l, 2) // whose clock measures how long connections with a goroutine are idle
			}
		}
		next := v.dial()
		if got := v.exchange(next, bufio.NewReader(next), simpleVisit); !strings.HasPrefix(got, "visit ") {
			t.Errorf("got %q", got)
		}
		if took := time.Since(began); took < conns.IdleFor {
			t.Errorf("a new visitor displaced another after %v", took)
		}
		v.ended(kept[0])
		if v.l.Shed() == 0 || v.l.Open() > limit {
			t.Errorf("%d connections were shed, %d are open", v.l.Shed(), v.l.Open())
		}
	})
}

// An answer that is larger than the send buffer arrives completely while other visitors are answered.
func TestVisits_large_answers(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		large := strings.Repeat("0123456789abcdef", 1<<20)
		v := visitable(t, kind, 1000, patientTimeouts, large)
		slow := v.dial()
		if _, err := io.WriteString(slow, onlyVisit); err != nil {
			t.Fatal(err)
		}
		answer := bufio.NewReader(slow)
		if _, err := answer.Peek(1); err != nil {
			t.Fatal(err)
		}
		other := v.dial()
		if got := v.exchange(other, bufio.NewReader(other), otherVisit); !strings.HasPrefix(got, "server ") {
			t.Errorf("another visitor got %q", got)
		}
		if got := v.answer(answer); got != large {
			t.Errorf("got %d bytes of %d", len(got), len(large))
		}
	})
}

// All requests that arrive together are answered, also if they fill the buffer of the loop.
func TestVisits_many_at_once(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "")
		const size, requests = 1 << 10, 64
		request := "GET /visit HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", size-len("GET /visit HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n")) +
			"\r\n\r\n"
		conn := v.dial()
		if _, err := io.WriteString(conn, strings.Repeat(request, requests)); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		for n := range requests {
			if got := v.answer(in); kind == plain && !strings.HasPrefix(got, "visit ") {
				t.Errorf("answer %d is %q, want one of the loop", n, got)
			}
		}
	})
}

// Answers have the order of their requests, also if the server gives some of them and however the requests arrive.
func TestVisits_in_order(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "", leavesAfter)
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		for range 30 {
			conn := v.dial()
			var sent strings.Builder
			const requests = 200
			for n := range requests {
				path := []string{"/visit", "/visit", "/visit", "/visit", "/other"}[random.IntN(5)]
				fmt.Fprintf(&sent, "GET %s?%d HTTP/1.1\r\nHost: h\r\n\r\n", path, n)
			}
			failed := make(chan error, 1)
			text, most := sent.String(), 1+random.IntN(4000)
			sizes := rand.New(rand.NewPCG(seed, uint64(most)))
			go func() {
				for len(text) > 0 {
					n := min(len(text), 1+sizes.IntN(most))
					if _, err := io.WriteString(conn, text[:n]); err != nil {
						failed <- err
						return
					}
					text = text[n:]
				}
				failed <- nil
			}()
			in := bufio.NewReader(conn)
			for n := range requests {
				r, err := http.ReadResponse(in, nil)
				testkit.Must(t, err)
				_, err = io.Copy(io.Discard, r.Body)
				testkit.Must(t, err)
				if _, number, _ := strings.Cut(r.Header.Get("Uri"), "?"); number != fmt.Sprint(n) {
					t.Fatalf("answer %d is for %s", n, r.Header.Get("Uri"))
				}
			}
			testkit.Must(t, <-failed)
		}
	})
}

// A client that ends its side together with its last requests gets all answers.
func TestVisits_of_a_client_that_has_ended_its_side(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "")
		for range 50 {
			conn := v.dial().(interface {
				net.Conn
				CloseWrite() error
			})
			in := bufio.NewReader(conn)
			v.exchange(conn, in, simpleVisit)
			_, err := io.WriteString(conn, simpleVisit+simpleVisit)
			testkit.Must(t, errors.Join(err, conn.CloseWrite()))
			for range 2 {
				v.answer(in)
			}
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("after the answers: %v", err)
			}
		}
	})
}

// A stop answers the connections that the system has already accepted, and closes the idle ones.
func TestVisits_stop(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		for range 20 {
			v := visitable(t, kind, 1000, patientTimeouts, "")
			kept, served := v.dial(), v.dial()
			v.exchange(kept, bufio.NewReader(kept), simpleVisit)
			in := bufio.NewReader(served)
			v.exchange(served, in, otherVisit)
			waiting := make([]net.Conn, 30)
			for i := range waiting {
				waiting[i] = v.dial()
				if _, err := io.WriteString(waiting[i], simpleVisit); err != nil {
					t.Fatal(err)
				}
			}
			if kind != plain {
				testkit.Eventually(t, "all are accepted", func() bool { return v.l.Open() == 2+len(waiting) })
			}
			v.stopped()
			for _, c := range waiting {
				if got := v.answer(bufio.NewReader(c)); !strings.HasPrefix(got, "visit ") {
					t.Fatalf("got %q", got)
				}
			}
			v.ended(kept)
			if c, err := net.Dial("tcp", v.addr); err == nil {
				_ = c.Close()
				t.Error("the port is open after the stop")
			}
		}
	})
}

// Visits from many clients at once, which end in different ways, are answered completely.
func TestVisits_at_once(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v, visits := visitable(t, kind, 10_000, patientTimeouts, ""), 100
		if v.l.SecureAddr() != nil {
			visits = 10 // because handshakes take long
		}
		var all sync.WaitGroup
		failures := make(chan error, 64)
		for n := range 64 {
			all.Go(func() {
				for i := range visits {
					if err := oneVisit(v, []string{simpleVisit, onlyVisit, otherVisit}[(n+i)%3], (n+i)%5 == 0); err != nil {
						failures <- err
						return
					}
				}
			})
		}
		all.Wait()
		close(failures)
		for err := range failures {
			t.Error(err)
		}
		testkit.Eventually(t, "all connections are closed", func() bool { return v.l.Open() == 0 })
	})
}

func oneVisit(v *visited, request string, twice bool) error {
	c, err := v.connect()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for range 2 {
		if _, err := io.WriteString(c, request); err != nil {
			return err
		}
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		if body, err := io.ReadAll(r.Body); err != nil || !bytes.HasSuffix(body, []byte(c.LocalAddr().String())) {
			return errors.Join(err, fmt.Errorf("got %q at %s", body, c.LocalAddr()))
		}
		if !twice || request == onlyVisit {
			return nil
		}
	}
	return nil
}

// A listener may be closed while its goroutines start.
func TestVisits_close_at_the_start(t *testing.T) {
	t.Parallel()
	for range 300 {
		raw, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.Must(t, err)
		l := listen.New(raw, patientTimeouts)
		l.AwaitHeads(10)
		l.AnswerVisits(func() (listen.Answer, listen.Settle) {
			return func(net.Conn, []byte, []byte, bool) ([]byte, int, bool) { return nil, 0, false }, nil
		})
		over := make(chan error, 1)
		go func() {
			_, err := l.Accept()
			over <- err
		}()
		<-l.Accepts()
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
		if err := <-over; !errors.Is(err, net.ErrClosed) {
			t.Fatalf("Accept returned %v", err)
		}
		if c, err := net.Dial("tcp", raw.Addr().String()); err == nil {
			_ = c.Close()
			t.Fatal("the port is open after Close")
		}
	}
}
