package observe_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// The target lists contain every edge, every control plane and the standalone of compose.
func TestOps3_Compose_targets_are_all_programs(t *testing.T) {
	t.Parallel()
	compose := read(t, "docker-compose.yml")
	want := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  ((?:edge|control)-\d+|standalone):\n    <<: `).FindAllStringSubmatch(compose, -1) {
		want[m[1]] = true
	}
	got := map[string]bool{}
	for _, name := range []string{"fleet", "standalone"} {
		for _, m := range regexp.MustCompile(`([a-z0-9-]+):9090`).FindAllStringSubmatch(read(t, "deploy/prometheus/targets/"+name+".yml"),
			-1) {
			got[m[1]] = true
		}
	}
	if len(want) < 5 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("targets %v, services %v", got, want)
	}
}

// Every receiver in the routes of Alertmanager is defined, and every severity has a route.
func TestOps3_Alertmanager_has_receivers(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy/prometheus/alertmanager.yml")
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  - name: (\S+)$`).FindAllStringSubmatch(text, -1) {
		defined[m[1]] = true
	}
	used := regexp.MustCompile(`(?m)^\s+receiver: (\S+)$`).FindAllStringSubmatch(text, -1)
	for _, m := range used {
		if !defined[m[1]] {
			t.Errorf("the receiver %s is not defined", m[1])
		}
	}
	if len(used) != 2 || len(defined) != 2 || !strings.Contains(text, `severity="page"`) {
		t.Errorf("routes %v, receivers %v", used, defined)
	}
	if !strings.Contains(read(t, "deploy/prometheus/prometheus.yml"), "targets: [alertmanager:9093]") ||
		!strings.Contains(read(t, "docker-compose.yml"), "\n  alertmanager:\n") {
		t.Error("Prometheus does not send alerts to Alertmanager")
	}
}
