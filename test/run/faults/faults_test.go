package main

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// A change of a line that has a fault needs a change of the fault.
func TestFaults_apply(t *testing.T) {
	t.Parallel()
	faults, err := parse(list)
	testkit.Must(t, err)
	if len(faults) < 40 {
		t.Errorf("the list has %d faults, want at least 40", len(faults))
	}
	root := testkit.Source(t, "")
	for _, f := range faults {
		if _, err := f.text(root); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, pkg := range f.Packages {
			if !strings.HasPrefix(pkg, "./") {
				continue
			}
			if _, _, err := moduleOf(root, strings.TrimSuffix(pkg, "/...")); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
}

func TestOutcome_names_the_test_that_failed_first(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]outcome{
		"--- FAIL: TestB (0.00s)\n    --- FAIL: TestB/one (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\tx/p\t0.1s\nFAIL\n": {true, false, "TestB"},
		"panic: no\n\ngoroutine 7\nFAIL\tx/p\t0.1s\nFAIL\n":                                                                {tested: true},
		"ok  \tx/p\t0.1s\n": {tested: true},
		"ok  \tx/p\t0.1s [no tests to run]\n?   \tx/q\t[no test files]\n": {},
	} {
		var o outcome
		if o.readOutput([]byte(out)); o != want {
			t.Errorf("%q: got %+v, want %+v", out, o, want)
		}
	}
}
