package observe_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const runbooksFile = "testdata/runbooks.txt"

// practice names the test that brings about what an alert reports, and ends it; or it says why there is none.
type practice struct{ test, reason string }

// practices parses runbooksFile.
func practices(t *testing.T) map[string]practice {
	t.Helper()
	out := map[string]practice{}
	var names []string
	for line := range strings.Lines(read(t, "test/observe/"+runbooksFile)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(name, "#") {
			continue
		}
		names = append(names, name)
		if reason, none := strings.CutPrefix(rest, "- "); none {
			out[name] = practice{reason: reason}
		} else {
			out[name] = practice{test: rest}
		}
	}
	if !slices.IsSorted(names) || len(names) != len(out) {
		t.Errorf("%s must be sorted and name each alert once", runbooksFile)
	}
	return out
}

// sentence says for the page of an alert who has followed its runbook.
func (p practice) sentence() string {
	if p.test == "" {
		return "No test brings about what this alert reports: " + p.reason + "."
	}
	return "The test `" + p.test + "` brings about what this alert reports, and ends it."
}

// goTests returns the names of all tests of the repository.
func goTests(t *testing.T) map[string]bool {
	t.Helper()
	declared, out := regexp.MustCompile(`(?m)^func (Test\w+)\(`), map[string]bool{}
	for _, dir := range []string{"shared", "edge", "control", "test"} {
		testkit.Must(t, filepath.WalkDir(testkit.Source(t, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				out[m[1]] = true
			}
			return err
		}))
	}
	return out
}

// For each alert, a test brings about what it reports and ends it, or the list says why none does.
func TestA9_runbooks_are_followed_in_tests(t *testing.T) {
	t.Parallel()
	known, tests := practices(t), goTests(t)
	for _, a := range alerts(t) {
		p, listed := known[a.name]
		delete(known, a.name)
		switch {
		case !listed || p == practice{}:
			t.Errorf("%s is not in %s", a.name, runbooksFile)
		case p.test != "" && !tests[p.test]:
			t.Errorf("%s: there is no test %s", a.name, p.test)
		}
	}
	for name := range known {
		t.Errorf("%s is in %s, but it is no alert", name, runbooksFile)
	}
}
