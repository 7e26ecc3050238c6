package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	promisesPage = "docs/developers/testing.md"
	lastPromise  = 47
)

// promise is a row of the table of promises.
type promise struct {
	names         []string // such as G1
	commit, proof []string // "package TestName"
}

var (
	promiseRow = regexp.MustCompile(`(?m)^\| (G\d.*?) \|.*\|$`)
	testSpan   = regexp.MustCompile("`(Test\\w+|Fuzz\\w*|Benchmark\\w+)`(?: in `([\\w/.-]+)`)?")
)

// readPromises reads the table. A test without a folder is in test/harness.
func readPromises(t *testing.T) (rows []promise) {
	t.Helper()
	text, err := os.ReadFile(testkit.Source(t, promisesPage))
	testkit.Must(t, err)
	for _, line := range promiseRow.FindAllString(string(text), -1) {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 5 {
			t.Fatalf("a row has %d cells instead of 5: %s", len(cells), line)
		}
		p := promise{names: promiseNames(t, strings.TrimSpace(cells[0]))}
		for i, list := range []*[]string{&p.commit, &p.proof} {
			for _, m := range testSpan.FindAllStringSubmatch(cells[2+i], -1) {
				folder := m[2]
				if folder == "" {
					folder = "test/harness"
				}
				*list = append(*list, folder+" "+m[1])
			}
		}
		rows = append(rows, p)
	}
	return rows
}

// promiseNames returns the names in a cell such as "G1", "G1 to G5" or "G8, G31".
func promiseNames(t *testing.T, cell string) (names []string) {
	t.Helper()
	for _, part := range strings.Split(cell, ", ") {
		first, last, ok := strings.Cut(part, " to ")
		if !ok {
			last = first
		}
		from, err1 := strconv.Atoi(strings.TrimPrefix(first, "G"))
		to, err2 := strconv.Atoi(strings.TrimPrefix(last, "G"))
		if err1 != nil || err2 != nil {
			t.Fatalf("%q is not the name of a promise", part)
		}
		for n := from; n <= to; n++ {
			names = append(names, fmt.Sprintf("G%d", n))
		}
	}
	return names
}

// TestPromises_have_proofs fails if a promise has no test, if a test does not exist, or if a test that is named for every
// commit is in a file for releases only.
func TestPromises_have_proofs(t *testing.T) {
	t.Parallel()
	rows := readPromises(t)
	proved := map[string]bool{}
	for _, row := range rows {
		for _, name := range row.names {
			proved[name] = proved[name] || len(row.commit)+len(row.proof) > 0
		}
		for _, name := range row.commit {
			if files := filesWith(t, name); !slices.ContainsFunc(files, func(f string) bool {
				return !strings.HasSuffix(f, "_proof_test.go")
			}) {
				t.Errorf("%s: make test does not run %s", strings.Join(row.names, ", "), name)
			}
		}
		for _, name := range row.proof {
			if len(filesWith(t, name)) == 0 {
				t.Errorf("%s: there is no %s", strings.Join(row.names, ", "), name)
			}
		}
	}
	proved["G35"] = true // was the upgrade of a build from before the first release, which is refused now
	for n := 1; n <= lastPromise; n++ {
		if name := fmt.Sprintf("G%d", n); !proved[name] {
			t.Errorf("%s has no test in %s", name, promisesPage)
		}
	}
}

// filesWith returns the files that have a test, which name gives as "folder TestName". Fuzz stands for any fuzz test.
func filesWith(t *testing.T, name string) (found []string) {
	t.Helper()
	folder, test, _ := strings.Cut(name, " ")
	files, err := filepath.Glob(filepath.Join(testkit.Source(t, ""), folder, "*_test.go"))
	testkit.Must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)
		if strings.Contains(string(text), "\nfunc "+test+"(") {
			found = append(found, file)
		}
	}
	return found
}

// The name of a file says in which tier its tests are.
func TestProof_files_have_the_build_tag(t *testing.T) {
	t.Parallel()
	root := testkit.Source(t, "")
	for _, m := range modules {
		err := filepath.WalkDir(filepath.Join(root, m.dir), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			tagged := strings.Contains(string(text[:min(len(text), 200)]), "//go:build proof")
			if named := strings.HasSuffix(path, "_proof_test.go"); named != tagged {
				t.Errorf("%s: the name says that it is for releases only: %v; the build tag says: %v", slash(root, path), named, tagged)
			}
			return nil
		})
		testkit.Must(t, err)
	}
}
