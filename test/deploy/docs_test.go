package deploy_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// documents returns the pages of the repository as paths below its root.
func documents(t *testing.T) (pages []string) {
	t.Helper()
	root := filepath.Dir(source(t, "docs"))
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "test/*.md", "deploy/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		testkit.Must(t, err)
		for _, path := range found {
			page, _ := filepath.Rel(root, path)
			if strings.Contains(page, "node_modules") { // of make docs
				continue
			}
			source(t, page) // for the test cache
			pages = append(pages, page)
		}
	}
	if len(pages) < 20 {
		t.Fatalf("found only %d pages", len(pages))
	}
	return pages
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	heading   = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// anchors returns the link anchors of the headings of a page.
func anchors(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		name := strings.ToLower(regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(m[1], ""))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// Links between pages lead to files and headings that exist.
func TestDocs_links_lead_somewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^) ]+)\)|<img [^>]*src="([^"]+)"`)
	for _, page := range documents(t) {
		text := codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(read(t, page), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := m[1] + m[2]
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(source(t, target)); err != nil {
				t.Errorf("%s: dead link %s", page, to)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: no heading for the anchor in %s", page, to)
			}
		}
	}
}

// Files, tests and log messages that pages name exist.
func TestDocs_files_and_tests_exist(t *testing.T) {
	t.Parallel()
	path := regexp.MustCompile(`^(?:\.ci|\.vale|control|deploy|docs|edge|shared|test)/[A-Za-z0-9_./-]+$`)
	name := regexp.MustCompile(`^Test[A-Za-z0-9_]+$`)
	exists := testNames(t)
	logged := regexp.MustCompile("log `([^`]+)`(?: or `([^`]+)`)?")
	messages := read(t, "test/observe/testdata/log-messages.txt")
	for _, m := range logged.FindAllStringSubmatch(read(t, "docs/operators/troubleshooting.md"), -1) {
		for _, message := range m[1:] {
			if message != "" && !strings.Contains(messages, "  "+message+"\n") {
				t.Errorf("docs/operators/troubleshooting.md quotes the log message %q, which does not exist", message)
			}
		}
	}
	files, tests := 0, 0
	for _, page := range documents(t) {
		if page == "docs/operators/licences.md" || page == "docs/style.md" {
			continue // these pages name files of other projects and quote old texts
		}
		text := codeBlock.ReplaceAllString(read(t, page), "")
		for _, span := range codeSpan.FindAllString(text, -1) {
			code := strings.Trim(span, "`")
			switch {
			case path.MatchString(code) && !strings.HasPrefix(code, "docs/images/"):
				files++
				if _, err := os.Stat(source(t, code)); err != nil {
					t.Errorf("%s names %s, which does not exist", page, code)
				}
			case name.MatchString(code):
				tests++
				if !exists[code] {
					t.Errorf("%s names %s, which does not exist", page, code)
				}
			}
		}
	}
	if files < 60 || tests < 60 {
		t.Fatalf("the pages name only %d files and %d tests, so the search is broken", files, tests)
	}
	_, findings, _ := strings.Cut(read(t, "docs/operators/security.md"), "\n## Findings and their tests\n")
	if n := strings.Count(findings, "`Test"); n < 40 {
		t.Errorf("the table of findings in docs/operators/security.md names only %d tests", n)
	}
}

// testNames returns the names of the tests of all modules.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	for _, module := range []string{"shared", "edge", "control", "client", "test", ".ci/tools"} {
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
		testkit.Must(t, err)
	}
	return all
}

// Decisions are numbered without gaps, and their index is sorted and has their titles.
func TestF37_decisions_are_numbered_without_gaps(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(source(t, "docs/adr") + "/[0-9]*.md")
	testkit.Must(t, err)
	if len(files) < 37 {
		t.Fatalf("found only %d decisions", len(files))
	}
	var index strings.Builder
	for i, path := range files {
		name := filepath.Base(path)
		number := fmt.Sprintf("%04d", i+1)
		head, _, _ := strings.Cut(read(t, "docs/adr/"+name), "\n")
		title, ok := strings.CutPrefix(head, "# "+number+": ")
		if !ok || !strings.HasPrefix(name, number+"-") {
			t.Errorf("%s begins with %q, want the number %s in both", name, head, number)
		}
		fmt.Fprintf(&index, "| %d | [%s](%s) |\n", i+1, title, name)
	}
	row := regexp.MustCompile(`(?m)^(\| \d+ \| \[[^|]*\]\([^)]*\) \|).*$`)
	var have strings.Builder
	for _, m := range row.FindAllStringSubmatch(read(t, "docs/adr/README.md"), -1) {
		have.WriteString(m[1] + "\n")
	}
	if have.String() != index.String() {
		t.Errorf("docs/adr/README.md has\n%swant\n%s", have.String(), index.String())
	}
}

// Pages that many people read stay short, and are not wide instead. Rows of tables and samples of commands may be wide.
func TestF37_pages_are_short(t *testing.T) {
	t.Parallel()
	for page, most := range map[string]int{"README.md": 110, "docs/developers/performance.md": 250, "docs/developers/reliability.md": 250} {
		lines := strings.Split(strings.TrimSuffix(read(t, page), "\n"), "\n")
		if len(lines) > most {
			t.Errorf("%s has %d lines, want at most %d", page, len(lines), most)
		}
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); n > 140 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d is %d columns wide, want at most 140", page, i+1, n)
			}
		}
	}
}
