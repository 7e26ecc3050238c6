//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The README shows the figures of the newest published run. `go run ./bench -tables FILE.json` prints them.
func TestReadme_has_the_newest_figures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(testkit.Source(t, "docs/benchmarks") + "/20??-??-??.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no results", err)
	}
	newest := slices.Max(files)
	b, err := os.ReadFile(newest)
	testkit.Must(t, err)
	var r result
	testkit.Must(t, json.Unmarshal(b, &r))
	readme, err := os.ReadFile(testkit.Source(t, "README.md"))
	testkit.Must(t, err)
	tables := readmeTables(&r)
	if n := strings.Count(tables, "\n"); n < 10 {
		t.Errorf("%s has only %d lines for the README", newest, n)
	}
	if !strings.Contains(string(readme), tables) {
		t.Errorf("the README does not have the tables of %s:\n%s", newest, tables)
	}
}
