package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// sleeper is a server that writes its process ID to a file and waits. What it leaves is removed after the test.
func sleeper(t *testing.T, kind string) Server {
	name := os.Getenv("TESTSERVER_CHILD")
	if name == "" {
		name = fmt.Sprintf("%s-%d", kind, os.Getpid())
		t.Cleanup(func() {
			for _, suffix := range []string{"", lockSuffix, aliveSuffix} {
				_ = os.RemoveAll(filepath.Join(root(), name+suffix)) // leftovers are harmless
			}
		})
	}
	return Server{
		Name: name,
		Prepare: func(string) (Command, error) {
			return Command{Path: "/bin/sh", Args: []string{"-c", "echo $$ >pid.new; mv pid.new pid; exec sleep 1000"}}, nil
		},
		Ready: func(dir string) error { _, err := os.Stat(filepath.Join(dir, "pid")); return err },
	}
}

func pid(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	testkit.Must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	testkit.Must(t, err)
	return n
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestServer_is_shared_by_processes(t *testing.T) {
	t.Parallel()
	s := sleeper(t, "sleeper")
	if os.Getenv("TESTSERVER_CHILD") != "" {
		dir, err := s.Use()
		fmt.Println("pid", pid(t, dir), err)
		return
	}
	// Both processes start it at the same time.
	child := exec.Command(os.Args[0], "-test.run=^TestServer_is_shared_by_processes$")
	child.Env = append(os.Environ(), "TESTSERVER_CHILD="+s.Name)
	out := &testkit.Buffer{}
	child.Stdout, child.Stderr = out, out
	testkit.Must(t, child.Start())
	dir, err := s.Use()
	testkit.Must(t, err)
	if err := child.Wait(); err != nil {
		t.Fatal(err, out)
	}
	server := pid(t, dir)
	if want := fmt.Sprintf("pid %d <nil>\n", server); !strings.Contains(out.String(), want) {
		t.Errorf("the other process has another server: %s, want %s", out, want)
	}
	if !alive(server) {
		t.Error("the server ended with the other process")
	}
	testkit.Must(t, stop(dir))
	if alive(server) {
		t.Error("the server still runs")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// A server whose keeper was killed dies with it. The next process starts a new one.
func TestServer_is_started_again_after_a_crash(t *testing.T) {
	t.Parallel()
	s := sleeper(t, "crashed")
	dir, err := s.Use()
	testkit.Must(t, err)
	first := pid(t, dir)
	testkit.Must(t, syscall.Kill(first, syscall.SIGKILL))
	testkit.Eventually(t, "the keeper has ended", func() bool { return !running(dir) })
	if dir, err = s.Use(); err != nil {
		t.Fatal(err)
	}
	if second := pid(t, dir); second == first || !alive(second) {
		t.Errorf("process %d, before %d", second, first)
	}
	testkit.Must(t, stop(dir))
}

func TestServer_failed_start_shows_the_log(t *testing.T) {
	t.Parallel()
	s := sleeper(t, "broken")
	s.Prepare = func(string) (Command, error) {
		return Command{Path: "/bin/sh", Args: []string{"-c", "echo the disk is full; exit 1"}}, nil
	}
	dir, err := s.Use()
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("%q, %v", dir, err)
	}
}
