package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/cli/clitest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func call(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := edgeProgram.Command(args, &out, &out)
	return code, out.String()
}

func TestCheck(t *testing.T) {
	for k, v := range map[string]string{
		"BASE_URL": "https://sho.rt", "CONTROL_URL": "https://control.example.com", "EDGE_TOKEN": "a-token-of-more-than-16-bytes",
		"KAFKA_BROKERS": "kafka:9092", "DATA_DIR": t.TempDir(),
	} {
		t.Setenv(k, v)
	}
	if code, out := call(t, "-check"); code != 0 {
		t.Fatalf("good settings: %d %s", code, out)
	}
	t.Setenv("BASE_URL", "sho.rt")
	t.Setenv("CONTROL_URL", "here")
	t.Setenv("KAFKA_BROKERS", "kafka")
	t.Setenv("ROUTING_TIMEZONE", "Mars/Olympus")
	code, out := call(t, "-check")
	for _, name := range []string{"BASE_URL", "CONTROL_URL", "kafka", "ROUTING_TIMEZONE"} {
		if !strings.Contains(out, name) {
			t.Errorf("%s is not named in\n%s", name, out)
		}
	}
	if code != 1 || strings.Contains(out, "a-token") {
		t.Errorf("%d %s", code, out)
	}
}

func TestSettings_page(t *testing.T) {
	_, table := call(t, "-settings")
	clitest.Settings(t, testkit.Source(t, "docs/operators/settings.md"), "edge", table)
}

func TestHelp_and_mistakes(t *testing.T) {
	if code, out := call(t, "-help"); code != 0 || !strings.Contains(out, "KAFKA_BROKERS") {
		t.Errorf("-help: %d %s", code, out)
	}
	if code, _ := call(t, "serve"); code != 2 {
		t.Errorf("an unknown argument: %d", code)
	}
	if code, out := call(t, "-version"); code != 0 || !strings.HasPrefix(out, "shortline ") {
		t.Errorf("-version: %d %s", code, out)
	}
}

// A control plane that is reached in the clear over a network is warned about, by -check and at the start.
func TestM8_WarnsAboutHTTP(t *testing.T) {
	for k, v := range map[string]string{"BASE_URL": "https://sho.rt", "EDGE_TOKEN": "a-token-of-more-than-16-bytes",
		"KAFKA_BROKERS": "kafka:9092", "DATA_DIR": t.TempDir()} {
		t.Setenv(k, v)
	}
	for url, warned := range map[string]bool{
		"http://control:8080": true, "http://10.0.0.7": true, "http://control.example.com": true,
		"https://control:8443": false, "http://127.0.0.1:8080": false, "http://[::1]:8080": false, "http://localhost:8080": false,
	} {
		t.Setenv("CONTROL_URL", url)
		code, out := call(t, "-check")
		if code != 0 || strings.Contains(out, "warning: CONTROL_URL") != warned {
			t.Errorf("%s: %d %s", url, code, out)
		}
	}
	t.Setenv("CONTROL_URL", "http://control:8080")
	t.Setenv("CONTROL_CA_FILE", "main_test.go")
	if code, out := call(t, "-check"); code != 1 || !strings.Contains(out, "CONTROL_CA_FILE") {
		t.Errorf("a file that is no certificate: %d %s", code, out)
	}
}
