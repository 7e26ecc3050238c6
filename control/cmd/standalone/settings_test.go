package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/cli/clitest"
)

// Settings of TLS that do not go together are refused with what is missing.
func TestCheck_explains_TLS(t *testing.T) {
	t.Parallel()
	for says, env := range map[string][]string{
		"TLS_ADDR: BASE_URL must begin with https://":    {"TLS_ADDR=:443", "BASE_URL=http://sho.rt"},
		"ACME_EMAIL: needs TLS_ADDR":                     {"ACME_EMAIL=ops@example.com", "BASE_URL=https://sho.rt"},
		"TLS_ADDR: address 443: missing port in address": {"TLS_ADDR=443", "BASE_URL=https://sho.rt"},
		"ACME_EMAIL: must be an e-mail address":          {"TLS_ADDR=:443", "ACME_EMAIL=ops", "BASE_URL=https://sho.rt"},
	} {
		cmd := exec.Command(binary, "-check")
		cmd.Env = append(cleanEnv(), env...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), says) {
			t.Errorf("%v: want %q, got %v: %s", env, says, err, out)
		}
	}
}

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
