//go:build proof

package deploy_test

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// release is the version that the builds of the test report.
const release = "v0.0.0-deploytest"

// The stages of each Dockerfile, run without a container engine, write the same program that all other tests use, and its
// licences.
func TestDockerfiles_build_the_programs(t *testing.T) {
	for _, image := range images {
		t.Run(image.name, func(t *testing.T) {
			path := build(t, image.name)
			fits(t, path)
			text, err := exec.Command(path, "-version").Output()
			if err != nil || !strings.HasPrefix(string(text), "shortline "+release+" ") {
				t.Errorf("-version: %s %v", text, err)
			}
			if got, want := buildSettings(t, path), buildSettings(t, program(t, image.name)); !maps.Equal(got, want) {
				t.Errorf("the image's program is built with %v, others with %v", got, want)
			}
			coversWhatIsLinkedIn(t, image.name, path, filepath.Join(filepath.Dir(path), "doc"))
		})
	}
}

// buildSettings returns how a program was built, without what differs between versions.
func buildSettings(t *testing.T, path string) map[string]string {
	t.Helper()
	info, err := buildinfo.ReadFile(path)
	testkit.Must(t, err)
	out := map[string]string{}
	for _, s := range info.Settings {
		if s.Key != "-pgo" { // a path of the build machine
			out[s.Key] = strings.ReplaceAll(s.Value, release, "test")
		}
	}
	return out
}

// build runs the stages of a Dockerfile before the last one, with a folder as the file system of each stage. It copies the
// same parts of the build context and runs the commands that build something.
func build(t *testing.T, name string) string {
	t.Helper()
	stages, _, err := readDockerfile(t, name)
	testkit.Must(t, err)
	dir, project := t.TempDir(), filepath.Dir(source(t, "deploy"))
	for _, s := range stages[:len(stages)-1] {
		if err := stage(t.Context(), project, dir, s); err != nil {
			t.Fatalf("stage %s: %v", s.Name, err)
		}
	}
	return filepath.Join(dir, "build", "out", name)
}

// stage runs one stage of a project's Dockerfile. The folder of each stage is in the given one.
func stage(ctx context.Context, project, in string, s instructions.Stage) error {
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
				} else if err := copyContext(project, from, to); err != nil {
					return err
				}
			}
		case *instructions.RunCommand:
			script := strings.Join(c.CmdLine, " ")
			if strings.HasPrefix(script, "mkdir ") {
				continue
			}
			script = strings.ReplaceAll(script, "/out/", filepath.Join(root, "out")+"/")
			if err := shell(ctx, project, at("."), script); err != nil {
				return err
			}
		}
	}
	return nil
}

// shell runs a script of a Dockerfile with the Node.js that the build requires.
func shell(ctx context.Context, project, dir, script string) error {
	run := exec.CommandContext(ctx, filepath.Join(project, "deploy/dev/web"), "exec", "sh", "-ec", script)
	run.Dir = dir
	run.Env = append(os.Environ(), "VERSION="+release)
	if text, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// ignored matches the paths that the build context excludes.
func ignored(project string) (*patternmatcher.PatternMatcher, error) {
	f, err := os.Open(filepath.Join(project, ".dockerignore"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	patterns, err := ignorefile.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return patternmatcher.New(patterns)
}

// copyContext copies a folder of the build context.
func copyContext(project, from, to string) error {
	out, err := ignored(project)
	if err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(project, from), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(project, path)
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
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(dest, text, info.Mode().Perm())
	})
}
