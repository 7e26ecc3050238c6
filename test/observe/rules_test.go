package observe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// promtool runs promtool and fails the test if it reports a problem.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), testkit.Part(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// The rules in the documentation are rules.
func TestA9_rules_in_the_documentation_parse(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "docs/operators/operations.md"), "```yaml\ngroups:\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("no rules in operations.md")
	}
	path := filepath.Join(t.TempDir(), "documented.yml")
	testkit.Must(t, os.WriteFile(path, []byte("groups:\n"+text), 0o600))
	promtool(t, "check", "rules", "--lint=all", "--lint-fatal", path)
}

func TestRules_parse(t *testing.T) {
	t.Parallel()
	promtool(t, append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, glob(t, "deploy/prometheus/rules/*.yml")...)...)
	promtool(t, "check", "config", "--syntax-only", testkit.Source(t, "deploy/prometheus/prometheus.yml"))
}

func TestRules_fire_when_they_should(t *testing.T) {
	t.Parallel()
	promtool(t, append([]string{"test", "rules"}, glob(t, "deploy/prometheus/tests/*.yml")...)...)
}
