package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	promisesToUsers = "docs/operators/promises.md"
	releasedNames   = ".ci/released-names.txt"
)

var keepNames = flag.Bool("released", false, "write "+releasedNames+" for a release")

// TestPromises_to_users_have_tests fails if a row of the page of promises names no test, or one that does not exist.
func TestPromises_to_users_have_tests(t *testing.T) {
	t.Parallel()
	text := sourceText(t, promisesToUsers)
	row := regexp.MustCompile(`(?m)^\| ([A-Z]\w[\w ]*) \|.*\|([^|]*)\|$`)
	var promised []string
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		if m[1] == "Promise" {
			continue
		}
		promised = append(promised, m[1])
		tests := testSpan.FindAllStringSubmatch(m[2], -1)
		if len(tests) == 0 {
			t.Errorf("%s has no test", m[1])
		}
		for _, test := range tests {
			if test[2] == "" || len(filesWith(t, test[2]+" "+test[1])) == 0 {
				t.Errorf("%s: there is no %s in %q", m[1], test[1], test[2])
			}
		}
	}
	want := []string{"API", "Webhooks", "Wire forms", "Schema", "Settings", "Metrics", "Command line", "Clients", "Chart"}
	if !slices.Equal(promised, want) {
		t.Errorf("the page promises %v, want %v", promised, want)
	}
}

// TestPromises_released_names_stay fails if a name of the last release is gone, or one of its migrations has changed. Until a release,
// -released writes the list.
func TestPromises_released_names_stay(t *testing.T) {
	t.Parallel()
	var now []string
	for _, names := range [][]string{
		settingNames(sourceText(t, "docs/operators/settings.md")),
		metricNames(sourceText(t, "docs/operators/metrics.md")),
		commandNames(sourceText(t, "docs/users/command-line-reference.md")),
		javaScriptNames(sourceText(t, "client/js/src/operations.js")),
		goNames(t), migrations(t),
	} {
		if len(names) == 0 {
			t.Fatalf("a source has no names; these were found: %d", len(now))
		}
		now = append(now, names...)
	}
	slices.Sort(now)
	now = slices.Compact(now)
	if *keepNames {
		testkit.Must(t, os.WriteFile(testkit.Source(t, releasedNames), []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	for line := range strings.Lines(sourceText(t, releasedNames)) {
		if name := strings.TrimSuffix(line, "\n"); !slices.Contains(now, name) {
			t.Errorf("%q of the last release is gone or has changed; %s promises that it stays. Before the first release, make released-names writes the list anew",
				name, promisesToUsers)
		}
	}
}

func sourceText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(testkit.Source(t, path))
	testkit.Must(t, err)
	return string(text)
}

// settingNames reads the tables of settings, one for each program.
func settingNames(page string) (names []string) {
	return rows(page, regexp.MustCompile("^\\| `([A-Z0-9_]+)` \\|"), func(section string, m []string) string {
		return "setting " + section + " " + m[1]
	})
}

func metricNames(page string) []string {
	return rows(page, regexp.MustCompile("^\\| `(shortline_[a-z0-9_]+)` \\| (\\w+) \\|"), func(_ string, m []string) string {
		return "metric " + m[1] + " " + m[2]
	})
}

// commandNames returns the commands and their flags. A row of flags has the short form first, if there is one.
func commandNames(page string) []string {
	names := rows(page, regexp.MustCompile("^\\| (?:`-\\w`, )?`(--[a-z-]+)[^`]*` \\|"), func(section string, m []string) string {
		return "flag " + section + " " + m[1]
	})
	for _, m := range regexp.MustCompile(`(?m)^## (shortline .*)$`).FindAllStringSubmatch(page, -1) {
		names = append(names, "command "+m[1])
	}
	return names
}

// rows returns the name that each matching line stands for; section is the last heading before it.
func rows(page string, row *regexp.Regexp, name func(section string, m []string) string) (names []string) {
	section := ""
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(heading)
		}
		if m := row.FindStringSubmatch(line); m != nil {
			names = append(names, name(section, m))
		}
	}
	return names
}

// javaScriptNames reads the list of operations: a line with one word is a resource.
func javaScriptNames(text string) (names []string) {
	_, list, _ := strings.Cut(text, "= `\n")
	list, _, _ = strings.Cut(list, "`")
	resource := ""
	for line := range strings.Lines(list) {
		switch words := strings.Fields(line); {
		case len(words) == 1:
			resource = words[0]
		case len(words) > 2:
			names = append(names, "js "+resource+"."+words[0])
		}
	}
	return names
}

// goNames returns the exported types, functions and methods of the Go client. Fields are those of the OpenAPI document, which
// make api-diff compares.
func goNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Source(t, "client"), "*.go"))
	testkit.Must(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, sourceText(t, "client/"+filepath.Base(path)), parser.SkipObjectResolution)
		testkit.Must(t, err)
		for _, d := range file.Decls {
			names = append(names, exportedBy(d)...)
		}
	}
	return names
}

func exportedBy(d ast.Decl) (names []string) {
	add := func(parts ...string) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !ast.IsExported(p) }) {
			names = append(names, "go "+strings.Join(parts, "."))
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name.Name)
		} else {
			add(receiver(d.Recv.List[0].Type), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					add(name.Name)
				}
			case *ast.TypeSpec:
				add(spec.Name.Name)
			}
		}
	}
	return names
}

// receiver returns the name of a method's type, without a star and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// migrations returns the files with the sums of their contents.
func migrations(t *testing.T) (names []string) {
	t.Helper()
	for _, folder := range []string{"control/internal/store/migrations/sqlite", "control/internal/store/migrations/postgres",
		"control/internal/clicks/analytics/clickhouse/migrations"} {
		files, err := filepath.Glob(filepath.Join(testkit.Source(t, folder), "*.sql"))
		testkit.Must(t, err)
		for _, file := range files {
			path := folder + "/" + filepath.Base(file)
			names = append(names, fmt.Sprintf("migration %s %x", path, sha256.Sum256([]byte(sourceText(t, path)))))
		}
	}
	return names
}
