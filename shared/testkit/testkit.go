// Package testkit holds the helpers that tests of all modules share.
package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// patience is how long Eventually waits. A test never depends on its length: it only has to be longer than anything
// takes on a machine that is busy with other tests.
const patience = time.Minute

// Eventually waits until f returns true. It fails the test, naming what it awaited, if that takes longer than a minute.
// Use Within where the time itself matters.
func Eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	Within(t, patience, what, f)
}

// Within waits until f returns true. It fails the test, naming what it awaited, if f is still false after the limit.
// It calls f at least once, on the test's goroutine, so f may call t.Fatal. The pause between calls is a twentieth of
// the time waited so far, but at least 1 ms and at most 20 ms.
func Within(t testing.TB, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); {
		waited := time.Since(began)
		if waited > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(min(max(waited/20, time.Millisecond), 20*time.Millisecond))
	}
}

var ports = struct {
	sync.Mutex
	given map[int]bool
}{given: map[int]bool{}}

// FreeAddr returns a loopback address, host:port, on which nothing listens. It returns each address once per process.
// The port lies below the range that the system uses for outgoing connections, so a program that a test has killed can
// listen on it again.
func FreeAddr(t testing.TB) string {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for range 1000 {
		n := 15000 + rand.IntN(17000)
		if ports.given[n] {
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(n))
		if err != nil {
			continue
		}
		l.Close()
		ports.given[n] = true
		return l.Addr().String()
	}
	t.Fatal("no free port between 15000 and 32000 in 1000 attempts")
	return ""
}
