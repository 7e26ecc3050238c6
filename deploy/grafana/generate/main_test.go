package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shortline/shortline/shared/testkit"
)

func TestDashboards_are_generated(t *testing.T) {
	t.Parallel()
	folder := testkit.Source(t, "deploy/grafana/dashboards")
	var want []string
	for _, d := range allDashboards() {
		want = append(want, d.file)
		b, err := d.json()
		testkit.Must(t, err)
		got, err := os.ReadFile(filepath.Join(folder, d.file))
		testkit.Must(t, err)
		if !bytes.Equal(got, b) {
			t.Errorf("%s differs from its definition; run `go run .` in deploy/grafana/generate", d.file)
		}
	}
	files, err := os.ReadDir(folder)
	testkit.Must(t, err)
	for _, f := range files {
		if !slices.Contains(want, f.Name()) {
			t.Errorf("no dashboard is defined for %s", f.Name())
		}
	}
}
