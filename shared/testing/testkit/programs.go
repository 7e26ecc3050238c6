package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Go test that runs a program finds it in one of two ways.
//
// make test builds all programs before the tests and names them in environment variables, for example
// SHORTLINE_PROGRAM_EDGE. The file's name contains a checksum of its content. Go's test cache records the variables that a
// test reads. A test therefore runs again if, and only if, a program that it uses has changed.
//
// Without the variable, the program is built here, in the user's cache folder, where later processes find it. Go's test
// cache then does not notice changes of the program: use -count=1.

// Release builds edge, control or standalone with the flags of make build, and returns the program's path. A program stays
// at its path for at least a day, so a process can be started again after a newer build. Release is safe for concurrent use.
func Release(name string) (program string, err error) {
	return built(name, name, func(root, out string) error { return release(root, name, out, nil) })
}

// ReleaseWithClock is like Release. ClockOffset can shift the clock of the program.
func ReleaseWithClock(name string) (program string, err error) {
	return built(name+"-clock", name, func(root, out string) error {
		dir, err := os.MkdirTemp("", "shortline-clock-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		overlay, err := ClockOverlay(dir, filepath.Join(root, "shared"))
		if err != nil {
			return err
		}
		return release(root, name, out, []string{"PROGRAM_OVERLAY=" + overlay})
	})
}

// Program builds a helper program of the tests and returns its path. source is the folder of its main package, relative to
// the root of the project, such as "test/chd". The program is built without the workspace, so that every module can use it.
// Program is safe for concurrent use.
func Program(source string) (program string, err error) {
	return built(source, path.Base(source), func(root, out string) error { return helper(root, source, ".", out) })
}

// Tool builds a program of another project, as Program does. tool is the import path of its main package. module is the
// folder whose go.mod names the program's version, relative to the root of the project.
func Tool(module, tool string) (program string, err error) {
	return built(path.Base(tool), path.Base(tool), func(root, out string) error { return helper(root, module, tool, out) })
}

// ProgramVariable returns the name of the environment variable that has the path of a program. name is the argument of
// Release or Program, or the last part of the import path of a Tool. A program with a shifted clock has the suffix -clock.
func ProgramVariable(name string) string {
	return "SHORTLINE_PROGRAM_" + strings.ToUpper(strings.NewReplacer("/", "_", "-", "_").Replace(name))
}

func release(root, name, out string, env []string) error {
	web := exec.Command(filepath.Join(root, "deploy/dev/web"))
	build := exec.Command(filepath.Join(root, "deploy/dev/program"), name, out)
	build.Env = append(append(os.Environ(), "VERSION=test"), env...)
	for _, cmd := range []*exec.Cmd{web, build} {
		if cmd == web && (name == "edge" || name == "shortline") {
			continue // they have no console
		}
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
	}
	return nil
}

// BuildTags are the build tags of deploy/dev/program, which the Makefile has too. With other tags, the programs and the tests would share
// few compiled packages.
const BuildTags = "netgo,osusergo"

func helper(root, source, pkg, out string) error {
	folder := filepath.Join(root, filepath.FromSlash(source))
	if files, _ := filepath.Glob(filepath.Join(folder, "*.go")); len(files) == 0 {
		return fmt.Errorf("%s has no Go files", source)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-tags="+BuildTags, "-o", out, pkg)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

var programs struct {
	mu   sync.Mutex
	path map[string]string // by name
}

// built returns the path of a program, and builds it unless this process has done so, or the environment names it. build
// writes the program to the file out.
func built(name, file string, build func(root, out string) error) (string, error) {
	programs.mu.Lock()
	defer programs.mu.Unlock()
	if known := programs.path[name]; known != "" {
		return known, nil
	}
	program := os.Getenv(ProgramVariable(name))
	if program == "" {
		var err error
		if program, err = buildInCache(name, file, build); err != nil {
			return "", fmt.Errorf("build %s: %w", name, err)
		}
	}
	if programs.path == nil {
		programs.path = map[string]string{}
	}
	programs.path[name] = program
	return program, nil
}

func buildInCache(name, file string, build func(root, out string) error) (string, error) {
	root, err := sourceRoot()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "shortline", "programs", filepath.FromSlash(name))
	// go build does not link a program again if the newest one is still up to date.
	newest := filepath.Join(dir, "newest", file)
	if err := os.MkdirAll(filepath.Dir(newest), 0o755); err != nil {
		return "", err
	}
	unlock, err := LockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := build(root, newest); err != nil {
		return "", err
	}
	sum, err := checksum(newest)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, sum, file)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return "", err
	}
	if err := os.Link(newest, program); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Dir(program), now, now); err != nil {
		return "", err
	}
	removeUnused(dir, now.Add(-24*time.Hour))
	return program, nil
}

// removeUnused removes the programs that were last asked for before a time.
func removeUnused(dir string, before time.Time) {
	all, _ := os.ReadDir(dir) // a program that stays needs space only
	for _, e := range all {
		info, err := e.Info()
		if err == nil && e.IsDir() && e.Name() != "newest" && info.ModTime().Before(before) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

func checksum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// LockFile waits until no other process holds the lock of a file, and takes it. It creates a missing file. The system releases
// the lock when the process ends, however it ends.
func LockFile(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// sourceRoot returns the folder that has go.work, above the folder of the test.
func sourceRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no folder above this test has go.work")
		}
		dir = filepath.Dir(dir)
	}
}
