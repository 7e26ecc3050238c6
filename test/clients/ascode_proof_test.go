//go:build proof

package clients_test

import (
	"strings"
	"testing"
	"time"
)

// Ten thousand links are planned and applied, and the second apply changes nothing. The log has the times: on two idle processors, a plan
// may take two seconds and an apply thirty.
func TestCode_ten_thousand_links(t *testing.T) {
	c := newCoder(t)
	first, second := c.file(manyLinks("big", "first", 10_000)), c.file(manyLinks("big", "second", 10_000))
	timed := func(what, want string, args ...string) {
		t.Helper()
		begun := time.Now()
		code, out, problem := c.run(args...)
		t.Logf("%s: %s", what, time.Since(begun).Round(time.Millisecond))
		if code != 0 || !strings.Contains(out+problem, want) {
			t.Fatalf("%s: exit code %d\n%.2000s%.2000s", what, code, out, problem)
		}
	}
	timed("plan of new links", "Plan: 10,000 to create", "plan", first)
	timed("apply of new links", "Applied: 10,000 links written", "apply", first)
	timed("second apply", "No changes", "apply", first)
	timed("plan without changes", "No changes", "plan", first)
	timed("plan of changes", "Plan: 0 to create, 10,000 to update", "plan", second)
	timed("apply of changes", "Applied: 10,000 links written", "apply", second)
	timed("export", "version: 1", "export", "--owner", "big")
}
