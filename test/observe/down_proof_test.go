//go:build proof

package observe_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// pager is a minimal Alertmanager. It records the alerts that Prometheus sends, by name and instance.
type pager struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]bool
}

func newPager(t *testing.T) *pager {
	p := &pager{got: map[string]bool{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var alerts []struct{ Labels map[string]string }
		if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, a := range alerts {
			p.got[a.Labels["alertname"]+" "+a.Labels["instance"]] = true
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *pager) has(alert string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got[alert]
}

// own starts an edge that the test can stop.
func own(t *testing.T) *program {
	t.Helper()
	p := &program{dir: t.TempDir()}
	p.run(t, "edge", []string{"BASE_URL=http://sho.rt", "CONTROL_URL=http://127.0.0.1:1", "EDGE_TOKEN=0123456789abcdef0123456789abcdef",
		"KAFKA_BROKERS=127.0.0.1:1"})
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// ups queries the number of targets that answer.
func ups(t *testing.T, prometheus string) string {
	t.Helper()
	res, err := http.Get("http://" + prometheus + `/api/v1/query?query=sum(up%7Bjob%3D%22shortline-edge%22%7D)`)
	if err != nil {
		return "" // Prometheus is still starting
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`"value":\[[^,]+,"(\d+)"\]`).FindStringSubmatch(b.String()); m != nil {
		return m[1]
	}
	return ""
}

// Prometheus with the configuration, targets and rules of compose sends an alert when one of two edges stops. Only the
// addresses and the durations are changed.
func TestOps3_A_stopped_edge_pages(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("This test needs Prometheus.  On Debian or Ubuntu:  sudo apt-get install -y prometheus")
	}
	stays, stops := own(t), own(t)
	pages := newPager(t)

	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	swap := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("the configuration does not contain %q", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(text)
	}
	targets := write("targets.yml", swap(read(t, "deploy/prometheus/targets/fleet.yml"), "edge-1:9090", stays.Ops, "edge-2:9090", stops.Ops,
		"control-1:9090", "127.0.0.1:1", "control-2:9090", "127.0.0.1:2"))
	soon := regexp.MustCompile(`(?m)^(\s+for:) \S+$`)
	for _, name := range []string{"alerts.yml", "recording.yml"} {
		write(name, soon.ReplaceAllString(read(t, "deploy/prometheus/rules/"+name), "$1 1s"))
	}
	config := swap(read(t, "deploy/prometheus/prometheus.yml"), "/etc/prometheus/targets.yml", targets,
		"  - /etc/prometheus/rules/*.yml", "  - "+filepath.Join(dir, "alerts.yml")+"\n  - "+filepath.Join(dir, "recording.yml"),
		"alertmanager:9093", strings.TrimPrefix(pages.URL, "http://"), "15s", "1s", `regex: (.+):\d+`, `regex: (.+)`)
	listen := testkit.FreeAddr(t)
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, "--config.file="+write("prometheus.yml", config), "--storage.tsdb.path="+
		filepath.Join(dir, "data"), "--web.listen-address="+listen)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prometheus: %s", out.String())
		}
	})

	testkit.Eventually(t, "Prometheus reaches both edges", func() bool { return ups(t, listen) == "2" })
	down := func(p *program) string { return "ShortlineDown " + p.Ops }
	if pages.has(down(stops)) || pages.has(down(stays)) {
		t.Error("Alertmanager got a page before an edge stopped")
	}
	testkit.Must(t, stops.cmd.Process.Signal(syscall.SIGTERM))
	testkit.Eventually(t, "Alertmanager gets a page for the stopped edge", func() bool { return pages.has(down(stops)) })
	if pages.has(down(stays)) {
		t.Error("Alertmanager got a page for the running edge")
	}
}
