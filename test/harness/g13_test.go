package harness_test

import (
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG13 kills the control plane and its database during changes. Acknowledged changes must be there, a change of many
// links must have affected all or none of them, and edges must agree with the database.
func TestG13_kill_9_of_control_and_database_while_links_change(t *testing.T) {
	t.Parallel()
	kills := count(t, testkit.Size(3, 200))
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2}, 0)
	s := newStorm(c)
	s.begin()
	for i := range kills {
		s.changed(20)
		failed := s.failed.Load()
		p := []*fleet.Process{c.Controls[0].Process, c.Postgres, c.Controls[1].Process}[i%3]
		p.Kill()
		testkit.Eventually(t, "a change fails", func() bool { return s.failed.Load() > failed })
		p.Start()
	}
	for _, n := range c.Controls {
		n.Ready()
	}
	s.changed(20)
	s.end()
	t.Logf("%d kills", kills)
	s.verdict()
}
