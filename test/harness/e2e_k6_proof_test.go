//go:build proof

package harness_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// k6 runs the smoke test and a short load test against the fleet, like an operator after a deployment.
func (in *installation) k6(t *testing.T) {
	cache, err := os.UserCacheDir()
	testkit.Must(t, err)
	program := filepath.Join(cache, "shortline", "bin", "k6")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("k6 not found (%v); test/observe/parts builds it", err)
	}
	var edges []string
	for _, e := range in.Edges {
		edges = append(edges, "http://"+e.Addr)
	}
	for _, run := range []struct {
		script string
		least  float64  // minimum number of passed checks, also on a busy machine
		env    []string // wider limits: the defaults of load.js assume a quiet machine
	}{
		{"smoke", 10, []string{"DURATION=4s"}},
		{"load", 10, []string{"DURATION=4s", "RATE=100", "P95=60000", "P99=60000", "DROPPED=100000"}},
	} {
		before := in.uncounted(t)
		figures := filepath.Join(t.TempDir(), run.script+".json")
		args := []string{"run", "--quiet", "--no-usage-report", "--no-color", "-e", "BASE_URL=http://" + in.Edges[0].Addr, "-e",
			"EDGE_URL=" + strings.Join(edges, ","),
			"-e", "ADMIN_PASSWORD=" + adminPassword, "-e", "SUMMARY=" + figures}
		for _, kv := range run.env {
			args = append(args, "-e", kv)
		}
		cmd := exec.CommandContext(t.Context(), program, append(args, testkit.Source(t, "deploy/k6/"+run.script+".js"))...)
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("k6 %s: %v", run.script, err)
		}
		text, err := os.ReadFile(figures)
		testkit.Must(t, err)
		var summary struct {
			RootGroup struct {
				Checks []struct {
					Name          string
					Passes, Fails int
				}
			} `json:"root_group"`
			Metrics map[string]struct{ Values map[string]float64 }
		}
		testkit.Must(t, json.Unmarshal(text, &summary))
		if n := summary.Metrics["checks"].Values["passes"]; n < run.least {
			t.Errorf("%s: %v checks passed, want about %v", run.script, n, run.least)
		}
		redirects := 0
		for _, c := range summary.RootGroup.Checks {
			if c.Name == "a link redirects" {
				redirects = c.Passes
			}
		}
		if redirects == 0 {
			t.Fatalf("the summary of %s does not have the number of redirects: %.500s", run.script, text)
		}
		in.Shipped()
		testkit.Eventually(t, "k6's clicks are stored", func() bool { return in.uncounted(t) >= before+redirects })
		if n := in.uncounted(t) - before; n != redirects {
			t.Errorf("%s: %d clicks were stored for %d redirects", run.script, n, redirects)
		}
		t.Logf("%s: %d redirects, each stored once", run.script, redirects)
	}
}

// uncounted returns the number of stored clicks that did not come from the load generator.
func (in *installation) uncounted(t *testing.T) int {
	t.Helper()
	lines, err := in.Store.Ask(t.Context(), "SELECT count() FROM clicks FINAL WHERE utm_content = ''")
	if err != nil || len(lines) != 1 {
		return -1
	}
	n, err := strconv.Atoi(lines[0])
	testkit.Must(t, err)
	return n
}
