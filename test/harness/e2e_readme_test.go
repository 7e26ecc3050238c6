package harness_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// readme runs the commands of the operations guide on a fleet as they are written, except the start and the address.
// The guide's fleet is that of docker-compose.yml; this one has one more edge.
func (in *installation) readme(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(testkit.Source(t, "docs/operators/operations.md"))
	testkit.Must(t, err)
	_, part, found := strings.Cut(string(text), "<!-- fleet: begin -->\n```sh\nmake up-fleet\n")
	script, shown, found2 := strings.Cut(part, "```\n```text\n")
	shown, _, found3 := strings.Cut(shown, "```\n<!-- fleet: end -->")
	if !found || !found2 || !found3 {
		t.Fatal("the operations guide lacks the section between the fleet markers")
	}
	if shown != "2\n" {
		t.Errorf("the guide shows %q, want two edges", shown)
	}
	folder := t.TempDir()
	testkit.Must(t, os.Symlink(in.secrets, filepath.Join(folder, "secrets")))
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", strings.ReplaceAll(script, "127.0.0.1:8080", in.Edges[0].Addr))
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "3" {
		t.Errorf("the commands of the guide print %q, want 3 edges: %v", out, err)
	}
}
