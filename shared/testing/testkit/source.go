package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Source returns the path of a file or folder of the project, which name gives relative to the project's root; "" is the
// root. Use it for everything outside the module of the test. Go's test cache does not look at such files. Source therefore
// reads an environment variable that make test sets to a checksum of the content. The test runs again if anything below the
// first two parts of name has changed, for example below docs/users.
func Source(t testing.TB, name string) string {
	t.Helper()
	root, err := sourceRoot()
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Getenv(SourceVariable(name)) // recorded by the test cache
	return filepath.Join(root, filepath.FromSlash(name))
}

// SourceVariable returns the name of the environment variable that has the checksum for a file or folder of the project.
func SourceVariable(name string) string {
	parts := strings.Split(name, "/")
	name = strings.Join(parts[:min(2, len(parts))], "_")
	return "SHORTLINE_SOURCE_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}
