package observe_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The smoke test passes against a running program and deletes its links.
func TestK6_smoke(t *testing.T) {
	t.Parallel()
	p := standalone(t)
	figures := filepath.Join(t.TempDir(), "smoke.json")
	cmd := exec.CommandContext(t.Context(), part(t, "k6"), "run", "--quiet", "--no-usage-report", "--no-color",
		"-e", "BASE_URL=http://"+p.Addr, "-e", "ADMIN_PASSWORD="+password, "-e", "DURATION=3s", "-e", "SUMMARY="+figures,
		testkit.Source(t, "deploy/k6/smoke.js"))
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return len(kv) > 3 && kv[:3] == "K6_" })
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("k6: %v", err)
	}
	b, err := os.ReadFile(figures)
	testkit.Must(t, err)
	var summary struct {
		Metrics map[string]struct{ Values map[string]float64 }
	}
	testkit.Must(t, json.Unmarshal(b, &summary))
	if n := summary.Metrics["checks"].Values["passes"]; n < 20 {
		t.Errorf("%v checks passed, want about sixty", n)
	}
	if n := summary.Metrics["http_reqs"].Values["count"]; n > 150 {
		t.Errorf("%v requests are too many: k6 followed redirects", n)
	}
	if left := p.links(t); left != 0 {
		t.Errorf("the smoke test left %d links behind", left)
	}
}

// k6 parses every script and computes its execution requirements without an error.
func TestK6_scripts_parse(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, "deploy/k6/*.js") {
		if out, err := exec.CommandContext(t.Context(), part(t, "k6"), "inspect", "--execution-requirements", path).
			CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
	}
}
