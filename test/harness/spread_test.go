package harness_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// spread adds the shards for which SHARDS in the environment asks.
func spread(t *testing.T, cfg fleet.Config) fleet.Config {
	t.Helper()
	for i := range number(t, "SHARDS", 1) - 1 {
		cfg.Shards = append(cfg.Shards, string(rune('b'+i)))
	}
	return cfg
}

// startSpread is startChain. With several shards, links are in several workspaces, one in each shard.
func startSpread(t *testing.T, cfg fleet.Config, links int) *chain {
	t.Helper()
	if len(cfg.Shards) == 0 {
		return startChain(t, cfg, links)
	}
	c := startChain(t, cfg, 0)
	// A workspace is assigned to a shard when it first needs one.
	if _, err := c.api.Report(c.newLink(c.api).ID); err != nil {
		t.Fatal(err)
	}
	workspaces := []*fleet.API{c.api}
	for _, name := range cfg.Shards {
		c.open(name)
		w, _ := c.workspace()
		workspaces = append(workspaces, w)
	}
	for i := 1; i < links; i++ {
		c.newLink(workspaces[i%len(workspaces)])
	}
	c.served()
	return c
}

// open lets new workspaces be assigned to a shard.
func (c *chain) open(shard string) {
	c.t.Helper()
	testkit.Eventually(c.t, "the shard "+shard+" is open", func() bool {
		out, err := c.Command("open-shard", shard).CombinedOutput()
		return err == nil && strings.Contains(string(out), "can be assigned to "+shard)
	})
}

// workspace makes a workspace, which the shard with the fewest gets. It returns an API for it, and its slug.
func (c *chain) workspace() (*fleet.API, string) {
	c.t.Helper()
	w, err := c.api.Workspaces.Create(c.t.Context(), client.CreateWorkspace{Name: "Team"})
	testkit.Must(c.t, err)
	api := c.api.In(w.ID)
	_, err = api.Reports.Overview(c.t.Context(), client.FullReportParams{})
	testkit.Must(c.t, err)
	return api, w.Slug
}

// anyEngine returns one of the ClickHouse servers.
func (c *chain) anyEngine() *fleet.Engine { return c.Engines[rand.IntN(len(c.Engines))] }

// writers are the processes that write clicks to the servers.
func (c *chain) writers() []*fleet.Node { return slices.Concat(c.Controls, c.Ingesters) }
