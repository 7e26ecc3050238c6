//go:build proof

package shards_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
	"github.com/shortline/shortline/control/internal/clicks/analytics/sharded"
	"github.com/shortline/shortline/control/internal/clicks/shards"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testkit"
)

// engines are two engine processes that have copies of one shard.
type engines struct {
	*fleet
	names   []string // addresses
	urls    map[string]string
	servers map[string]*clickhousetest.Server
	folders map[string]string
}

func newEngines(t *testing.T) *engines {
	e := &engines{fleet: newFleet(t), urls: map[string]string{}, servers: map[string]*clickhousetest.Server{}, folders: map[string]string{}}
	for _, name := range []string{"a", "b"} {
		folder := filepath.Join(t.TempDir(), name)
		server := clickhousetest.Start(t, folder)
		e.names = append(e.names, name)
		e.servers[name], e.folders[name] = server, folder
		e.urls[name] = server.URL("clicks")
	}
	return e
}

// Identity implements shards.Servers.
func (e *engines) Identity(ctx context.Context, name string) (string, error) {
	return clickhouse.IdentityAt(ctx, clickhouse.Config{URL: e.urls[name]})
}

// Prepare implements shards.Servers.
func (e *engines) Prepare(ctx context.Context, name, identity string) error {
	s, err := clickhouse.Open(ctx, clickhouse.Config{URL: e.urls[name]})
	if err != nil {
		return err
	}
	return errors.Join(s.SetIdentity(ctx, identity), s.Close())
}

// empty makes a server lose its data.
func (e *engines) empty(name string) {
	e.servers[name].Kill()
	e.ok(os.RemoveAll(e.folders[name]))
	e.servers[name].Restart(e.t)
}

// cut is a server that one process cannot reach while on is set. Inserts wait while gate is locked.
type cut struct {
	replicated.Server
	on   *atomic.Bool
	gate *sync.RWMutex
}

var errCut = errors.New("cut off")

func (c cut) check(err error) error {
	if c.on.Load() {
		return errCut
	}
	return err
}

func (c cut) Ping(ctx context.Context) error { return c.check(c.Server.Ping(ctx)) }

func (c cut) Insert(ctx context.Context, b analytics.Batch) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	if c.on.Load() {
		return errCut
	}
	return c.Server.Insert(ctx, b)
}

func (c cut) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	if c.on.Load() {
		return nil, errCut
	}
	return c.Server.Lines(ctx, q)
}

// replica is a process whose only shard has several servers.
type replica struct {
	process
	set  *replicated.Store
	cut  map[string]*atomic.Bool
	gate sync.RWMutex
}

