package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// A release is built by goreleaser, and everything else by deploy/dev/program. Both must pass the same flags to the compiler and the
// linker, or users would run programs that no test has seen.
func TestRelease_flags_are_those_of_all_programs(t *testing.T) {
	t.Parallel()
	var release struct {
		Builds []struct {
			ID, Dir                   string
			Env, Flags, Tags, Ldflags []string
			Overrides                 []struct{ Ldflags []string }
		}
	}
	testkit.Must(t, yaml.Unmarshal([]byte(read(t, "deploy/packages/goreleaser.yaml")), &release))
	if len(release.Builds) != 4 {
		t.Fatalf("%d builds", len(release.Builds))
	}
	// The stub takes the place of go, and prints how it was called.
	stub := filepath.Join(t.TempDir(), "go")
	testkit.Must(t, os.WriteFile(stub, []byte("#!/bin/sh\npwd\necho CGO_ENABLED=$CGO_ENABLED\nprintf '%s\\n' \"$@\"\n"), 0o755))
	script := source(t, "deploy/dev/program")
	root := filepath.Dir(filepath.Dir(filepath.Dir(script)))
	for _, b := range release.Builds {
		called := func(arch string) string {
			cmd := exec.Command(script, b.ID, "/nowhere")
			cmd.Env = append(os.Environ(), "GO="+stub, "VERSION=v1.2.3", "COMMIT=abc", "COMMIT_DATE=2026-11-29T18:00:00Z",
				"GOARCH="+arch)
			text, err := cmd.CombinedOutput()
			testkit.Must(t, err)
			return string(text)
		}
		flags := slices.Clone(b.Flags)
		if len(b.Tags) > 0 {
			flags = append(flags, "-tags", strings.Join(b.Tags, ","))
		}
		call := func(ldflags []string) string {
			all := append([]string{filepath.Join(root, b.Dir), b.Env[0], "build"}, flags...)
			all = append(all, "-ldflags", strings.Join(ldflags, " "), "-o", "/nowhere", ".", "")
			return strings.NewReplacer("{{ .Version }}", "1.2.3", "{{ .FullCommit }}", "abc", "{{ .CommitDate }}", "2026-11-29T18:00:00Z",
				"{{ .Env.ROOT }}", root).Replace(strings.Join(all, "\n"))
		}
		want := map[string]string{"amd64": call(b.Ldflags), "arm64": call(b.Ldflags)}
		if len(b.Overrides) > 0 && b.Overrides[0].Ldflags != nil {
			want["arm64"] = call(b.Overrides[0].Ldflags)
		}
		for arch, want := range want {
			if got := called(arch); got != want {
				t.Errorf("%s for %s: deploy/dev/program calls go with\n%s\na release with\n%s", b.ID, arch, got, want)
			}
		}
	}
}

// The notes of a release are a section of the changelog. A version without one cannot be released.
func TestRelease_notes_come_from_the_changelog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Must(t, os.MkdirAll(filepath.Join(dir, "deploy/packages"), 0o755))
	script := filepath.Join(dir, "deploy/packages/notes")
	testkit.Must(t, os.WriteFile(script, []byte(read(t, "deploy/packages/notes")), 0o755))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"),
		[]byte("# Changelog\n\n## Unreleased\n\n* new\n\n## 1.10.0\n\n* ten\n\n### Fixed\n\n* nine\n\n## 1.1.0\n\n* one\n"), 0o644))
	for version, want := range map[string]string{
		"v1.10.0": "\n* ten\n\n### Fixed\n\n* nine\n\n", "1.1.0": "\n* one\n", "v1.1": "", "v2.0.0": "",
	} {
		text, err := exec.Command(script, version).Output()
		if (err != nil) != (want == "") || string(text) != want {
			t.Errorf("%s: %q, %v, want %q", version, text, err, want)
		}
	}
}

// A tag without a section, sections in the wrong order and changes after a release without a new section are found.
func TestRelease_changelog_has_a_section_for_each_tag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	must := func(args ...string) {
		t.Helper()
		if text, err := run("git", args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	write := func(path, text string) {
		t.Helper()
		testkit.Must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		testkit.Must(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o755))
	}
	checks := func(changelog, complaint string) {
		t.Helper()
		write("CHANGELOG.md", changelog)
		text, err := run(filepath.Join(dir, ".ci/changelog"))
		if (err == nil) != (complaint == "") || !strings.Contains(text, complaint) {
			t.Errorf("%q: %v %q, want %q", changelog, err, text, complaint)
		}
	}
	write(".ci/changelog", read(t, ".ci/changelog"))
	write("edge/main.go", "package main")
	must("init", "--quiet")
	checks("# Changelog\n\n## 1.0.0\n", "")
	checks("# Changelog\n", "no sections")
	checks("## 1.0.0\n\n## Unreleased\n", "not the first section")
	checks("## 1.9.0\n\n## 1.10.0\n", "descending order")
	checks("## 1.0.0\n\n## 1.0.0\n", "twice")
	checks("## 1.0.0 (2026-12-01)\n", "neither a version")
	write("CHANGELOG.md", "## 1.0.0\n")
	must("add", ".")
	must("commit", "--quiet", "-m", "first")
	must("tag", "v1.0.0")
	checks("## 1.0.0\n", "")
	must("tag", "v1.1.0-rc.1")
	checks("## 1.0.0\n", "the tag v1.1.0-rc.1 has no section")
	checks("## 1.1.0\n\n## 1.0.0\n", "")
	must("tag", "--delete", "v1.1.0-rc.1")
	write("edge/main.go", "package edge")
	must("commit", "--quiet", "-am", "second")
	checks("## 1.0.0\n", "have changed since v1.0.0")
	checks("## Unreleased\n\n## 1.0.0\n", "")
}

// The units and the commands of a package start programs that the package has.
func TestRelease_packages_have_what_they_start(t *testing.T) {
	t.Parallel()
	var release struct {
		Builds []struct{ ID, Binary string }
		Nfpms  []struct {
			ID, Bindir string
			Contents   []struct{ Src, Dst string }
		}
	}
	testkit.Must(t, yaml.Unmarshal([]byte(read(t, "deploy/packages/goreleaser.yaml")), &release))
	programs := regexp.MustCompile(`/usr/lib/shortline/[a-z-]+`)
	started := 0
	for _, p := range release.Nfpms {
		if p.Bindir == "" {
			continue // it has the folder of all programs
		}
		var has []string
		for _, b := range release.Builds {
			if b.ID == p.ID {
				has = append(has, p.Bindir+"/"+b.Binary)
			}
		}
		for _, c := range p.Contents {
			has = append(has, c.Dst)
		}
		for _, c := range p.Contents {
			if !strings.HasPrefix(c.Src, "deploy/packages/") {
				continue
			}
			for _, program := range programs.FindAllString(read(t, c.Src), -1) {
				started++
				if !slices.Contains(has, program) {
					t.Errorf("%s starts %s, but the package %s has only %v", c.Src, program, p.ID, has)
				}
			}
		}
	}
	if started < 10 {
		t.Errorf("found only %d programs that are started, so the search is broken", started)
	}
}
