package harness_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestIdentity starts an edge on a copy of another's data folder, as a restored machine would. The clicks of the one
// would pass for repeats of the other's once both have restarted: one of the two is told to keep its clicks, and says so,
// while it answers visitors; once the other is gone its clicks are stored too, all of them.
func TestIdentity_of_a_copied_folder_is_refused(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for an edge to be taken for gone")
	}
	c := startChain(t, fleet.Config{Edges: 2, Controls: 1}, 5)
	one, two := c.Edges[0], c.Edges[1]
	if err := two.Stop(15 * time.Second); err != nil {
		t.Fatal(err)
	}
	// While the first lives: that is how copies are made by mistake.
	if err := os.RemoveAll(two.Dir); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", "--sparse=always", one.Dir, two.Dir).CombinedOutput(); err != nil {
		t.Fatalf("copy a data folder: %v: %s", err, out)
	}
	two.Start()
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: []string{one.Addr}, Slugs: c.slugs, Clients: 4, Rate: 500}, func() {
		testkit.Within(t, 40*time.Second, "one of the two is told to hold its clicks", func() bool {
			return held(one) || held(two)
		})
	})
	t.Logf("held: first %v, second %v; load: %v", held(one), held(two), r)
	// Which of the two is the copy can't be told: a folder that was moved looks the same.
	if held(one) == held(two) {
		t.Error("not exactly one of the two is held")
	}
	if err := two.Stop(15 * time.Second); err != nil {
		t.Fatal(err)
	}
	c.Edges = c.Edges[:1]
	stored(t, c.Fleet, crowd, r.Acked)
}

// held reports whether an edge has said that it keeps its clicks.
func held(n *fleet.Node) bool {
	return strings.Contains(n.Log(), "click shipping held")
}
