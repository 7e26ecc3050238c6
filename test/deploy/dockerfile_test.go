package deploy_test

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"

	"github.com/shortline/shortline/shared/testing/testkit"
)

var images = []struct {
	name   string
	empty  bool // the final stage starts with nothing
	stages int  // two, and one for the console
}{{"edge", true, 2}, {"control", true, 3}, {"standalone", false, 3}}

func TestDockerfiles_are_alike_and_confined(t *testing.T) {
	t.Parallel()
	for _, image := range images {
		stages, warnings, err := readDockerfile(t, image.name)
		if err != nil {
			t.Errorf("%s: %v", image.name, err)
			continue
		}
		for _, w := range warnings {
			t.Errorf("%s: %s", image.name, w)
		}
		if len(stages) != image.stages {
			t.Errorf("%s: %d build stages", image.name, len(stages))
			continue
		}
		final := stages[len(stages)-1]
		if image.empty != (final.BaseName == "scratch") {
			t.Errorf("%s: unexpected base image %s", image.name, final.BaseName)
		}
		labels, env := map[string]string{}, map[string]string{}
		var user, health, entry string
		var volumes []string
		for _, command := range final.Commands {
			switch c := command.(type) {
			case *instructions.LabelCommand:
				for _, kv := range c.Labels {
					labels[kv.Key] = kv.Value
				}
			case *instructions.EnvCommand:
				for _, kv := range c.Env {
					env[kv.Key] = kv.Value
				}
			case *instructions.UserCommand:
				user = c.User
			case *instructions.VolumeCommand:
				volumes = c.Volumes
			case *instructions.EntrypointCommand:
				entry = strings.Join(c.CmdLine, " ")
			case *instructions.HealthCheckCommand:
				health = strings.Join(c.Health.Test, " ")
			case *instructions.RunCommand:
				t.Errorf("%s: the final stage runs %q", image.name, c.CmdLine)
			case *instructions.CopyCommand:
				if c.From != "build" {
					t.Errorf("%s: the final stage copies %q from outside the build stage", image.name, c.SourcePaths)
				}
			}
		}
		if user != "65532:65532" || !slices.Equal(volumes, []string{"/data"}) || entry != image.name || health != "CMD "+image.name+
			" -healthy" {
			t.Errorf("%s: user %q, volumes %q, entrypoint %q, health %q", image.name, user, volumes, entry, health)
		}
		for _, label := range []string{"title", "description", "version", "revision", "licenses"} {
			if _, ok := labels["org.opencontainers.image."+label]; !ok {
				t.Errorf("%s: no label %s", image.name, label)
			}
		}
		known := append(settings(t, image.name), "PATH")
		for name := range env {
			if !slices.Contains(known, name) {
				t.Errorf("%s: sets %s, which the program does not read", image.name, name)
			}
		}
	}
}

var pinned = regexp.MustCompile(`^[a-z0-9./-]+:([a-z0-9.-]*[0-9]+\.[0-9][a-z0-9.-]*|nonroot)$|@sha256:[0-9a-f]{64}$`)

func TestDockerfiles_base_images_are_pinned(t *testing.T) {
	t.Parallel()
	argument := regexp.MustCompile(`(?m)^ARG [A-Z_]+_IMAGE=(.+)$`)
	for _, image := range images {
		found := argument.FindAllStringSubmatch(read(t, "deploy/"+image.name+".Dockerfile"), -1)
		if len(found) == 0 {
			t.Errorf("%s: no ARG names the base image", image.name)
		}
		for _, m := range found {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s is not pinned", image.name, m[1])
			}
		}
	}
}

// The images are built with deploy/dev/program, as all programs are, and with nothing else.
func TestDockerfiles_build_as_make_does(t *testing.T) {
	t.Parallel()
	for _, image := range images {
		text := read(t, "deploy/"+image.name+".Dockerfile")
		if !strings.Contains(text, " deploy/dev/program "+image.name+" /out/"+image.name+" ") || strings.Contains(text, "go build") {
			t.Errorf("%s.Dockerfile does not build %[1]s with deploy/dev/program", image.name)
		}
	}
	for _, path := range []string{"deploy/dev/program", ".ci/tools/licences"} {
		if !strings.Contains(read(t, ".dockerignore"), "\n!"+path+"\n") {
			t.Errorf(".dockerignore excludes %s", path)
		}
	}
}

// The programs must run in their images, and have no paths of the build machine.
func TestPrograms_fit_their_images(t *testing.T) {
	t.Parallel()
	for _, image := range images {
		fits(t, program(t, image.name))
	}
}

// fits checks that a program needs no shared libraries; standalone needs those of glibc on arm64.
func fits(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	testkit.Must(t, err)
	defer f.Close()
	dynamic := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	libraries, err := f.ImportedLibraries()
	if f.Machine == elf.EM_AARCH64 && filepath.Base(path) == "standalone" {
		dynamic, libraries = false, slices.DeleteFunc(libraries, func(l string) bool { return l == "libc.so.6" || l == "libm.so.6" })
	}
	if dynamic || err != nil || len(libraries) > 0 {
		t.Errorf("%s: interpreter: %v, libraries: %q, %v", path, dynamic, libraries, err)
	}
	info, err := buildinfo.ReadFile(path)
	testkit.Must(t, err)
	for _, s := range info.Settings {
		if s.Key == "-trimpath" && s.Value != "true" || strings.HasPrefix(s.Key, "vcs") {
			t.Errorf("%s: unexpected build setting %s=%s", path, s.Key, s.Value)
		}
	}
}

// DuckDB's libraries contain the generators of two benchmarks, whose licence forbids redistribution. The linker leaves
// them out because nothing references them. A string that only they contain would reveal them.
func TestLicences_no_benchmark_of_TPC_is_linked_in(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(program(t, "standalone"))
	testkit.Must(t, err)
	for _, word := range []string{"theodolites", "store_returns"} { // of TPC-H, of TPC-DS
		if strings.Contains(string(b), word) {
			t.Errorf("standalone contains %q", word)
		}
	}
}
