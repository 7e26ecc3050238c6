// Package testkit holds the helpers that tests of all modules share.
package testkit

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// Patience is the one deadline of all that tests wait for. No test depends on its length: it only has to be
// longer than anything takes on a machine whose processors are busy with other programs.
const Patience = 5 * time.Minute

// LongRequests are settings of control and standalone with which no request of a test meets the product's limits of time, however busy
// the machine is. Callers must not change them.
var LongRequests = []string{"LOOKUP_TIMEOUT=" + Patience.String(), "REQUEST_TIMEOUT=" + Patience.String()}

// Eventually waits until f returns true. It fails the test, naming what it awaited, if that has not happened after five
// minutes. It calls f at least once, on the test's goroutine, so f may call t.Fatal. The pause between calls is a twentieth
// of the time waited so far, but at least 1 ms and at most 20 ms.
//
// There is no variant with a shorter deadline, because a test that fails on a slow machine says nothing about the code.
// A benchmark measures what has to be fast.
func Eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	eventually(t, Patience, what, f)
}

// Must fails the test at once if err is not nil. It costs a benchmark nothing otherwise.
func Must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Equal compares two values, and names what was compared if they differ.
func Equal[T comparable](t testing.TB, got, want T, what string, args ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", fmt.Sprintf(what, args...), got, want)
	}
}

// Run runs a service until the test ends or stop is called. The service must end without an error.
func Run(t testing.TB, service func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := service(ctx); err != nil {
			t.Errorf("a service ended with %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func eventually(t testing.TB, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); {
		waited := time.Since(began)
		if waited > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(min(max(waited/20, time.Millisecond), 20*time.Millisecond))
	}
}
