package observe_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// promtool runs promtool and fails the test if it reports a problem.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), part(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
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
