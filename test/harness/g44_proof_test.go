//go:build proof

package harness_test

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG44 moves a workspace between two ClickHouse engines N times, there and back, while visitors come and reports are asked
// for. In every second move the program is killed, in the others a control plane or one of the engines. Reports never lose a
// click that they had, and every answered visit is stored once, in one shard.
func TestG44_a_workspace_moves(t *testing.T) {
	t.Parallel()
	moves := (count(t, 10) + 1) / 2 * 2 // the last one leads back
	c := startChain(t, fleet.Config{Edges: 2, Controls: 1, Ingesters: 1, Shards: []string{"b"}, EdgeEnv: []string{"SHIP_DELAY=100ms"}}, 5)
	b := c.Shards[0]
	c.open("b")
	list, err := c.api.Workspaces.List(t.Context(), client.SearchParams{})
	testkit.Must(t, err)
	if len(list.Data) != 1 {
		t.Fatalf("workspaces: %v", list)
	}
	workspace := list.Data[0].Slug
	crowd := newCrowd(t)
	var asked, refused, killed int
	var took []time.Duration
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: float64(rate(t, 300))}, func() {
		asked, refused = c.neverLess(func() {
			for i := range moves {
				target := []string{"b", "main"}[i%2]
				began := time.Now()
				if i%2 == 0 {
					killed += c.interrupted(target, workspace)
				} else {
					fault := []func(){c.killAndRestart(b.Process, 300*time.Millisecond),
						c.killAndRestart(c.Ingesters[0].Process, 300*time.Millisecond)}[i/
						2%2]
					time.AfterFunc(rand.N(4*time.Second), fault)
					testkit.Eventually(t, "a move to "+target, func() bool {
						out, err := c.Command("move-workspace", target, workspace).CombinedOutput()
						if err != nil {
							t.Logf("move-workspace: %v: %s", err, testkit.LastLines(string(out), 1))
						}
						return err == nil
					})
				}
				took = append(took, time.Since(began).Round(time.Millisecond))
				other := b.Store
				if target == "b" {
					other = c.Store
				}
				if n, err := other.Clicks(t.Context()); err != nil || n != 0 {
					t.Errorf("after a move to %s, the other shard has %d clicks, %v", target, n, err)
				}
			}
		})
	})
	t.Logf("%d moves, %d programs killed; moves took %v; %d reports, of which %d got 503; load: %v", moves, killed, took, asked, refused, r)
	if killed == 0 {
		t.Error("no program was killed")
	}
	c.verdict(crowd, r)
	if n, err := b.Store.Clicks(t.Context()); err != nil || n != 0 {
		t.Errorf("b has %d clicks at the end, %v", n, err)
	}
}

// interrupted moves a workspace. It kills the program after at most two and a half seconds, and lets the next one
// continue when it may. It returns how often it has killed.
func (c *chain) interrupted(target, workspace string) (kills int) {
	c.t.Helper()
	first := c.Command("move-workspace", target, workspace)
	testkit.Must(c.t, first.Start())
	// A move waits at least a second in each of three phases, so it has not ended by then.
	// an error: it has ended
	timer := time.AfterFunc(300*time.Millisecond+rand.N(2200*time.Millisecond), func() { _ = first.Process.Kill() })
	err := first.Wait()
	timer.Stop()
	if exit, ok := err.(*exec.ExitError); ok && !exit.Exited() {
		kills++
	}
	if err == nil {
		return 0
	}
	testkit.Eventually(c.t, "a move to "+target, func() bool {
		out, err := c.Command("move-workspace", target, workspace).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "another program runs this move") {
			c.t.Logf("move-workspace: %v: %s", err, testkit.LastLines(string(out), 1))
		}
		if err != nil {
			fleet.Hold(time.Second)
		}
		return err == nil
	})
	return kills
}

// neverLess asks for the report of each link in turn while f runs. A report may fail with 503, but it never has fewer clicks than an
// earlier one. neverLess returns how many reports were asked for, and how many of them failed.
func (c *chain) neverLess(f func()) (asked, refused int) {
	stop, asking := make(chan struct{}), new(sync.WaitGroup)
	asking.Go(func() {
		most := make([]int, len(c.links))
		for i := 0; ; i = (i + 1) % len(c.links) {
			if !fleet.HoldUnless(stop, 50*time.Millisecond) {
				return
			}
			clicks, err := c.api.Report(c.links[i].ID)
			asked++
			var answered *client.APIError
			switch {
			case err != nil && (!errors.As(err, &answered) || answered.Status == 503): // the control plane did not answer, or was busy
				refused++
			case err != nil:
				c.t.Errorf("a report: %v", err)
			case clicks < most[i]:
				c.t.Errorf("%s a report has %d clicks of %s, and had %d before", time.Now().Format("15:04:05.000"), clicks,
					c.slugs[i], most[i])
			default:
				most[i] = clicks
			}
		}
	})
	func() {
		defer asking.Wait() // also if f ends the test
		defer close(stop)
		f()
	}()
	return asked, refused
}
