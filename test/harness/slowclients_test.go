package harness_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// slowAddress and slowNumber are environment variables that make the test binary a crowd of slow clients of an address.
const (
	slowAddress = "SLOW_CLIENTS_OF"
	slowNumber  = "SLOW_CLIENTS"
)

// slowClients is a process with slow clients. It is not the process of the test, so that it does not delay other clients there.
type slowClients struct {
	t   *testing.T
	in  io.Closer
	out *bufio.Reader
}

// newSlowClients starts 5n/2 clients that send a byte a second, n that send requests and never read, and n that are silent. They
// connect again when their connection is closed.
func newSlowClients(t *testing.T, address string, n int) *slowClients {
	t.Helper()
	in, out := startSelf(t, slowAddress+"="+address, fmt.Sprint(slowNumber, "=", n))
	return &slowClients{t, in, out}
}

// stop ends the clients. It returns how many requests with a byte a second were cut, and after how many milliseconds at most.
func (s *slowClients) stop() (cut, longest int64) {
	s.t.Helper()
	testkit.Must(s.t, s.in.Close())
	_, err := fmt.Fscan(s.out, &cut, &longest)
	testkit.Must(s.t, err)
	return cut, longest
}

// beSlow is the process of slowClients. It ends when its standard input does.
func beSlow(address, number string) {
	var n int
	if _, err := fmt.Sscan(number, &n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s := &slowCrowd{address: address, over: make(chan struct{})}
	s.open(5*n/2, s.drip)
	s.open(n, s.flood)
	s.open(n, s.wait)
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(s.over)
	s.clients.Wait()
	fmt.Println(s.cut.Load(), s.longest.Load()) // the test reads it
	os.Exit(0)
}

// slowCrowd are the clients of beSlow.
type slowCrowd struct {
	address string
	over    chan struct{}
	clients sync.WaitGroup
	cut     atomic.Int64 // requests with a byte a second that the server has ended
	longest atomic.Int64 // milliseconds until then
}

// open starts clients of a kind. They have several addresses: the system needs long to find a free port of an address that uses most of
// its ports.
func (s *slowCrowd) open(times int, use func(net.Conn)) {
	for n := range times {
		from := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(n%100))}}
		s.clients.Go(func() {
			for {
				conn, err := from.Dial("tcp", s.address) // fails if the accept queue of the kernel overflows
				if err == nil {
					use(conn)
					conn.Close()
				}
				if !fleet.HoldUnless(s.over, rand.N(200*time.Millisecond)) {
					return
				}
			}
		})
	}
}

// drip sends a byte a second.
func (s *slowCrowd) drip(conn net.Conn) {
	began := time.Now()
	request := "GET /link1 HTTP/1.1\r\nHost: sho.rt\r\nX-Slow: " + string(bytes.Repeat([]byte("a"), 4000))
	closed := make(chan struct{})
	go func() { // A read fails as soon as the edge closes the connection. A write may fail only two seconds later.
		defer close(closed)
		_, _ = io.Copy(io.Discard, conn)
	}()
	for i := 0; ; i++ {
		_, _ = conn.Write([]byte{request[i]}) // fails once the edge has closed the connection
		select {
		case <-closed:
			s.cut.Add(1)
			for ms := time.Since(began).Milliseconds(); ; {
				old := s.longest.Load()
				if ms <= old || s.longest.CompareAndSwap(old, ms) {
					return
				}
			}
		default:
		}
		if !fleet.HoldUnless(s.over, time.Second) {
			return
		}
	}
}

// flood sends requests and never reads.
func (s *slowCrowd) flood(conn net.Conn) {
	one := []byte("GET /nobody-has-this-link HTTP/1.1\r\nHost: sho.rt\r\nAccept: text/html\r\n\r\n")
	many := bytes.Repeat(one, 200)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // on failure the buffer is larger, which is an easier case
	}
	for {
		select {
		case <-s.over:
			return
		default:
		}
		if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			return
		}
		if _, err := conn.Write(many); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// wait sends nothing.
func (s *slowCrowd) wait(conn net.Conn) {
	go func() {
		<-s.over
		conn.Close()
	}()
	_, _ = conn.Read(make([]byte, 1)) // until the edge closes it
}
