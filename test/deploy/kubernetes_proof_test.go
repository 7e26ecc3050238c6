//go:build proof

package deploy_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Every release of Kubernetes for which the page says so knows all objects of all examples, with each of their fields.
func TestChart_releases_of_Kubernetes_know_all_fields(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, name := range examples {
		files, err := attempt(t, values(t, name))
		testkit.Must(t, err)
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(file, ".yaml") {
				all.WriteString("---\n" + files[file] + "\n")
			}
		}
	}
	dir := source(t, "test/deploy/kubernetes")
	releases, err := filepath.Glob(filepath.Join(dir, "1.*.mod"))
	testkit.Must(t, err)
	page := read(t, "docs/operators/kubernetes.md")
	if len(releases) != 7 {
		t.Fatalf("%d releases: %v", len(releases), releases)
	}
	for _, path := range releases {
		release := strings.TrimSuffix(filepath.Base(path), ".mod")
		if !strings.Contains(page, release) {
			t.Errorf("docs/operators/kubernetes.md does not name Kubernetes %s", release)
		}
		run := func(text string) (string, error) {
			cmd := exec.CommandContext(t.Context(), "go", "run", "-modfile="+filepath.Base(path), ".")
			cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly"), strings.NewReader(text)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		if out, err := run(all.String()); err != nil {
			t.Errorf("Kubernetes %s: %v\n%s", release, err, out)
		}
		if out, err := run("apiVersion: v1\nkind: Service\nspec: {port: 1}\n"); err == nil || !strings.Contains(out, "unknown field") {
			t.Errorf("Kubernetes %s: an unknown field was accepted: %v %s", release, err, out)
		}
	}
}
