// Package archtest checks imports against a table of what each package may import, and why. The table of a module is
// its imports_test.go, which doubles as the documentation of its layers.
//
// The table is an allow-list: an import that it does not permit fails the test, and so does a permission that nobody
// uses. It applies to code that ships. Test files, and packages for tests (named …test), may import everything in their
// module.
package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// prefix is what the paths of all of Shortline's modules begin with.
const prefix = "github.com/shortline/shortline/"

// Module describes the imports of one Go module. All paths are below github.com/shortline/shortline/.
type Module struct {
	Path string // such as "control"
	Dir  string // the folder of its go.mod, seen from the test
	// All may be imported by every package, such as "shared".
	All []string
	// Layers cover every package of the module. A package belongs to the layer with the longest path that contains it.
	Layers []Layer
	// Libraries are all libraries that the module uses.
	Libraries []Library
}

// Layer is a package and those below it. Packages of one layer may import each other.
type Layer struct {
	Path string
	// May lists packages; each stands for those below it, too, unless they are a layer of their own.
	May []string
	// Is says what the layer is for, and why it imports no more. It is part of the message if a check fails.
	Is string
}

// Library is a third-party library, or one of "C" (cgo) and "database/sql".
type Library struct {
	Path string   // a prefix of import paths
	In   []string // the packages that may import it, with those below them; nil stands for all
}

// Check fails the test for each import that the module's table does not permit.
func Check(t *testing.T, m Module) {
	t.Helper()
	problems, err := m.Problems()
	testkit.Must(t, err)
	for _, p := range problems {
		t.Error(p)
	}
}

// Problems returns a sentence for each import that the table does not permit, and for each entry that is not used.
func (m Module) Problems() (problems []string, err error) {
	used := map[string]bool{}
	files := 0
	err = m.walk(func(path, pkg string, imports []string) {
		files++
		layer := m.layer(pkg)
		if layer == nil {
			problems = append(problems, fmt.Sprintf("%s: package %s belongs to no layer; add one to %s/imports_test.go", path, pkg, m.Path))
			return
		}
		used[layer.Path] = true
		for _, imported := range imports {
			if own, ok := strings.CutPrefix(imported, prefix); ok {
				if !m.permits(layer, own, used) {
					problems = append(problems,
						fmt.Sprintf(
							"%s imports %s. The layer %s is %s; besides itself it may import %q. If the import is right, add it to %s/imports_test.go",
							path, own, layer.Path, layer.Is, append(layer.May, m.All...), m.Path))
				}
			} else if library(imported) && !m.permitsLibrary(pkg, imported, used) {
				problems = append(problems, fmt.Sprintf("%s imports %s, and %s/imports_test.go does not list that for %s", path, imported,
					m.Path, pkg))
			}
		}
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("no Go file below %s", m.Dir)
	}
	for _, l := range m.Layers {
		if !used[l.Path] {
			problems = append(problems, fmt.Sprintf("the layer %s has no package", l.Path))
		}
		for _, may := range l.May {
			if !used[l.Path+" > "+may] {
				problems = append(problems, fmt.Sprintf("the layer %s does not import %s; remove the entry", l.Path, may))
			}
		}
	}
	for _, l := range m.Libraries {
		if !used[l.Path] {
			problems = append(problems, fmt.Sprintf("nothing imports the library %s; remove the entry", l.Path))
		}
	}
	return problems, err
}

func (m Module) layer(pkg string) (longest *Layer) {
	for i, l := range m.Layers {
		if below(pkg, l.Path) && (longest == nil || len(l.Path) > len(longest.Path)) {
			longest = &m.Layers[i]
		}
	}
	return longest
}

func (m Module) permits(from *Layer, imported string, used map[string]bool) bool {
	to := m.layer(imported)
	if to == from {
		return true
	}
	for _, may := range from.May {
		if below(imported, may) && (to == nil || len(may) >= len(to.Path)) {
			used[from.Path+" > "+may] = true
			return true
		}
	}
	for _, all := range m.All {
		if below(imported, all) {
			return true
		}
	}
	return false
}

// library reports whether an import must be listed: one of a third party, and of the standard library what the edge must
// not use.
func library(imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	return strings.Contains(host, ".") || imported == "C" || below(imported, "database/sql")
}

func (m Module) permitsLibrary(pkg, imported string, used map[string]bool) bool {
	for _, l := range m.Libraries {
		if !below(imported, l.Path) {
			continue
		}
		used[l.Path] = true
		if l.In == nil {
			return true
		}
		for _, in := range l.In {
			if below(pkg, in) {
				return true
			}
		}
	}
	return false
}

// walk calls f for each file of the module that ships. Nested modules are left out.
func (m Module) walk(f func(path, pkg string, imports []string)) error {
	return filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if nestedModule(m.Dir, path) || strings.HasSuffix(d.Name(), "test") || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(m.Dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		var imports []string
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, imported)
		}
		f(path, strings.TrimSuffix(m.Path+"/"+filepath.ToSlash(rel), "/."), imports)
		return nil
	})
}

// nestedModule reports whether a folder in a module is a module of its own.
func nestedModule(dir, path string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return path != dir && err == nil
}

func below(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
