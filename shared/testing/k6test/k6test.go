// Package k6test runs the load tests of deploy/k6, like an operator, and reads their summaries.
package k6test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Patient sets wide limits of time and losses. The defaults of the scripts assume a machine that does nothing else.
var Patient = []string{"P95=60000", "P99=60000", "P95_API=60000", "P95_PASSWORD=60000", "DROPPED=100000"}

// Summary says how often each check passed and failed, and how many requests were sent.
type Summary struct {
	Passes, Fails map[string]int
	Passed        int // checks of all names
	Requests      int
}

// Run runs a script of deploy/k6 with settings such as RATE=100. The test fails if k6 does.
func Run(t *testing.T, script string, settings ...string) Summary {
	t.Helper()
	return RunTo(t, "", nil, script, settings...)
}

// RunTo is like Run, and also sends the metrics to an output of k6, which env sets up. Other settings of k6 in the environment are ignored.
func RunTo(t *testing.T, output string, env []string, script string, settings ...string) Summary {
	t.Helper()
	file := filepath.Join(t.TempDir(), script+".json")
	args := []string{"run", "--quiet", "--no-usage-report", "--no-color", "-e", "SUMMARY=" + file}
	if output != "" {
		args = append(args, "-o", output)
	}
	for _, one := range settings {
		args = append(args, "-e", one)
	}
	testkit.Source(t, "deploy/k6/lib/shortline.js") // what the scripts import
	cmd := exec.CommandContext(t.Context(), testkit.Part(t, "k6"), append(args, testkit.Source(t, "deploy/k6/"+script+".js"))...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "K6_") })
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("k6 %s: %v", script, err)
	}
	text, err := os.ReadFile(file)
	testkit.Must(t, err)
	var read struct {
		RootGroup struct {
			Checks []struct {
				Name          string
				Passes, Fails int
			}
		} `json:"root_group"`
		Metrics map[string]struct{ Values map[string]float64 }
	}
	testkit.Must(t, json.Unmarshal(text, &read))
	s := Summary{Passes: map[string]int{}, Fails: map[string]int{}, Passed: int(read.Metrics["checks"].Values["passes"]),
		Requests: int(read.Metrics["http_reqs"].Values["count"])}
	for _, c := range read.RootGroup.Checks {
		s.Passes[c.Name], s.Fails[c.Name] = c.Passes, c.Fails
	}
	return s
}
