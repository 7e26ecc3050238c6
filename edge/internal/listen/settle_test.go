//go:build linux

package listen_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// disk lets answers to visits wait until it is released.
type disk struct {
	waiting  atomic.Int64 // answers that wait
	released chan struct{}
	refusal  []byte
}

func (d *disk) settle() func() []byte {
	d.waiting.Add(1)
	return func() []byte {
		<-d.released
		return d.refusal
	}
}

// slowDisk makes the answers to the visits of some connections wait, which are sent in several ways.
func (v *visited) slowDisk(refusal string) (d *disk, waiting []net.Conn) {
	v.t.Helper()
	d = &disk{released: make(chan struct{}), refusal: []byte(refusal)}
	if refusal == "" {
		d.refusal = nil
	}
	kept := v.dial()
	v.exchange(kept, bufio.NewReader(kept), simpleVisit)
	v.disk.Store(d)
	waiting = []net.Conn{kept, v.dial(), v.dial(), v.dial()}
	for i, c := range waiting {
		request := simpleVisit + simpleVisit
		if i == 2 {
			request = simpleVisit + otherVisit // which the server answers
		}
		if _, err := io.WriteString(c, request); err != nil {
			v.t.Fatal(err)
		}
		testkit.Eventually(v.t, "the answer waits", func() bool { return d.waiting.Load() == int64(i+1) })
	}
	return d, waiting
}

// unanswered fails if bytes have arrived.
func (v *visited) unanswered(c net.Conn) {
	v.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n > 0 {
		v.t.Errorf("an answer came before its click was on the disk, %v", err)
	}
	_ = c.SetReadDeadline(time.Time{})
}

// Answers that wait for the disk delay nothing else: neither other requests nor the deadlines of other connections. Then they are sent
// in the order of the requests, and the connections go on.
func TestVisits_wait_for_the_disk(t *testing.T) {
	t.Parallel()
	v := visitable(t, plain, 1000, listen.Timeouts{Read: 3 * time.Second, Write: time.Hour, Idle: 3 * time.Second}, "")
	silent := v.dial()
	d, waiting := v.slowDisk("")
	other := v.dial()
	if got := v.exchange(other, bufio.NewReader(other), otherVisit); !strings.HasPrefix(got, "server ") {
		t.Errorf("got %q", got)
	}
	v.ended(silent)
	v.ended(other)
	// Requests that arrive meanwhile are answered afterwards.
	if _, err := io.WriteString(waiting[1], simpleVisit); err != nil {
		t.Fatal(err)
	}
	_ = waiting[3].(*net.TCPConn).CloseWrite()
	for _, c := range waiting {
		v.unanswered(c)
	}
	v.disk.Store(nil)
	close(d.released)
	for i, want := range [][]string{{"visit", "visit"}, {"visit", "visit", "visit"}, {"visit", "server"}, {"visit", "visit"}} {
		in := bufio.NewReader(waiting[i])
		for _, by := range want {
			if got := v.answer(in); !strings.HasPrefix(got, by+" ") {
				t.Errorf("connection %d got %q, want an answer of %s", i, got, by)
			}
		}
		v.ended(waiting[i])
	}
}

// If clicks cannot be stored, nobody gets the answers, on any kind of connection.
func TestVisits_refuse_if_the_disk_fails(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "")
		d, waiting := v.slowDisk("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
		v.disk.Store(nil)
		close(d.released)
		for _, c := range waiting {
			in := bufio.NewReader(c)
			if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != http.StatusServiceUnavailable {
				t.Fatalf("got %v, %v", r, err)
			}
			if n, _ := io.Copy(io.Discard, in); n != 0 { // bytes that were not read make the system reset the connection
				t.Errorf("%d bytes after the refusal", n)
			}
		}
		next := v.dial()
		if got := v.exchange(next, bufio.NewReader(next), simpleVisit); !strings.HasPrefix(got, "visit ") {
			t.Errorf("got %q", got)
		}
	})
}

// A stop waits for the answers that wait for the disk.
func TestVisits_stop_after_the_disk(t *testing.T) {
	onEach(t, func(t *testing.T, kind string) {
		v := visitable(t, kind, 1000, patientTimeouts, "")
		d, waiting := v.slowDisk("")
		go v.stopped()
		testkit.Eventually(t, "the port is closed", func() bool {
			c, err := net.Dial("tcp", v.addr)
			if err == nil {
				_ = c.Close()
			}
			return err != nil
		})
		for _, c := range waiting {
			v.unanswered(c)
		}
		v.disk.Store(nil)
		close(d.released)
		for _, c := range waiting {
			if got := v.answer(bufio.NewReader(c)); !strings.HasPrefix(got, "visit ") {
				t.Errorf("got %q", got)
			}
		}
		v.stopped()
	})
}