// start starts a process as control does it. It looks at the directory at an interval, and asks servers in the order of names.
func (e *engines) start(poll time.Duration, names ...string) *replica {
	e.t.Helper()
	d := shards.New(e.store, []string{"main"}, nil)
	d.Poll(poll)
	e.ok(d.Record(e.t.Context()))
	if several, err := d.Several(e.t.Context(), true); err != nil || !several {
		e.t.Fatal(several, err)
	}
	p := &replica{set: replicated.New("main", names, d.Members("main"), nil), cut: map[string]*atomic.Bool{}}
	p.set.Patience(300 * time.Millisecond)
	all := sharded.New([]string{"main"}, d)
	all.Use("main", p.set)
	parts := []interface{ Run(context.Context) error }{d, p.set}
	if poll < time.Second { // otherwise it only answers questions
		filler := shards.NewFiller(d, "main", p.set, e, nil)
		filler.Hurry()
		parts = append(parts, filler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, part := range parts {
		running.Go(func() { _ = part.Run(ctx) })
	}
	for _, name := range names {
		p.cut[name] = new(atomic.Bool)
		running.Go(func() { e.open(ctx, d, p, name) })
	}
	p.process = process{d, all, sync.OnceFunc(func() { cancel(); running.Wait() })}
	e.t.Cleanup(func() { p.stop(); _ = all.Close() })
	return p
}

// open opens a server when the directory admits it.
func (e *engines) open(ctx context.Context, d *shards.Directory, p *replica, name string) {
	for ; ctx.Err() == nil; pause(20 * time.Millisecond) {
		id, err := e.Identity(ctx, name)
		if err != nil {
			continue
		}
		if open, err := d.Admit(ctx, "main", name, e.names, id); err != nil || !open {
			continue
		}
		s, err := clickhouse.Open(ctx, clickhouse.Config{URL: e.urls[name]})
		if err != nil {
			continue
		}
		if err := d.Register(ctx, "main", shard{s}); err == nil {
			if id, err = s.Identity(ctx); err == nil {
				if open, err := d.Admit(ctx, "main", name, e.names, id); err == nil && open {
					p.set.Use(name, cut{s, p.cut[name], &p.gate})
					d.Opened("main", name)
					return
				}
			}
		}
		_ = s.Close()
	}
}

// shard is a server with the identity of its shard.
type shard struct{ *clickhouse.Store }

func (s shard) Identity(ctx context.Context) (string, error) {
	id, err := s.Store.Identity(ctx)
	return replicated.ShardIdentity(id), err
}

// states waits until the servers have states, such as "IN_SYNC OUT".
func (e *engines) states(want string) {
	e.t.Helper()
	testkit.Eventually(e.t, "the servers are "+want, func() bool {
		list, err := e.store.ClickReplicas(e.t.Context())
		e.ok(err)
		var states []string
		for _, r := range list {
			states = append(states, r.State)
		}
		return strings.Join(states, " ") == want
	})
}

// same checks that both servers have the same clicks.
func (e *engines) same() {
	e.t.Helper()
	servers := map[string]shards.MovingServer{}
	for _, name := range e.names {
		servers[name] = e.at(e.urls[name])
	}
	days, err := shards.Compare(e.t.Context(), servers)
	e.ok(err)
	if len(days) == 0 {
		e.t.Error("no clicks are stored")
	}
	for _, d := range days {
		if !d.Same {
			e.t.Errorf("%s differs: %s", d.Day, d.Counts)
		}
	}
}

// TestReplicas_under_traffic lets servers of a shard fail in every way while two processes store clicks and answer questions. Every
// answer has every click that was acknowledged before the question, and none that did not exist.
func TestReplicas_under_traffic(t *testing.T) {
	e := newEngines(t)
	list := e.workspaces(2)
	const poll = 200 * time.Millisecond // long enough for an answer from a server that others know to be out of sync
	one, two := e.start(poll, "a", "b"), e.start(poll, "a", "b")
	e.states("IN_SYNC IN_SYNC")
	tr := newTraffic(list)
	for _, p := range []*replica{one, two} {
		tr.run(t, &p.process, 20)
		tr.ask(t, &p.process)
	}
	tr.goOn(t)
	faults := []struct {
		name      string
		fail, end func()
		state     string // while it lasts
	}{
		{"b is killed", e.servers["b"].Kill, func() { e.servers["b"].Restart(t) }, "IN_SYNC OUT"},
		{"a is killed", e.servers["a"].Kill, func() { e.servers["a"].Restart(t) }, "OUT IN_SYNC"},
		{"b hangs", e.servers["b"].Pause, e.servers["b"].Resume, "IN_SYNC OUT"},
		{"a hangs", e.servers["a"].Pause, e.servers["a"].Resume, "OUT IN_SYNC"},
		{"b is emptied", func() { e.empty("b") }, func() {}, ""},
		{"a is emptied", func() { e.empty("a") }, func() {}, ""},
		{"one process cannot reach b", func() { one.cut["b"].Store(true) }, func() { one.cut["b"].Store(false) }, "IN_SYNC OUT"},
		{"the other process cannot reach a", func() { two.cut["a"].Store(true) }, func() { two.cut["a"].Store(false) }, "OUT IN_SYNC"},
	}
	for _, fault := range faults {
		fault.fail()
		if fault.state != "" {
			e.states(fault.state)
		}
		tr.goOn(t)
		fault.end()
		e.states("IN_SYNC IN_SYNC")
		t.Logf("%s: %d clicks", fault.name, tr.total())
	}
	tr.end()
	e.same()
	for _, p := range []*replica{one, two} {
		for _, w := range list {
			lines, err := p.clicks.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Owner: w, Bots: analytics.Everyone}})
			e.ok(err)
			if got, want := lines[0].Clicks, tr.stored[w].Load(); got < want {
				t.Errorf("workspace %d has %d clicks, want %d", w, got, want)
			}
		}
	}
}

