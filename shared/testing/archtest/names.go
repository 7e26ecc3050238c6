package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// refused maps words that names once had to the terms of the field.
var refused = map[string]string{
	"atlas":     "geoindex",
	"chores":    "maintenance",
	"debt":      "uncounted",
	"debts":     "uncounted",
	"desk":      "acceptor, or sink",
	"door":      "proxy, or handler",
	"errand":    "job",
	"guest":     "visitor",
	"guests":    "visitors",
	"heal":      "repair",
	"healed":    "repaired",
	"lot":       "idle connections",
	"owe":       "record, or remaining",
	"owed":      "remaining",
	"parked":    "idle",
	"road":      "pipeline",
	"sells":     "accepts conversions",
	"stretch":   "segment, or range",
	"stretches": "segments, or ranges",
	"till":      "sink",
	"witness":   "observer",
}

// CheckNames fails the test for each name in a module that has a word of a private vocabulary. The files of tests count, too. Nested
// modules are left out.
func CheckNames(t *testing.T, dir string) {
	t.Helper()
	files := token.NewFileSet()
	testkit.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if nestedModule(dir, path) || d.Name() == "testdata" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, problem := range refusedNames(files, file) {
			t.Error(problem)
		}
		return nil
	}))
}

var nameWord = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// refusedNames returns a sentence for each declared name that has a refused word.
func refusedNames(files *token.FileSet, file *ast.File) (problems []string) {
	check := func(names ...*ast.Ident) {
		for _, name := range names {
			for _, word := range nameWord.FindAllString(name.Name, -1) {
				if instead, ok := refused[strings.ToLower(word)]; ok {
					problems = append(problems, fmt.Sprintf("%s: %s: instead of %q, say %s", files.Position(name.Pos()), name.Name,
						word, instead))
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name)
		case *ast.TypeSpec:
			check(n.Name)
		case *ast.ValueSpec:
			check(n.Names...)
		case *ast.Field:
			check(n.Names...)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					check(name)
				}
			}
		}
		return true
	})
	return problems
}
