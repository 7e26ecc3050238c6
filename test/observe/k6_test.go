package observe_test

import (
	"os/exec"
	"testing"

	"github.com/shortline/shortline/shared/testing/k6test"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The smoke test passes against a running program and deletes its links.
func TestK6_smoke(t *testing.T) {
	t.Parallel()
	p := standalone(t)
	s := k6test.Run(t, "smoke", "BASE_URL=http://"+p.Addr, "ADMIN_PASSWORD="+password, "DURATION=3s")
	if s.Passed < 20 {
		t.Errorf("%d checks passed, want about sixty", s.Passed)
	}
	if s.Requests > 150 {
		t.Errorf("%d requests are too many: k6 followed redirects", s.Requests)
	}
	if left := p.links(t); left != 0 {
		t.Errorf("the smoke test left %d links behind", left)
	}
}

// k6 parses every script and computes its execution requirements without an error.
func TestK6_scripts_parse(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, "deploy/k6/*.js") {
		if out, err := exec.CommandContext(t.Context(), testkit.Part(t, "k6"), "inspect", "--execution-requirements", path).
			CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
	}
}
