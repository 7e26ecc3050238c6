package deploy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// root is the root folder of the repository.
const root = "../.."

// release is the version that the builds of the test report.
const release = "v0.0.0-deploytest"

// Programs are built once, by the first test that needs them, in a folder that TestMain removes.
var (
	workshop string
	built    = map[string]func() (string, error){}
)

func TestMain(m *testing.M) {
	var err error
	if workshop, err = os.MkdirTemp("", "shortline-deploy-*"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range []string{"edge", "control", "standalone"} {
		built[name] = sync.OnceValues(func() (string, error) { return build(name) })
	}
	log.SetOutput(io.Discard) // Helm logs each symbolic link in the chart
	status := m.Run()
	os.RemoveAll(workshop)
	os.Exit(status)
}

// program returns the path of a program that was built as in its Dockerfile.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := built[name]()
	if err != nil {
		t.Fatalf("build %s as its Dockerfile does: %v", name, err)
	}
	return path
}

// build runs the stages of a Dockerfile before the last one, with a folder as the file system of each stage. It copies the
// same parts of the build context and runs the commands that build something.
func build(name string) (string, error) {
	stages, _, err := readDockerfile(name)
	if err != nil {
		return "", err
	}
	for _, s := range stages[:len(stages)-1] {
		if err := stage(filepath.Join(workshop, name), s); err != nil {
			return "", fmt.Errorf("stage %s: %w", s.Name, err)
		}
	}
	program := filepath.Join(workshop, name, "build", "out", name)
	_, err = os.Stat(program)
	return program, err
}

// stage runs one stage. The folder of each stage is in the given one.
func stage(in string, s instructions.Stage) error {
	root, dir := filepath.Join(in, s.Name), "/"
	at := func(path string) string {
		if filepath.IsAbs(path) {
			return filepath.Join(root, path)
		}
		return filepath.Join(root, dir, path)
	}
	for _, command := range s.Commands {
		switch c := command.(type) {
		case *instructions.WorkdirCommand:
			dir = c.Path
			if err := os.MkdirAll(at(dir), 0o755); err != nil {
				return err
			}
		case *instructions.CopyCommand:
			for _, from := range c.SourcePaths {
				to := at(c.DestPath)
				if strings.HasSuffix(c.DestPath, "/") && filepath.Ext(from) != "" {
					to = filepath.Join(to, filepath.Base(from))
				}
				if c.From != "" {
					if err := os.CopyFS(to, os.DirFS(filepath.Join(in, c.From, from))); err != nil {
						return err
					}
				} else if err := copyContext(from, to); err != nil {
					return err
				}
			}
		case *instructions.RunCommand:
			script := strings.Join(c.CmdLine, " ")
			if strings.HasPrefix(script, "mkdir ") {
				continue
			}
			if err := shell(at("."), strings.ReplaceAll(script, "/out/", filepath.Join(root, "out")+"/")); err != nil {
				return err
			}
		}
	}
	return nil
}

// shell runs a script of a Dockerfile with the Node.js that the build requires.
func shell(dir, script string) error {
	web, err := filepath.Abs(filepath.Join(root, "deploy/dev/web"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, web, "exec", "sh", "-ec", script)
	run.Dir = dir
	run.Env = append(os.Environ(), "VERSION="+release)
	if text, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

func readDockerfile(name string) (stages []instructions.Stage, warnings []string, err error) {
	text, err := os.ReadFile(filepath.Join(root, "deploy", name+".Dockerfile"))
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

// ignored reports which paths the build context excludes.
var ignored = sync.OnceValues(func() (*patternmatcher.PatternMatcher, error) {
	f, err := os.Open(filepath.Join(root, ".dockerignore"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	patterns, err := ignorefile.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return patternmatcher.New(patterns)
})

// copyContext copies a folder of the build context.
func copyContext(from, to string) error {
	out, err := ignored()
	if err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(root, from), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, rel)
		if err != nil || d.IsDir() {
			return err
		}
		if skip, err := out.MatchesOrParentMatches(rel); skip || err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, inside)
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		return os.WriteFile(dest, text, 0o644)
	})
}

var settingRow = regexp.MustCompile("(?m)^\\| `([A-Z0-9_]+)` \\|")

// settings returns the names that a program reads from its environment, in order.
func settings(t *testing.T, name string) []string {
	t.Helper()
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
	return names
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
			if err := os.WriteFile(value, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
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
	if slices.Contains([]string{"DATABASE_URL", "MIGRATE_DATABASE_URL", "CLICKHOUSE_URL", "CLICKHOUSE_URLS", "ENCRYPTION_KEY", "EDGE_TOKEN", "EDGE_TOKENS"}, name) {
		return true
	}
	return strings.HasSuffix(name, "PASSWORD") || strings.HasSuffix(name, "SECRET") || strings.HasSuffix(name, "SECRET_KEY")
}
