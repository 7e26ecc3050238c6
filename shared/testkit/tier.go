package testkit

import (
	"fmt"
	"testing"
)

// Size returns the size of an experiment: short in make test, which every commit must pass, and full in make proof, which a
// release must pass. The build tag proof makes the difference. Tests that only a release needs are in files with that tag.
func Size[T any](short, full T) T {
	if proof {
		return full
	}
	return short
}

// Publish logs what a test has proved, with its counts, for the table at the end of make proof. promise is its name in
// docs/developers/testing.md, for example G1.
func Publish(t testing.TB, promise, format string, args ...any) {
	t.Helper()
	t.Logf("proved %s: %s", promise, fmt.Sprintf(format, args...))
}
