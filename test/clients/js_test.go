package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The client for JavaScript has what the document of the running standalone has: its generated files are those of this document, each
// operation is called once, with the types that the document gives, and the examples of its README run.
func TestJSClient(t *testing.T) {
	t.Parallel()
	// Passkeys need https, although the test does not use it.
	in := start(t, "BASE_URL=https://sho.example", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0", "RATE_LIMIT_WEBHOOKS=0",
		"RATE_LIMIT_WEBHOOK_RETRY=0")
	source := testkit.Source(t, "client/js")
	t.Run("generated files", func(t *testing.T) {
		t.Parallel()
		made := t.TempDir()
		in.run(t, source, in.web, "exec", "node", "generate/generate.js", in.document, made)
		for _, name := range []string{"src/operations.js", "types/resources.d.ts", "types/schemas.d.ts"} {
			want, err := os.ReadFile(filepath.Join(made, name))
			testkit.Must(t, err)
			got, err := os.ReadFile(filepath.Join(source, name))
			testkit.Must(t, err)
			if string(got) != string(want) {
				t.Errorf("client/js/%s is not that of the present document. client/js/generate/generate.js says how to make it.", name)
			}
		}
	})
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		in.node(t, source, "typescript/bin/tsc", "--project", ".")
		in.node(t, source, "typescript/bin/tsc", "--project", "test", "--typeRoots", filepath.Join(in.tools, "node_modules", "@types"))
	})
	t.Run("units", func(t *testing.T) {
		t.Parallel()
		in.nodeTests(t, source, "test")
	})
	t.Run("each operation", func(t *testing.T) {
		t.Parallel()
		in.nodeTests(t, source, "test/server")
	})
}

// nodeTests runs the tests of a folder, each file in a process.
func (in *installation) nodeTests(t *testing.T, dir, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, folder, "*.test.js"))
	testkit.Must(t, err)
	if len(files) == 0 {
		t.Fatalf("%s has no tests", folder)
	}
	for i, name := range files {
		files[i] = strings.TrimPrefix(name, dir+"/")
	}
	in.run(t, dir, in.web, append([]string{"exec", "node", "--test", "--test-reporter=spec"}, files...)...)
}
