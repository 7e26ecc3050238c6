package testkit

import (
	"fmt"
	"testing"
	"time"
)

// Size returns the size of an experiment: short in make test, which every commit must pass, and full in make proof, which a
// release must pass. The build tag proof makes the difference. Tests that only a release needs are in files with that tag.
func Size[T any](short, full T) T {
	if proof {
		return full
	}
	return short
}

// Within fails the test of a promise with a time, for example that a server stops within ten seconds, if more time has passed since
// began. It does so in make proof only. In make test other programs share the processors, so the time says nothing there.
func Within(t testing.TB, limit time.Duration, began time.Time, what string) {
	t.Helper()
	if took := time.Since(began); proof && took > limit {
		t.Errorf("%s took %v, and may take %v", what, took.Round(time.Millisecond), limit)
	}
}

// Publish logs what a test has proved, with its counts, for the table at the end of make proof. promise is its name in
// docs/developers/testing.md, for example G1.
func Publish(t testing.TB, promise, format string, args ...any) {
	t.Helper()
	t.Logf("proved %s: %s", promise, fmt.Sprintf(format, args...))
}
