package observe_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testkit"
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

func TestAlerts_have_instructions(t *testing.T) {
	t.Parallel()
	tested := ""
	for _, path := range glob(t, "deploy/prometheus/tests/*.yml") {
		tested += read(t, "deploy/prometheus/tests/"+filepath.Base(path))
	}
	alerts := strings.Split(read(t, "deploy/prometheus/rules/alerts.yml"), "- alert: ")[1:]
	for _, a := range alerts {
		name, _, _ := strings.Cut(a, "\n")
		for _, field := range []string{"summary: ", "description: ", "runbook: "} {
			if !strings.Contains(a, field) {
				t.Errorf("%s has no %s", name, field)
			}
		}
		if !regexp.MustCompile(`severity: (page|ticket)\b`).MatchString(a) {
			t.Errorf("%s has no severity", name)
		}
		if strings.Contains(a, "severity: page") && !strings.Contains(tested, `alertname="`+name+`"`) {
			t.Errorf("alert %s has severity page and no test", name)
		}
	}
}
