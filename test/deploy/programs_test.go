package deploy_test

import (
	"bytes"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // Helm logs each symbolic link in the chart
	os.Exit(m.Run())
}

// source returns the path of a file or folder of the project.
func source(t testing.TB, path ...string) string {
	t.Helper()
	return testkit.Source(t, filepath.Join(path...))
}

// program returns the path of a program that was built with the flags of its image.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := testkit.Release(name)
	testkit.Must(t, err)
	return path
}

func readDockerfile(t testing.TB, name string) (stages []instructions.Stage, warnings []string, err error) {
	text, err := os.ReadFile(source(t, "deploy", name+".Dockerfile"))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	for _, w := range parsed.Warnings {
		warnings = append(warnings, w.Short)
	}
	lint := linter.New(&linter.Config{ExperimentalAll: true, Warn: func(rule, _, _, short string, _ []parser.Range) {
		warnings = append(warnings, rule+": "+short)
	}})
	stages, _, err = instructions.Parse(parsed.AST, lint)
	return stages, warnings, err
}

var settingRow = regexp.MustCompile("(?m)^\\| `([A-Z0-9_]+)` \\|")

// settingsOf holds what settings returns, by program.
var settingsOf sync.Map

// settings returns the names that a program reads from its environment, in order.
func settings(t *testing.T, name string) []string {
	t.Helper()
	if known, ok := settingsOf.Load(name); ok {
		return slices.Clone(known.([]string))
	}
	text, err := exec.Command(program(t, name), "-settings").Output()
	if err != nil {
		t.Fatalf("%s -settings: %v", name, err)
	}
	var names []string
	for _, m := range settingRow.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	if len(names) < 10 {
		t.Fatalf("%s -settings lists %d names:\n%s", name, len(names), text)
	}
	settingsOf.Store(name, names)
	return slices.Clone(names)
}

// A container is what a deployment would start: a program with arguments, environment and secret files.
type container struct {
	where   string // location for failure messages
	program string
	args    []string
	env     map[string]string
	secrets map[string]string // path in the container to content
}

// Settings that only single commands read, in addition to those of the program.
var commandSettings = []string{"MIGRATE_DATABASE_URL", "AUDIT_UNSIGNED"}

// Variables that the Go runtime reads.
var runtimeSettings = []string{"GOMEMLIMIT", "GOMAXPROCS", "GOGC"}

// check fails for variables in the environment that the program does not read, and for every problem that the program
// itself reports.
func (c container) check(t *testing.T) {
	t.Helper()
	known := append(settings(t, c.program), runtimeSettings...)
	if slices.Contains(c.args, "migrate") {
		known = append(known, commandSettings...)
	}
	dir := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range c.env {
		plain := strings.TrimSuffix(name, "_FILE")
		if !slices.Contains(known, name) && !slices.Contains(known, plain) {
			t.Errorf("%s: %s does not read the setting %s", c.where, c.program, name)
		}
		if name != plain && value != "" {
			content, ok := c.secrets[value]
			if !ok {
				t.Errorf("%s: %s names %s, which is not mounted", c.where, name, value)
				continue
			}
			value = filepath.Join(dir, plain)
			testkit.Must(t, os.WriteFile(value, []byte(content), 0o600))
		} else if looksSecret(name) && value != "" {
			t.Errorf("%s: the secret %s is in the environment; pass it in a file with %s_FILE", c.where, name, name)
		}
		env = append(env, name+"="+value)
	}
	// Folders and geo databases exist only in the container.
	env = append(env, "DATA_DIR="+dir)
	run := exec.Command(program(t, c.program), append([]string{"-check"}, c.args...)...)
	run.Env = env
	if text, err := run.CombinedOutput(); err != nil {
		t.Errorf("%s: %s: %v\n%s", c.where, run, err, text)
	}
}

// looksSecret recognizes secrets by their names.
func looksSecret(name string) bool {
	if slices.Contains([]string{"DATABASE_URL", "MIGRATE_DATABASE_URL", "CLICKHOUSE_URL", "CLICKHOUSE_URLS", "ENCRYPTION_KEY", "EDGE_TOKEN",
		"EDGE_TOKENS"}, name) {
		return true
	}
	return strings.HasSuffix(name, "PASSWORD") || strings.HasSuffix(name, "SECRET") || strings.HasSuffix(name, "SECRET_KEY")
}
