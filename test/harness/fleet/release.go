package fleet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Release builds the programs of a fleet at a commit of this repository and returns their paths. The folder is removed
// after the test.
func Release(t testing.TB, commit string) map[Program]string {
	t.Helper()
	dir := t.TempDir()
	root, err := sourceRoot()
	if err != nil {
		t.Fatal(err)
	}
	archive := exec.Command("git", "archive", "--format=tar", commit)
	archive.Dir = root
	unpack := exec.Command("tar", "-x", "-C", dir)
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	archive.Stderr, unpack.Stderr = &said, &said
	if err := archive.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unpack.Run(); err != nil {
		t.Fatalf("unpack %s: %v: %s", commit, err, &said)
	}
	if err := archive.Wait(); err != nil {
		t.Fatalf("unpack %s: %v: %s", commit, err, &said)
	}
	paths := map[Program]string{}
	for _, program := range []Program{Control, Edge} {
		p := programs[string(program)]
		paths[program] = filepath.Join(dir, "bin", string(program))
		cmd := exec.Command("go", "build", "-o", paths[program], p.pkg)
		cmd.Dir = filepath.Join(dir, p.dir)
		cmd.Env = append(append(os.Environ(), "GOFLAGS=-buildvcs=false"), p.env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s of %s: %v: %s", program, commit, err, out)
		}
	}
	return paths
}

// Present returns the paths of the programs built from the working tree.
func Present(t testing.TB) map[Program]string {
	t.Helper()
	return map[Program]string{Control: binary(t, string(Control)), Edge: binary(t, string(Edge))}
}

// Become stops the program gracefully and starts another one with the same folder and ports.
func (n *Node) Become(path string) error {
	if err := n.Stop(stopsWithin); err != nil {
		return fmt.Errorf("stop %s: %w\n%s", n.Name, err, tail(n.logPath, 2<<10))
	}
	n.Use(path)
	n.Start()
	return nil
}

// Use selects the program for the next start.
func (p *Process) Use(path string) { p.path = path }

// Usable reports whether the process is ready at this moment.
func (p *Process) Usable() bool { return p.Alive() && p.ready() == nil }

// Commit returns the full hash of a commit of this repository.
func Commit(name string) (string, error) {
	root, err := sourceRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("git", "rev-parse", "--verify", "--quiet", name+"^{commit}")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("no commit %s in this repository", name)
	}
	return strings.TrimSpace(string(out)), nil
}
