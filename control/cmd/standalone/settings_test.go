package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/cli/clitest"
)

// deploy/dev/settings generates docs/operators/settings.md from the programs.
func TestSettings_page_is_generated(t *testing.T) {
	t.Parallel()
	table, err := exec.Command(binary, "-settings").Output()
	if err != nil {
		t.Fatal(err)
	}
	clitest.Settings(t, "../../../docs/operators/settings.md", "standalone", string(table))
}

func TestCheck_lists_every_problem(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "-check")
	cmd.Env = append(cleanEnv(), "LISTEN_ADDR=nowhere", "JWT_SECRET=short", "ROUTING_TIMEZONE=Mars/Olympus", "TRUSTED_PROXIES=everybody", "LOG_LEVEL=loud")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("invalid settings were accepted")
	}
	for _, name := range []string{"LISTEN_ADDR", "JWT_SECRET", "ROUTING_TIMEZONE", "TRUSTED_PROXIES", "LOG_LEVEL"} {
		if !strings.Contains(string(out), name) {
			t.Errorf("the output does not name %s:\n%s", name, out)
		}
	}
	if strings.Contains(string(out), "short\n") {
		t.Error("a secret's value was printed")
	}
}
