package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The first run removes what a killed one has left, and the last one that ends removes the folder.
func TestScratch_is_shared_and_removed(t *testing.T) {
	t.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	dir := filepath.Join(t.TempDir(), "scratch")
	write := func(name string) {
		t.Helper()
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	testkit.Must(t, os.Mkdir(dir, 0o755))
	write("abandoned")
	leave := make([]func() error, 2)
	for i := range leave {
		var err error
		if leave[i], err = enter(dir, false); err != nil {
			t.Fatal(err)
		}
		if has("abandoned") {
			t.Fatal("the files of a killed run are still there")
		}
		if i == 0 {
			write("first")
		}
	}
	if !has("first") {
		t.Error("the second run removed the files of the first")
	}
	if got := os.TempDir(); got != dir {
		t.Errorf("temporary files are in %s", got)
	}
	if err := leave[0](); err != nil || !has("first") {
		t.Errorf("the first run removed the files of the second, or failed: %v", err)
	}
	if err := leave[1](); err != nil || has("") {
		t.Errorf("the folder stays after the last run: %v", err)
	}
}

// A run that keeps the folder leaves what it finds, and what it writes. While it runs, no other run empties the folder.
func TestScratch_is_kept(t *testing.T) {
	t.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	dir := filepath.Join(t.TempDir(), "scratch")
	file := filepath.Join(dir, "kept")
	testkit.Must(t, os.Mkdir(dir, 0o755))
	testkit.Must(t, os.WriteFile(file, nil, 0o600))
	leave, err := enter(dir, true)
	testkit.Must(t, err)
	runtime.GC() // must not close the lock
	other, err := enter(dir, false)
	testkit.Must(t, err)
	for _, end := range []func() error{other, leave} {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, end())
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// A process that a test has not ended is killed and named.
func TestScratch_names_what_is_left(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	testkit.Must(t, cmd.Start())
	for pid := range processesOf(dir) {
		testkit.Equal(t, pid, cmd.Process.Pid, "the process")
	}
	if killed := killLeft(dir, 0); len(killed) != 1 || !strings.HasSuffix(killed[0], " sleep 1000") {
		t.Errorf("killed %q", killed)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not killed")
	}
	testkit.Equal(t, len(killLeft(dir, 0)), 0, "processes")
}
