//go:build proof

package observe_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Each kind of user is served by a running program, in smoke size: the limits of time are those of a machine that does other things.
// The dashboard of load tests finds every figure of k6 that it shows.
func TestK6_users(t *testing.T) {
	t.Parallel()
	p := standalone(t)
	metrics := receiver(t)
	figures := filepath.Join(t.TempDir(), "users.json")
	cmd := exec.CommandContext(t.Context(), part(t, "k6"), "run", "--quiet", "--no-usage-report", "--no-color", "-o", "experimental-prometheus-rw",
		"-e", "BASE_URL=http://"+p.Addr, "-e", "ADMIN_PASSWORD="+password, "-e", "DURATION=6s", "-e", "RATE=40", "-e", "P95=60000", "-e", "P95_API=60000",
		"-e", "P95_PASSWORD=60000", "-e", "DROPPED=100000", "-e", "SUMMARY="+figures, testkit.Source(t, "deploy/k6/users.js"))
	testkit.Source(t, "deploy/k6/lib/shortline.js")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "K6_") })
	cmd.Env = append(cmd.Env, "K6_PROMETHEUS_RW_SERVER_URL="+metrics+"/api/v1/write", "K6_PROMETHEUS_RW_TREND_STATS=p(95),p(99)",
		"K6_PROMETHEUS_RW_PUSH_INTERVAL=1s")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("k6: %v", err)
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
	}
	testkit.Must(t, json.Unmarshal(text, &summary))
	passed := map[string]int{}
	for _, c := range summary.RootGroup.Checks {
		passed[c.Name] = c.Passes
		if c.Fails > 0 {
			t.Errorf("%s: failed %d times", c.Name, c.Fails)
		}
	}
	for _, name := range []string{"a link redirects", "a link redirects on a new connection", "a rule decides", "a test sends to a variant",
		"a password opens the link", "the API lists links", "the destination has a click id", "a conversion is accepted"} {
		if passed[name] == 0 {
			t.Errorf("%q never passed, so nothing tried it", name)
		}
	}
	shown := 0
	for where, expr := range expressions(t) {
		if !strings.HasPrefix(where, "load.json") || !strings.Contains(expr, "k6_") {
			continue
		}
		shown++
		var answer struct {
			Data struct{ Result []any }
		}
		res, err := http.Get(metrics + "/api/v1/query?query=" + url.QueryEscape(expr))
		testkit.Must(t, err)
		err = json.NewDecoder(res.Body).Decode(&answer)
		res.Body.Close()
		testkit.Must(t, err)
		if len(answer.Data.Result) == 0 {
			t.Errorf("%s shows nothing: %s", where, expr)
		}
	}
	if shown < 8 {
		t.Errorf("the dashboard asks only %d questions about k6", shown)
	}
	if left := p.links(t); left != 0 {
		t.Errorf("the users left %d links behind", left)
	}
}

// receiver starts a Prometheus without targets, to which k6 can send its figures, and returns its address.
func receiver(t *testing.T) string {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("This test needs Prometheus.  On Debian or Ubuntu:  sudo apt-get install -y prometheus")
	}
	dir, listen := t.TempDir(), testkit.FreeAddr(t)
	config := filepath.Join(dir, "prometheus.yml")
	testkit.Must(t, os.WriteFile(config, nil, 0o600))
	cmd := exec.CommandContext(t.Context(), binary, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.enable-remote-write-receiver", "--web.listen-address="+listen)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testkit.Eventually(t, "Prometheus is ready", func() bool {
		res, err := http.Get("http://" + listen + "/-/ready")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return "http://" + listen
}
