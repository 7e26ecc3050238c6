package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/cli/clitest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// check runs the program with settings to check them, and returns whether it accepts them.
func check(t *testing.T, settings ...string) (accepted bool, says string) {
	t.Helper()
	cmd := exec.Command(binary(t), "-check")
	cmd.Env = append(append(cleanEnv(), "DATA_DIR="+t.TempDir()), settings...)
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// Settings that do not go together are refused with what is missing. A wrong setting of e-mail must not be found out by a
// missing e-mail.
func TestCheck_explains_problems(t *testing.T) {
	t.Parallel()
	for want, env := range map[string][]string{
		"TLS_ADDR: BASE_URL must begin with https://":    {"TLS_ADDR=:443", "BASE_URL=http://sho.rt"},
		"ACME_EMAIL: needs TLS_ADDR":                     {"ACME_EMAIL=ops@example.com", "BASE_URL=https://sho.rt"},
		"TLS_ADDR: address 443: missing port in address": {"TLS_ADDR=443", "BASE_URL=https://sho.rt"},
		"ACME_EMAIL: must be an e-mail address":          {"TLS_ADDR=:443", "ACME_EMAIL=ops", "BASE_URL=https://sho.rt"},
		"SMTP_URL":                                       {"SMTP_URL=smtp://user:canary@mail.example.com:port", "MAIL_FROM=a@example.com"},
		"MAIL_FROM":                                      {"SMTP_URL=smtp://user:canary@mail.example.com", "MAIL_FROM="},
	} {
		if accepted, says := check(t, env...); accepted || !strings.Contains(says, want) || strings.Contains(says, "canary") {
			t.Errorf("%v: want %q, got: %s", env, want, says)
		}
	}
}

// deploy/dev/settings generates docs/operators/settings.md from the programs.
func TestSettings_page_is_generated(t *testing.T) {
	t.Parallel()
	table, err := exec.Command(binary(t), "-settings").Output()
	testkit.Must(t, err)
	clitest.Settings(t, testkit.Source(t, "docs/operators/settings.md"), "standalone", string(table))
}

func TestA11_check_lists_every_problem(t *testing.T) {
	t.Parallel()
	accepted, says := check(t, "LISTEN_ADDR=nowhere", "JWT_SECRET=short", "ROUTING_TIMEZONE=Mars/Olympus", "TRUSTED_PROXIES=everybody",
		"LOG_LEVEL=loud", "ALLOWED_SCHEMES=https,JavaScript", "MAX_DESTINATION_BYTES=20000")
	if accepted {
		t.Fatal("invalid settings were accepted")
	}
	for _, name := range []string{"LISTEN_ADDR", "JWT_SECRET", "ROUTING_TIMEZONE", "TRUSTED_PROXIES", "LOG_LEVEL",
		"ALLOWED_SCHEMES: the scheme javascript can't be allowed", "MAX_DESTINATION_BYTES: must be 100 to 16384"} {
		if !strings.Contains(says, name) {
			t.Errorf("the output does not name %s:\n%s", name, says)
		}
	}
	if strings.Contains(says, "short\n") {
		t.Error("a secret's value was printed")
	}
	// A11: problems of form do not hide others, each stands once, and names that do not exist are found.
	accepted, says = check(t, "CLICK_RETENTION_DAYS=many", "JWT_TTL=1s", "BASE_URL=sho.rt", "TRUSTED_PROXIES=everybody", "LISTEN_ADR=:8080")
	for _, name := range []string{"CLICK_RETENTION_DAYS: not a valid whole number", "JWT_TTL:", "BASE_URL:", "TRUSTED_PROXIES:",
		"LISTEN_ADR: is not a setting; LISTEN_ADDR is"} {
		if accepted || strings.Count(says, name) != 1 {
			t.Errorf("%q is not named once:\n%s", name, says)
		}
	}
}
