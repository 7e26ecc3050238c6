package harness_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

func TestMain(m *testing.M) {
	if n := os.Getenv(standInLinks); n != "" {
		serveShlink(n)
	}
	if address := os.Getenv(slowAddress); address != "" {
		beSlow(address, os.Getenv(slowNumber))
	}
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen { // experiments wait for more than half of their time
		_ = flag.Set("test.parallel", "4") // the flag exists
	}
	code := m.Run()
	fleet.RemoveTemplate()
	os.Exit(code)
}

// count returns the number of repetitions of an experiment: N in the environment, or n.
func count(t *testing.T, n int) int { return number(t, "N", n) }

// links returns the number of links: LINKS in the environment, or n.
func links(t *testing.T, n int) int { return number(t, "LINKS", n) }

// rate returns the requests per second of the load: RATE in the environment, or n.
func rate(t *testing.T, n int) int { return number(t, "RATE", n) }

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number of at least 1", name, s)
	}
	return n
}

// long returns the duration of an experiment: DUR in the environment, or d.
func long(t *testing.T, d time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv("DUR")
	if s == "" {
		return d
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("DUR=%s: want a positive duration, such as 10m", s)
	}
	return d
}

// reaches waits until read returns at least want. It waits as long as the number rises, however long that takes.
func reaches(t *testing.T, what string, want int, read func() int) {
	t.Helper()
	for last := -1; last < want; {
		testkit.Eventually(t, fmt.Sprintf("%s: %d of %d", what, last, want), func() bool {
			now := read()
			rises := now > last
			last = max(last, now)
			return rises
		})
	}
}
