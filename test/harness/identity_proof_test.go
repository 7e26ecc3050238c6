//go:build proof

package harness_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestIdentity starts an edge on a copy of another edge's data folder, as after restoring a machine. Once both have
// restarted, the clicks of one would be taken for duplicates of the other's. So the control plane orders one of them to
// hold its clicks. That edge reports it and keeps serving visitors. After the other edge has ended, all held clicks
// must be stored.
func TestIdentity_of_a_copied_folder_is_refused(t *testing.T) {
	t.Parallel()
	c := startChain(t, fleet.Config{Edges: 2, Controls: 1}, 5)
	one, two := c.Edges[0], c.Edges[1]
	testkit.Must(t, two.Stop())
	// While the first edge runs, as in an accidental copy.
	testkit.Must(t, os.RemoveAll(two.Dir))
	if out, err := exec.Command("cp", "-a", "--sparse=always", one.Dir, two.Dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the data folder: %v: %s", err, out)
	}
	two.Start()
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: []string{one.Addr}, Slugs: c.slugs, Clients: 4, Rate: 500}, func() {
		testkit.Eventually(t, "one of the two edges holds its clicks", func() bool {
			return held(one) || held(two)
		})
	})
	t.Logf("held: first %v, second %v; load: %v", held(one), held(two), r)
	// The control plane cannot know which of the two is the copy: a moved folder looks the same.
	if held(one) == held(two) {
		t.Error("want exactly one of the two edges to hold its clicks")
	}
	testkit.Must(t, two.Stop())
	c.Edges = c.Edges[:1]
	stored(t, c.Fleet, crowd, r.Acked)
}

// held reports whether an edge has reported that it holds its clicks.
func held(n *fleet.Node) bool {
	return strings.Contains(n.Log(), "click shipping held")
}
