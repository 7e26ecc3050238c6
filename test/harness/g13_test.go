package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG13 kills the control plane and its database during changes. Acknowledged changes must be there, a change of many
// links must have affected all or none of them, and edges must agree with the database.
func TestG13_kill_9_of_control_and_database_while_links_change(t *testing.T) {
	kills := count(t, 6)
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2}, 0)
	s := newStorm(c)
	s.begin()
	for i := range kills {
		pause(600 * time.Millisecond)
		p := []*fleet.Process{c.Controls[0].Process, c.Postgres, c.Controls[1].Process}[i%3]
		p.Kill()
		pause(100 * time.Millisecond)
		p.Start()
	}
	for _, n := range c.Controls {
		if err := n.Ready(); err != nil {
			t.Fatal(err)
		}
	}
	pause(500 * time.Millisecond)
	s.end()
	t.Logf("%d kills", kills)
	s.verdict()
}
