//go:build proof

package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The program is small on every system for which it is built.
func TestCLI_size_on_all_systems(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"} {
		name, arch, _ := strings.Cut(system, "/")
		out := filepath.Join(t.TempDir(), "shortline")
		build := exec.CommandContext(t.Context(), testkit.Source(t, "deploy/dev/program"), "shortline", out)
		build.Env = append(os.Environ(), "GOOS="+name, "GOARCH="+arch, "VERSION=test", "GOFLAGS=")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", system, err, text)
		}
		at, err := os.Stat(out)
		testkit.Must(t, err)
		t.Logf("%s: %d bytes", system, at.Size())
		if at.Size() > mostBytes {
			t.Errorf("%s: the program has %d bytes, more than %d", system, at.Size(), mostBytes)
		}
	}
}
