// Package archtest refuses imports that the architecture forbids, in a test, with the reason.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Module is the path that all of Shortline's modules begin with.
const Module = "github.com/shortline/shortline/"

// Rule says what the packages at or below Package must not import. Both are paths below Module; a Forbid that
// begins with "!" names a foreign import path instead.
type Rule struct {
	Package string
	Forbid  string
	Because string
}

// Check reads every Go file of the module whose directory is root (its go.mod's) and whose path is module
// (below Module), tests included, and fails for each import that a rule forbids. Nested modules are left out.
func Check(t *testing.T, root, module string, rules []Rule) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root {
				if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
					return filepath.SkipDir
				}
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := strings.TrimSuffix(module+"/"+filepath.ToSlash(rel), "/.")
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			for _, r := range rules {
				if below(pkg, r.Package) && r.forbids(imported) {
					t.Errorf("%s imports %s: %s", path, imported, r.Because)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no Go file below %s", root)
	}
}

func (r Rule) forbids(imported string) bool {
	if foreign, ok := strings.CutPrefix(r.Forbid, "!"); ok {
		return below(imported, foreign)
	}
	own, ok := strings.CutPrefix(imported, Module)
	return ok && below(own, r.Forbid)
}

func below(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
