//go:build proof

package observe_test

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

// Each kind of user is served by a running program, in smoke size: the limits of time are those of a machine that does other things.
func TestK6_users(t *testing.T) {
	t.Parallel()
	p := standalone(t)
	figures := filepath.Join(t.TempDir(), "users.json")
	cmd := exec.CommandContext(t.Context(), part(t, "k6"), "run", "--quiet", "--no-usage-report", "--no-color",
		"-e", "BASE_URL=http://"+p.Addr, "-e", "ADMIN_PASSWORD="+password, "-e", "DURATION=6s", "-e", "RATE=40", "-e", "P95=60000", "-e", "P95_API=60000",
		"-e", "P95_PASSWORD=60000", "-e", "DROPPED=100000", "-e", "SUMMARY="+figures, testkit.Source(t, "deploy/k6/users.js"))
	testkit.Source(t, "deploy/k6/lib/shortline.js")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "K6_") })
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
	if left := p.links(t); left != 0 {
		t.Errorf("the users left %d links behind", left)
	}
}
