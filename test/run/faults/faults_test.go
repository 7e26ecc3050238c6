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

func TestOutcome_names_the_subtest_that_failed_first(t *testing.T) {
	t.Parallel()
	var o outcome
	for line := range strings.Lines(`{"Action":"start","Package":"github.com/shortline/shortline/p"}
{"Action":"pass","Package":"github.com/shortline/shortline/p","Test":"TestA"}
{"Action":"fail","Package":"github.com/shortline/shortline/p","Test":"TestB/one"}
{"Action":"fail","Package":"github.com/shortline/shortline/p","Test":"TestB"}
not JSON
{"Action":"fail","Package":"github.com/shortline/shortline/p"}`) {
		o.add([]byte(line))
	}
	if want := (outcome{tests: 3, failed: true, pattern: "./p", first: "TestB/one"}); o != want {
		t.Errorf("got %+v, want %+v", o, want)
	}
	if o.selector() != "^TestB$" {
		t.Error(o.selector())
	}
}
