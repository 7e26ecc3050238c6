package deploy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/operators/security.md names the tests that hold each protection. A test that was renamed or removed must not stay there.
func TestFindings_have_the_tests_that_the_table_names(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operators/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n## Findings and their tests\n")
	if !ok {
		t.Fatal("docs/operators/security.md has no table of findings")
	}
	missing := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(table, -1) {
		missing[m[1]] = true
	}
	if len(missing) < 40 {
		t.Fatalf("only %d tests are named", len(missing))
	}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	for _, module := range []string{"shared", "edge", "control", "test"} {
		err := filepath.WalkDir(filepath.Join("../..", module), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				delete(missing, m[1])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range missing {
		t.Errorf("docs/operators/security.md names %s, which does not exist", name)
	}
}
