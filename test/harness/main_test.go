package harness_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

func TestMain(m *testing.M) {
	code := m.Run()
	fleet.Remove()
	os.Exit(code)
}

// count is how often an experiment does what it does: N in the environment, or its short number.
func count(t *testing.T, short int) int {
	t.Helper()
	s := os.Getenv("N")
	if s == "" {
		return short
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("N=%s is not a number of times", s)
	}
	return n
}

// long is how long an experiment goes on: DUR in the environment, or its short time.
func long(t *testing.T, short time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv("DUR")
	if s == "" {
		return short
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("DUR=%s is not a duration", s)
	}
	return d
}
