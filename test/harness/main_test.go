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

// count returns the number of repetitions of an experiment: N in the environment, or the short number.
func count(t *testing.T, short int) int { return number(t, "N", short) }

// links returns the number of links: LINKS in the environment, or the short number.
func links(t *testing.T, short int) int { return number(t, "LINKS", short) }

// rate returns the requests per second of the load: RATE in the environment, or the given number, which suits a busy
// machine.
func rate(t *testing.T, short int) int { return number(t, "RATE", short) }

func number(t *testing.T, name string, short int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return short
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number of at least 1", name, s)
	}
	return n
}

// long returns the duration of an experiment: DUR in the environment, or the short duration.
func long(t *testing.T, short time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv("DUR")
	if s == "" {
		return short
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("DUR=%s: want a positive duration, such as 10m", s)
	}
	return d
}
