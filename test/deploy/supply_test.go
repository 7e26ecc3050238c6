package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

var digest = regexp.MustCompile(`@sha256:[0-9a-f]{64}`)

// A check without a vulnerability list has checked nothing, so it fails unless that is explicitly allowed.
func TestLow_VulnerabilityCheckWithoutAList(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"http://127.0.0.1:1", "file://" + t.TempDir()} {
		for _, allowed := range []bool{false, true} {
			run := exec.Command(source(t, "deploy/dev/vulns"))
			run.Env = append(os.Environ(), "GOVULNDB="+list, "ALLOW_NO_VULN_DB="+map[bool]string{true: "1", false: ""}[allowed])
			text, err := run.CombinedOutput()
			if (err == nil) != allowed || !strings.Contains(string(text), "NOT CHECKED") {
				t.Errorf("%s, allowed %v: unexpected result %v\n%s", list, allowed, err, text)
			}
		}
	}
	if !strings.Contains(read(t, ".ci/run"), "ALLOW_NO_VULN_DB") {
		t.Error(".ci/run does not state whether it may run without a list")
	}
}

// deploy/dev/pin-images writes the digest of the registry wherever an image is named, once, and the files stay valid.
func TestLow_ImagesCanBePinned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Must(t, os.MkdirAll(filepath.Join(dir, "deploy/clickhouse"), 0o755))
	names := []string{"docker-compose.yml", "deploy/clickhouse/cluster.yml", ".env.example", "deploy/edge.Dockerfile",
		"deploy/control.Dockerfile", "deploy/standalone.Dockerfile"}
	before := map[string]string{}
	for _, name := range names {
		before[name] = read(t, name)
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(before[name]), 0o644))
	}
	// A stub for the registry, with digests that differ by name and run.
	testkit.Must(t,
		os.WriteFile(filepath.Join(dir, "docker"),
			[]byte("#!/bin/sh\nfor last; do :; done\necho sha256:$(printf '%s %s' \"$last\" \"$RUN\" | sha256sum | cut -d' ' -f1)\n"),
			0o755))
	pin := func(run string, args ...string) (string, error) {
		cmd := exec.Command(source(t, "deploy/dev/pin-images"), args...)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PIN_ROOT="+dir, "RUN="+run)
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	for _, run := range []string{"first", "second"} {
		text, err := pin(run)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if text, err := pin(run, "--check"); err != nil {
			t.Errorf("--check after pinning: %v\n%s", err, text)
		}
		for _, name := range names {
			now, err := os.ReadFile(filepath.Join(dir, name))
			testkit.Must(t, err)
			plain := digest.ReplaceAllString(string(now), "")
			if plain != digest.ReplaceAllString(before[name], "") {
				t.Errorf("%s: something other than digests was changed", name)
			}
			n := 0
			for _, pinned := range strings.Fields(text) {
				n += strings.Count(string(now), pinned)
			}
			if n == 0 || n != len(digest.FindAllString(string(now), -1)) {
				t.Errorf("%s, %s: %d of %d digests are those of the registry", name, run, n, len(digest.FindAllString(string(now), -1)))
			}
		}
	}
}
