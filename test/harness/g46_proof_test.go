//go:build proof

package harness_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/truth"
)

// copies is an installation with several servers for each shard.
type copies struct {
	*chain
	freeze   time.Duration // how long a server is stopped
	slug     string        // of the workspace that moves
	target   string        // where it moves next
	refusals int           // moves that failed and were repeated
}

// TestG46 lets ClickHouse servers of two shards fail N times while visitors come and reports are asked for. Each shard has two
// servers. After each fault, all servers must come back in sync. Reports never lose a click that they had, and in the end every
// answered visit is stored once in each of the two sets of servers. FROM is the number of the first fault in the list, and DUR is
// how long a server is stopped with SIGSTOP.
func TestG46_servers_of_shards_fail(t *testing.T) {
	t.Parallel()
	n, from := count(t, 14), number(t, "FROM", 1)-1
	c := &copies{freeze: 8 * time.Second}
	if n > 6 { // longer than every timeout
		c.freeze = 31 * time.Second
	}
	c.freeze = long(t, c.freeze)
	c.chain = startSpread(t, fleet.Config{Edges: 2, Controls: 1, Ingesters: 2, Shards: []string{"b"}, Copies: 2, EdgeEnv: []string{"SHIP_DELAY=100ms"}}, 4)
	c.mover()
	crowd := newCrowd(t)
	var asked, refused int
	var longest time.Duration
	done := map[string]int{}
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: float64(rate(t, 200))}, func() {
		crowd.more(400)
		asked, refused = c.neverLess(func() {
			all := c.faults()
			for i := range n {
				f := all[(from+i)%len(all)]
				t.Logf("%s %s", time.Now().Format("15:04:05.000"), f.name)
				f.do()
				took := inSync(t, c.Fleet)
				t.Logf("%s in sync after %v", time.Now().Format("15:04:05.000"), took.Round(100*time.Millisecond))
				longest = max(longest, took)
				done[f.name]++
			}
		})
	})
	t.Logf("%d faults %v; in sync after at most %v; %d moves were refused and repeated; %d reports, of which %d got 503; load: %v",
		n, done, longest.Round(100*time.Millisecond), c.refusals, asked, refused, r)
	c.verdict(crowd, r)
	for _, e := range c.Engines {
		if n, err := e.Store.Clicks(t.Context()); err != nil || n == 0 {
			t.Errorf("%s has %d clicks, %v", e.Name, n, err)
		}
	}
	c.differ(crowd)
}

// writers are the processes that write clicks to the servers.
func (c *chain) writers() []*fleet.Node { return slices.Concat(c.Controls, c.Ingesters) }

// mover makes the workspace that moves, with two links.
func (c *copies) mover() {
	c.t.Helper()
	api, slug := c.workspace()
	c.slug = slug
	c.newLink(api)
	c.newLink(api)
	c.served()
	out, err := c.Command("move-workspace", "main", slug).CombinedOutput() // it may be there already
	if err != nil && !strings.Contains(string(out), `is in the shard "main" already`) {
		c.t.Fatalf("move-workspace: %v: %s", err, out)
	}
	c.target = "b"
}

// faults lists the faults in their order. Each one returns when its servers run again.
func (c *copies) faults() []chaos {
	return []chaos{
		{"kill a server", func() { c.killAndRestart(c.anyEngine().Process, 5*time.Second)() }},
		{"SIGSTOP a server", func() {
			e := c.anyEngine()
			e.Pause()
			fleet.Hold(c.freeze)
			e.Resume()
		}},
		{"empty a server", c.emptied},
		{"kill a server and a control plane", c.both},
		{"kill all servers of a shard", c.shardAway},
		{"move a workspace while a server fails", c.moved},
		{"remove a server and add it again", c.removed},
	}
}

// emptied waits until the server is noticed: until then, the directory takes it for one in sync.
func (c *copies) emptied() {
	c.t.Helper()
	e := c.anyEngine()
	e.Empty()
	testkit.Eventually(c.t, "control notices that "+e.Name+" is empty", func() bool {
		out, err := c.Command("shards").CombinedOutput()
		return err == nil && !strings.Contains(string(out), e.Address()+": in sync")
	})
}

