package audit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Every action and entity type in the control plane's code is in the lists that queries are checked against.
func TestAPI4_EveryWrittenActionIsKnown(t *testing.T) {
	t.Parallel()
	const log = `"github.com/shortline/shortline/control/internal/manage/audit"`
	action := regexp.MustCompile(`^"[A-Z]+(_[A-Z]+)+"$`)
	written := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		// These packages write no entries, but their settings have names of the same form.
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "../../app/") || strings.HasPrefix(path, "../../commands/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		logs := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == log })
		note := func(kind string, e ast.Expr, known []string) {
			lit, ok := e.(*ast.BasicLit)
			if !ok {
				return
			}
			name, _ := strconv.Unquote(lit.Value)
			if written[kind+name] = true; !slices.Contains(known, name) {
				t.Errorf("%s: the %s %q is not in the list of audit/names.go", path, kind, name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				return false // its tag may name a setting
			case *ast.BasicLit:
				if logs && action.MatchString(n.Value) {
					note("action ", n, audit.Actions)
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && logs && key.Name == "EntityType" {
					note("entity type ", n.Value, audit.EntityTypes)
				}
			}
			return true
		})
		return nil
	})
	testkit.Must(t, err)
	if len(written) < 40 {
		t.Errorf("only %d names were found: %v", len(written), written)
	}
}
