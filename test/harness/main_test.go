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
func count(t *testing.T, short int) int { return number(t, "N", short) }

// links is how many there are: LINKS in the environment, or a short number.
func links(t *testing.T, short int) int { return number(t, "LINKS", short) }

// rate is how many requests a second the crowd makes: RATE in the environment, or a number for a busy machine.
func rate(t *testing.T, short int) int { return number(t, "RATE", short) }

func number(t *testing.T, name string, short int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return short
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a number from 1 on", name, s)
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
