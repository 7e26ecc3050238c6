// Package testkit holds the helpers that tests of all modules share.
package testkit

import (
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