// oneClick returns a batch with one click.
func oneClick(workspace uint64, seq uint64) analytics.Batch {
	lane := click.Lane{Edge: 9, Epoch: 1}
	return analytics.Batch{
		Rows:  []analytics.Row{{Identity: analytics.Identity{Lane: lane, Seq: seq}, Time: time.Now().UnixMilli(), Link: 1, Owner: workspace}},
		Marks: []analytics.Mark{{Lane: lane, Seq: seq}},
	}
}

// insert stores one click, again and again until it is stored, as ingest does.
func (e *engines) insert(p *replica, workspace, seq uint64) {
	e.t.Helper()
	testkit.Eventually(e.t, "a click is stored", func() bool { return p.clicks.Insert(e.t.Context(), oneClick(workspace, seq)) == nil })
}

// has checks how many clicks a process reports.
func (e *engines) has(p *replica, want int64) {
	e.t.Helper()
	lines, err := p.clicks.Lines(e.t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
	e.ok(err)
	if got := lines[0].Clicks; got != want {
		e.t.Errorf("%d clicks, want %d", got, want)
	}
}

// A click that is acknowledged without a server is in the answer of a process that could still reach the server, and that looks at
// the directory rarely.
func TestReplicas_no_process_asks_a_server_that_lacks_a_click(t *testing.T) {
	e := newEngines(t)
	w := e.workspaces(1)[0]
	one, two := e.start(10*time.Millisecond, "a", "b"), e.start(2*time.Second, "b", "a")
	e.states("IN_SYNC IN_SYNC")
	pause(2500 * time.Millisecond) // until the other process asks b
	e.insert(one, w, 1)
	e.has(two, 1)
	one.cut["b"].Store(true)
	for seq := uint64(2); seq < 5; seq++ {
		e.insert(one, w, seq)
		e.has(two, int64(seq))
	}
	// A process that starts later does not wait for b either.
	late := e.start(10*time.Millisecond, "b", "a")
	testkit.Eventually(t, "a server can be asked", func() bool { return late.set.Ping(t.Context()) == nil })
	e.has(late, 4)
}

// A write that began before a server is filled gets no copy there, so the server is not in sync before the write has ended.
func TestReplicas_filling_waits_for_writes(t *testing.T) {
	e := newEngines(t)
	w := e.workspaces(1)[0]
	one, two := e.start(10*time.Millisecond, "a", "b"), e.start(10*time.Millisecond, "a", "b")
	e.states("IN_SYNC IN_SYNC")
	e.servers["b"].Kill()
	e.insert(one, w, 1)
	e.states("IN_SYNC OUT")
	two.gate.Lock()
	inserted := make(chan error, 1)
	go func() { inserted <- two.clicks.Insert(context.Background(), oneClick(w, 2)) }()
	pause(100 * time.Millisecond)
	e.servers["b"].Restart(t)
	e.states("IN_SYNC FILLING")
	pause(time.Second)
	e.states("IN_SYNC FILLING")
	two.gate.Unlock()
	e.ok(<-inserted)
	e.states("IN_SYNC IN_SYNC")
	e.same()
	e.servers["a"].Kill()
	testkit.Eventually(t, "a server can be asked", func() bool { return one.set.Ping(t.Context()) == nil })
	e.has(one, 2)
}

// Without a server in sync that answers, questions and inserts fail, and the last server in sync stays in sync.
func TestReplicas_the_last_one_stays(t *testing.T) {
	e := newEngines(t)
	w := e.workspaces(1)[0]
	p := e.start(10*time.Millisecond, "a", "b")
	e.states("IN_SYNC IN_SYNC")
	e.insert(p, w, 1)
	e.servers["b"].Kill()
	e.insert(p, w, 2)
	e.states("IN_SYNC OUT")
	e.servers["a"].Kill()
	if err := p.clicks.Insert(t.Context(), oneClick(w, 3)); err == nil {
		t.Error("an insert without a server succeeded")
	}
	var away *problem.Error
	if _, err := p.clicks.Lines(t.Context(), analytics.Query{}); !errors.As(err, &away) || away.Kind != problem.Unavailable {
		t.Errorf("a question without a server: %v", err)
	}
	if _, err := p.clicks.Erase(t.Context(), netip.MustParseAddr("192.0.2.1")); !errors.As(err, &away) || !strings.Contains(away.Message, "The server b of the click store is not in sync") {
		t.Errorf("an erasure: %v", err)
	}
	e.servers["b"].Restart(t) // it lacks a click, so it must not answer
	pause(time.Second)
	if _, err := p.clicks.Lines(t.Context(), analytics.Query{}); err == nil {
		t.Error("a server that lacks a click answered")
	}
	e.servers["a"].Restart(t)
	e.states("IN_SYNC IN_SYNC")
	e.insert(p, w, 3)
	e.has(p, 3)
	e.same()
}

// Servers that cannot be the copy of the shard are refused, with a reason.
func TestReplicas_refused(t *testing.T) {
	e := newEngines(t)
	p := e.start(10*time.Millisecond, "a", "b")
	e.states("IN_SYNC IN_SYNC")
	d := p.directory
	_, err := d.Admit(t.Context(), "main", "c", []string{"a", "b", "c"}, e.identity("b"))
	e.refused(err, "b", "c", "same database")
	_, err = d.Admit(t.Context(), "main", "c", []string{"a", "b", "c"}, "another")
	e.refused(err, "c", "must be an empty database")
	e.refused(d.CheckReplicas(t.Context(), map[string][]string{"main": {"a"}}), "the server b", "is missing", "remove-replica")
	_, err = d.RemoveReplica(t.Context(), "main", "x")
	e.refused(err, `the shard "main" has no server x`)
	forgotten, err := d.RemoveReplica(t.Context(), "main", "b")
	if e.ok(err); forgotten {
		t.Error("a server in use was forgotten")
	}
	e.states("IN_SYNC REMOVED")
	_, err = d.RemoveReplica(t.Context(), "main", "a")
	e.refused(err, "no other server", "a cannot be removed")
	e.ok(d.CheckReplicas(t.Context(), map[string][]string{"main": {"a"}}))
	_, err = d.RemoveReplica(t.Context(), "main", "b")
	e.refused(err, "has the server in its settings")
	p.stop()
	if forgotten, err = d.RemoveReplica(t.Context(), "main", "b"); err != nil || !forgotten {
		t.Errorf("the server is not forgotten: %v", err)
	}
	e.states("IN_SYNC")
	_, err = d.Admit(t.Context(), "main", "a", []string{"a"}, "")
	e.refused(err, "a", "was emptied", "no other server")
	// It is empty before it is added again.
	e.empty("b")
	e.start(10*time.Millisecond, "a", "b")
	e.states("IN_SYNC IN_SYNC")
}

// identity returns the identity of a server.
func (e *engines) identity(name string) string {
	e.t.Helper()
	id, err := e.Identity(e.t.Context(), name)
	e.ok(err)
	return id
}
