package harness_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// spread adds the shards and the servers of each shard for which SHARDS and COPIES in the environment ask.
func spread(t *testing.T, cfg fleet.Config) fleet.Config {
	t.Helper()
	for i := range number(t, "SHARDS", 1) - 1 {
		cfg.Shards = append(cfg.Shards, string(rune('b'+i)))
	}
	cfg.Copies = number(t, "COPIES", 1)
	return cfg
}

// startSpread is startChain. With several shards, links are in several workspaces, one in each shard. It returns when all servers
// are in sync.
func startSpread(t *testing.T, cfg fleet.Config, links int) *chain {
	t.Helper()
	if len(cfg.Shards) == 0 {
		c := startChain(t, cfg, links)
		inSync(t, c.Fleet)
		return c
	}
	c := startChain(t, cfg, 0)
	inSync(t, c.Fleet)
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
	var w struct{ ID, Slug string }
	c.api.Must("POST", "/api/workspaces", map[string]any{"name": "Team"}, 201, &w)
	api := c.api.With("X-Workspace", w.ID)
	api.Must("GET", "/api/analytics/overview", nil, 200, nil)
	return api, w.Slug
}

// anyEngine returns one of the ClickHouse servers.
func (c *chain) anyEngine() *fleet.Engine { return c.Engines[rand.IntN(len(c.Engines))] }

// copied reports whether shards have several servers.
func copied(f *fleet.Fleet) bool { return len(f.Everything()) > 1 }

// inSync waits until all servers of all shards are in sync, and returns how long that took. A server that has just failed may be
// put out of sync a moment later, so they must be in sync for some seconds.
func inSync(t *testing.T, f *fleet.Fleet) time.Duration {
	t.Helper()
	if !copied(f) {
		return 0
	}
	began, since := time.Now(), time.Time{}
	testkit.Eventually(t, "all servers are in sync", func() bool {
		out, err := f.Command("shards").CombinedOutput()
		in := err == nil
		for _, e := range f.Engines {
			in = in && strings.Contains(string(out), e.Address()+": in sync for")
		}
		if !in {
			since = time.Time{}
		} else if since.IsZero() {
			since = time.Now()
		}
		fleet.Hold(500 * time.Millisecond) // the pace of the commands
		return in && time.Since(since) > 3*time.Second
	})
	return since.Sub(began)
}

// same checks that the servers of each shard have the same clicks. None may arrive meanwhile.
func same(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	if !copied(f) {
		return
	}
	inSync(t, f)
	out, err := f.Command("verify-replicas").CombinedOutput()
	if err != nil {
		t.Errorf("verify-replicas: %v\n%s", err, out)
	}
	for shard := range f.Everything()[0] {
		name := f.Engines[shard*len(f.Everything())].Shard
		if want := fmt.Sprintf("%s: %d servers, ", name, len(f.Everything())); !strings.Contains(string(out), want) {
			t.Errorf("verify-replicas does not say %q:\n%s", want, out)
		}
	}
	t.Logf("verify-replicas: %s", strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "; "))
}
