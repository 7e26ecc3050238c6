package deploy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/operators/security.md names the tests of each protection. Every named test must exist.
func TestFindings_have_the_tests_that_the_table_names(t *testing.T) {
	t.Parallel()
	_, table, ok := strings.Cut(read(t, "docs/operators/security.md"), "\n## Findings and their tests\n")
	if !ok {
		t.Fatal("docs/operators/security.md has no table of findings")
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(table, -1) {
		named[m[1]] = true
	}
	if len(named) < 40 {
		t.Fatalf("the table names only %d tests, so the search is broken", len(named))
	}
	exists := testNames(t)
	for name := range named {
		if !exists[name] {
			t.Errorf("docs/operators/security.md names %s, which does not exist", name)
		}
	}
}

// testNames returns the names of the tests of all modules.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	for _, module := range []string{"shared", "edge", "control", "test"} {
		err := filepath.WalkDir(source(t, module), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				all[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
