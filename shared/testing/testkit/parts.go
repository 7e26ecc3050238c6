package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Part returns the path of a program of another project that test/observe/parts builds, such as k6 or promtool.
func Part(t testing.TB, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	Must(t, err)
	path := filepath.Join(cache, "shortline", "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s not found (%v); test/observe/parts builds it", name, err)
	}
	return path
}
