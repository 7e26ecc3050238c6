//go:build proof

package clients_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Ten thousand links are planned within two seconds and applied within thirty, and the second apply changes nothing.
func TestCode_ten_thousand_links(t *testing.T) {
	c := newCoder(t)
	first, second := c.file(manyLinks("big", "first", 10_000)), c.file(manyLinks("big", "second", 10_000))
	timed := func(what string, most time.Duration, want string, args ...string) {
		t.Helper()
		begun := time.Now()
		code, out, problem := c.run(args...)
		testkit.Within(t, most, begun, what)
		t.Logf("%s: %s", what, time.Since(begun).Round(time.Millisecond))
		if code != 0 || !strings.Contains(out+problem, want) {
			t.Fatalf("%s: exit code %d\n%.2000s%.2000s", what, code, out, problem)
		}
	}
	timed("plan of new links", 2*time.Second, "Plan: 10,000 to create", "plan", first)
	timed("apply of new links", 30*time.Second, "Applied: 10,000 links written", "apply", first)
	timed("second apply", 30*time.Second, "No changes", "apply", first)
	timed("plan without changes", 2*time.Second, "No changes", "plan", first)
	timed("plan of changes", 2*time.Second, "Plan: 0 to create, 10,000 to update", "plan", second)
	timed("apply of changes", 30*time.Second, "Applied: 10,000 links written", "apply", second)
	timed("export", 30*time.Second, "version: 1", "export", "--owner", "big")
}
