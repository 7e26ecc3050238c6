package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The first run removes what a killed one has left, and the last one that ends removes the folder.
func TestScratch_is_shared_and_removed(t *testing.T) {
	t.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	dir := filepath.Join(t.TempDir(), "scratch")
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	leave, err := enter(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC() // must not close the lock
	other, err := enter(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []func() error{other, leave} {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
