// Command sharednames refuses names that more than eight functions and methods of the product share. Such a name says nothing: `read`
// does not tell what is read, and a search for it finds everything.
//
// A method that an interface requires has no choice, so it does not count. The command reads only the syntax: a method counts as required
// if some interface of this repository has a method with the same name and the same types. Names that Go or this repository uses for
// the same thing everywhere are listed in conventions.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// most is the number of functions that may share a name.
const most = 8

// conventions are names whose meaning is the same wherever they are used, with that meaning.
var conventions = map[string]string{
	"main":   "Go's start of a program",
	"init":   "Go's start of a package",
	"New":    "Go's constructor: the package says of what",
	"Open":   "Go's constructor of what must be closed: the package says of what",
	"Error":  "Go's error",
	"Unwrap": "Go's errors.Unwrap",
	"String": "Go's fmt.Stringer",
	"Close":  "Go's io.Closer",

	"Commands": "the commands of a package of the command line",

	"MarshalJSON":   "Go's json.Marshaler",
	"UnmarshalJSON": "Go's json.Unmarshaler",

	"Read":    "Go's io.Reader",
	"Write":   "Go's io.Writer",
	"Accept":  "Go's net.Listener",
	"Schema":  "huma's SchemaProvider",
	"Run":     "the life of a service, shared/service",
	"Stats":   "the counters of a part at this moment",
	"metrics": "the metrics of a part, for shared/metric",

	"Validate": "problems of settings or of a configuration, shared/config",
	"Create":   "an operation on a resource: the type says on which",
	"List":     "an operation on a resource: the type says on which",
	"Get":      "an operation on a resource: the type says on which",
	"Update":   "an operation on a resource: the type says on which",
	"Delete":   "an operation on a resource: the type says on which",
}

func main() {
	if err := check("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "sharednames:", err)
		os.Exit(1)
	}
}

// check prints the names that too many functions share. The error counts them.
func check(root string) error {
	list, err := exec.Command("git", "-C", root, "ls-files", "*.go").Output()
	if err != nil {
		return err
	}
	// A function of several systems has a declaration in several files, and counts once.
	functions := map[string]map[string]string{} // by name and by package and receiver: where
	required := map[string]bool{}               // methods of interfaces, with their types
	methods := map[string]string{}              // by package and receiver: the method with its types
	files := token.NewFileSet()
	for name := range strings.FieldsSeq(string(list)) {
		if !product(name) {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if os.IsNotExist(err) {
			continue // deleted, but not yet for git
		}
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			continue // its names come from what it was generated from
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					if types, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
						required[m.Names[0].Name+signature(types)] = true
					}
				}
			case *ast.FuncDecl:
				if functions[n.Name.Name] == nil {
					functions[n.Name.Name] = map[string]string{}
				}
				at := path.Dir(name) + " " + receiver(n) + n.Name.Name
				functions[n.Name.Name][at] = fmt.Sprintf("%s:%d", name, files.Position(n.Pos()).Line)
				if n.Recv != nil {
					methods[at] = n.Name.Name + signature(n.Type)
				}
			}
			return true
		})
	}
	found := 0
	for name, places := range functions {
		var where []string
		for at, place := range places {
			if !required[methods[at]] {
				where = append(where, place)
			}
		}
		if conventions[name] != "" || len(where) <= most {
			continue
		}
		found++
		slices.Sort(where)
		fmt.Printf("%d functions have the name %s; let the names say what differs:\n\t%s\n", len(where), name, strings.Join(where, "\n\t"))
	}
	if found > 0 {
		return fmt.Errorf("%d names are shared by more than %d functions", found, most)
	}
	return nil
}

// product reports whether a file is part of a program that users run.
func product(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	for _, folder := range []string{".ci/", "test/", "shared/testing/", "edge/bench/"} {
		if strings.HasPrefix(name, folder) {
			return false
		}
	}
	// Packages of test support have names such as storetest.
	return !strings.Contains(name, "test/") && !strings.Contains(name, "/testdata/")
}

// receiver returns the type of a method's receiver with a point, or nothing for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	return text(t) + "."
}

// qualifier is the package of a type.
var qualifier = regexp.MustCompile(`\b\w+\.(\w)`)

// signature returns the types of parameters and results. It omits packages, because the interface may be in the package of a type.
func signature(f *ast.FuncType) string {
	var b strings.Builder
	for _, fields := range []*ast.FieldList{f.Params, f.Results} {
		b.WriteByte('(')
		if fields != nil {
			for _, field := range fields.List {
				for range max(len(field.Names), 1) {
					b.WriteString(qualifier.ReplaceAllString(text(field.Type), "$1") + ",")
				}
			}
		}
		b.WriteByte(')')
	}
	return b.String()
}

func text(n ast.Node) string {
	var b strings.Builder
	_ = printer.Fprint(&b, token.NewFileSet(), n)
	return b.String()
}