// both kills a server and one of the processes that write to it, at the same moment.
func (c *copies) both() {
	nodes := c.writers()
	node, e := nodes[rand.IntN(len(nodes))], c.anyEngine()
	c.t.Logf("%s and %s", e.Name, node.Name)
	var running sync.WaitGroup
	running.Go(c.killAndRestart(e.Process, 5*time.Second))
	running.Go(c.killAndRestart(node.Process, time.Second))
	running.Wait()
}

// shardAway kills all servers of a shard. Its reports must get 503 until one is back.
func (c *copies) shardAway() {
	c.t.Helper()
	shard := c.anyEngine().Shard
	var away []*fleet.Engine
	for _, e := range c.Engines {
		if e.Shard == shard {
			e.Kill()
			away = append(away, e)
		}
	}
	fleet.Hold(3 * time.Second) // control keeps a report for two seconds
	answers := map[int]int{}
	for _, l := range c.links {
		_, status, _ := c.api.ReportStatus(l.ID) // an error has its status
		answers[status]++
	}
	c.t.Logf("shard %s is away; answers by status: %v", shard, answers)
	gone := 2 // of the workspace that stays there
	if shard != c.target {
		gone += 2 // of the one that moves
	}
	if answers[503] != gone || answers[200] != len(c.links)-gone {
		c.t.Errorf("reports without the shard %s have these answers: %v; want 503 for its %d links and 200 for the others", shard, answers, gone)
	}
	rand.Shuffle(len(away), func(i, j int) { away[i], away[j] = away[j], away[i] })
	for _, e := range away {
		pause(3 * time.Second)
		e.Start()
	}
}

// moved moves the workspace to the other shard. Meanwhile a server fails. A move needs all servers at its end, so it may fail, and
// is repeated.
func (c *copies) moved() {
	c.t.Helper()
	failing := make(chan struct{})
	go func() {
		defer close(failing)
		fleet.Hold(rand.N(4 * time.Second)) // a random moment of the move
		c.killAndRestart(c.anyEngine().Process, 5*time.Second)()
	}()
	testkit.Eventually(c.t, "a move to "+c.target, func() bool {
		out, err := c.Command("move-workspace", c.target, c.slug).CombinedOutput()
		if err != nil {
			c.t.Logf("move-workspace: %v: %s", err, lastLine(out))
			c.refusals++
			fleet.Hold(time.Second)
		}
		return err == nil
	})
	<-failing
	c.target = map[string]string{"b": "main", "main": "b"}[c.target]
}

// removed takes a server out of its shard, and adds it again without its data.
func (c *copies) removed() {
	c.t.Helper()
	e := c.anyEngine()
	says := func(want string) {
		c.t.Helper()
		testkit.Eventually(c.t, "remove-replica says: "+want, func() bool {
			out, err := c.Command("remove-replica", e.Shard, e.Address()).CombinedOutput()
			return err == nil && strings.Contains(string(out), want)
		})
	}
	restart := func(in bool) {
		c.t.Helper()
		c.Configure(e, in)
		for _, n := range c.writers() {
			testkit.Must(c.t, n.Stop())
			n.Start()
		}
	}
	says("is no longer used")
	restart(false)
	says("was forgotten, and can be added again")
	e.Empty()
	restart(true)
}

// differ deletes a click from the last server, which both comparisons must notice. Otherwise they would prove nothing.
func (c *copies) differ(crowd *crowd) {
	c.t.Helper()
	e := c.Engines[len(c.Engines)-1]
	const statement = "ALTER TABLE clicks DELETE WHERE (edge, epoch, lane, seq) IN (SELECT edge, epoch, lane, seq FROM clicks LIMIT 1) SETTINGS mutations_sync = 2"
	if _, err := e.Store.Ask(c.t.Context(), statement); err != nil {
		c.t.Fatal(err)
	}
	out, err := c.Command("verify-replicas").CombinedOutput()
	if want := fmt.Sprintf("%s: ", e.Shard); err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), " differs: ") {
		c.t.Errorf("a click was deleted from %s, and verify-replicas says: %v\n%s", e.Name, err, out)
	}
	contents, err := c.Everything()[e.Copy].Contents(c.t.Context())
	testkit.Must(c.t, err)
	if v, err := truth.Judge(crowd.log.Path(), contents); err != nil || v.Lost != 1 {
		c.t.Errorf("a click was deleted from %s, and the verdict is: %v, %v", e.Name, v, err)
	}
}
