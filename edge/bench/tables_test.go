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

// The README and the page about performance show the figures of the newest published run. `go run ./bench -tables FILE.json`
// prints them.
func TestPages_have_the_newest_figures(t *testing.T) {
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
	for _, page := range []struct {
		path   string
		tables []string
		lines  int
	}{
		{"README.md", []string{readmeRows(&r)}, 2},
		{"docs/developers/performance.md", pageTables(&r), 8},
	} {
		text, err := os.ReadFile(testkit.Source(t, page.path))
		testkit.Must(t, err)
		for _, table := range page.tables {
			if n := strings.Count(table, "\n"); n < page.lines {
				t.Errorf("%s has only %d lines for %s", newest, n, page.path)
			}
			if !strings.Contains(string(text), table) {
				t.Errorf("%s does not have this table of %s:\n%s", page.path, newest, table)
			}
		}
	}
}
