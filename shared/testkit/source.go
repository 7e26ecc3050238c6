package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Source returns the path of a file or folder of the project, which name gives relative to the project's root. Use it for
// everything outside the module of the test. Go's test cache does not look at such files. Source therefore reads an
// environment variable that make test sets to a checksum of the content: the test runs again if anything below the first
// part of name has changed.
func Source(t testing.TB, name string) string {
	t.Helper()
	root, err := sourceRoot()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(name, "/")
	_ = os.Getenv(SourceVariable(first)) // recorded by the test cache
	return filepath.Join(root, filepath.FromSlash(name))
}

// SourceVariable returns the name of the environment variable that has the checksum of a file or folder in the project's
// root.
func SourceVariable(name string) string {
	return "SHORTLINE_SOURCE_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}
