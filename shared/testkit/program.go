package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
)

var programs struct {
	mu    sync.Mutex
	built map[string]string // path of the program by folder and package of its source
}

// Program builds a helper program of the tests and returns its path. source is the folder of its main package, relative to
// the root of the project, such as "test/chd". The program is built without the workspace, so that every module can use it,
// and once per process; later processes find it in the build cache. Program is safe for concurrent use.
func Program(source string) (program string, err error) { return build(source, ".") }

// Tool builds a program of another project, as Program does. tool is the import path of its main package. module is the
// folder whose go.mod names the program's version, relative to the root of the project.
func Tool(module, tool string) (program string, err error) { return build(module, tool) }

// build builds a package and names the program after the last part of its path, or after the folder if pkg is ".".
func build(source, pkg string) (program string, err error) {
	programs.mu.Lock()
	defer programs.mu.Unlock()
	key := source + " " + pkg
	if built := programs.built[key]; built != "" {
		return built, nil
	}
	folder, err := above(filepath.FromSlash(source))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "shortline", "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := filepath.Base(folder)
	if pkg != "." {
		name = path.Base(pkg)
	}
	program = filepath.Join(dir, name)
	fresh, err := os.CreateTemp(dir, name+"-*") // other processes may be running theirs
	if err != nil {
		return "", err
	}
	_ = fresh.Close() // it is empty
	defer os.Remove(fresh.Name())
	cmd := exec.Command("go", "build", "-o", fresh.Name(), pkg)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s in %s: %w: %s", pkg, source, err, out)
	}
	if err := os.Rename(fresh.Name(), program); err != nil {
		return "", err
	}
	if programs.built == nil {
		programs.built = map[string]string{}
	}
	programs.built[key] = program
	return program, nil
}

// above finds a folder with Go files in the folders above the test.
func above(source string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		folder := filepath.Join(dir, source)
		if files, _ := filepath.Glob(filepath.Join(folder, "*.go")); len(files) > 0 {
			return folder, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no folder above this test has %s", source)
		}
		dir = filepath.Dir(dir)
	}
}
