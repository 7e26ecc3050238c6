package shards_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/clicks/cluster/shards"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fleet is a database, and click stores by name.
type fleet struct {
	t       *testing.T
	store   *store.Store
	servers map[string]shards.Server
	urls    map[string]string // of the servers
	running *shards.Directory
}

func newFleet(t *testing.T) *fleet {
	t.Parallel()
	return &fleet{t: t, store: storetest.OpenPostgres(t), servers: map[string]shards.Server{}, urls: map[string]string{}}
}

// pool has the databases of the tests.
var pool clickhousetest.Pool

func TestMain(m *testing.M) { pool.Run(m) }

// newPair returns a fleet with two open shards, main and b, and the numbers of new workspaces, which are in main. No process of
// the fleet runs yet.
func newPair(t *testing.T, workspaces int) (*fleet, []uint64) {
	t.Helper()
	f := newFleet(t)
	list := f.workspaces(workspaces)
	d := f.process("main", "b")
	f.ok(d.Open(t.Context(), "b", f.servers))
	f.end(d)
	return f, list
}

// server returns an empty click store.
func (f *fleet) server() *clickhouse.Store {
	f.t.Helper()
	return f.at(pool.Database(f.t))
}

// at returns the click store at a URL.
func (f *fleet) at(url string) *clickhouse.Store {
	f.t.Helper()
	s, err := clickhouse.Open(f.t.Context(), clickhouse.Config{URL: url})
	f.ok(err)
	f.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (f *fleet) ok(err error) {
	f.t.Helper()
	testkit.Must(f.t, err)
}

// refused checks that an error is final and says what is wrong.
func (f *fleet) refused(err error, words ...string) {
	f.t.Helper()
	var refused *shards.RefusedError
	if !errors.As(err, &refused) {
		f.t.Errorf("%v is not refused", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			f.t.Errorf("%q does not contain %q", err, w)
		}
	}
}

// end ends the process of a directory.
func (f *fleet) end(d *shards.Directory) {
	f.t.Helper()
	ended, end := context.WithCancel(f.t.Context())
	end()
	f.ok(d.Run(ended))
}

// process ends the running process, and returns the directory of one that has started with some shards; those that are new get
// a click store.
func (f *fleet) process(names ...string) *shards.Directory {
	f.t.Helper()
	if f.running != nil {
		f.end(f.running)
	}
	d := shards.New(f.store, names, nil)
	f.running = d
	f.ok(d.Record(f.t.Context()))
	f.ok(d.Check(f.t.Context()))
	for _, name := range d.Names() {
		if f.servers[name] == nil {
			f.urls[name] = pool.Database(f.t)
			f.servers[name] = f.at(f.urls[name])
		}
		f.ok(d.Register(f.t.Context(), name, f.servers[name]))
	}
	return d
}

// workspaces adds n workspaces.
func (f *fleet) workspaces(n int) (nums []uint64) {
	f.t.Helper()
	f.ok(f.store.Tx(f.t.Context(), func(tx *store.Tx) error {
		user := store.User{ID: store.NewID(), Email: store.NewID() + "@example.com", Role: "USER", CreatedAt: 1, UpdatedAt: 1}
		if _, err := tx.InsertUser(f.t.Context(), user); err != nil {
			return err
		}
		for range n {
			w := store.Workspace{ID: store.NewID(), Name: "W", Slug: store.NewID(), CreatedAt: 1, UpdatedAt: 1}
			if err := tx.InsertWorkspace(f.t.Context(), &w, user.ID); err != nil {
				return err
			}
			nums = append(nums, w.Num)
		}
		return nil
	}))
	return nums
}

// count returns how many of the workspaces are in each shard.
func (f *fleet) count(d *shards.Directory, workspaces []uint64) map[string]int {
	f.t.Helper()
	view, err := d.Read(f.t.Context(), workspaces...)
	f.ok(err)
	f.ok(view.End())
	counts := map[string]int{}
	for _, w := range workspaces {
		counts[view.Places[w].Shard]++
	}
	return counts
}

// Workspaces that exist stay in the first shard; later ones go to the shard with the fewest, once it is open. All processes
// agree, even if they decide at the same time.
func TestDirectory_assigns_workspaces(t *testing.T) {
	f := newFleet(t)
	old := f.workspaces(20)
	first := f.process("main", "b")
	if got := f.count(first, old[:5]); got["main"] != 5 {
		t.Errorf("before the new shard is open: %v", got)
	}
	f.ok(first.Open(t.Context(), "b", f.servers))
	if got := f.count(first, old); got["main"] != 20 {
		t.Errorf("workspaces from before: %v", got)
	}
	later := f.workspaces(40)
	var wg sync.WaitGroup
	answers := make([]sharded.View, 8)
	errs := make([]error, len(answers))
	for i := range answers {
		wg.Go(func() {
			answers[i], errs[i] = shards.New(f.store, []string{"main", "b"}, nil).Read(context.Background(), later...)
		})
	}
	wg.Wait()
	f.ok(errors.Join(errs...))
	counts := map[string]int{}
	for _, w := range later {
		counts[answers[0].Places[w].Shard]++
		for i := range answers {
			if answers[i].Places[w] != answers[0].Places[w] {
				t.Errorf("workspace %d is in %v and in %v", w, answers[i].Places[w], answers[0].Places[w])
			}
		}
	}
	if counts["b"] < 20 { // b has none at first, main has 20
		t.Errorf("later workspaces: %v", counts)
	}
	if got := f.count(first, []uint64{0}); got["main"] != 1 {
		t.Errorf("clicks without a workspace: %v", got)
	}
}

func TestDirectory_refuses(t *testing.T) {
	f := newFleet(t)
	f.process("main", "b")

	t.Run("two_names_for_one_server", func(*testing.T) {
		d := shards.New(f.store, []string{"main", "b", "c"}, nil)
		f.refused(d.Register(f.t.Context(), "c", f.servers["b"]), `"b" and "c" are the same database`)
	})
	t.Run("a_name_for_another_server", func(*testing.T) {
		d := shards.New(f.store, []string{"main", "b"}, nil)
		f.refused(d.Register(f.t.Context(), "b", f.server()), "new or was emptied", "control adopt-shard b")
		other := f.server()
		_, err := other.Identify(f.t.Context())
		f.ok(err)
		f.refused(d.Register(f.t.Context(), "b", other), "another database than before")
		f.refused(d.Register(f.t.Context(), "main", f.servers["b"]), "are the same database")
	})
	t.Run("a_new_shard_with_clicks", func(*testing.T) {
		used := f.server()
		f.ok(used.Insert(f.t.Context(), analytics.Batch{Rows: analyticstest.Clicks(1, 5, time.Now(), 1)}))
		d := shards.New(f.store, []string{"main", "b", "c"}, nil)
		f.refused(d.Register(f.t.Context(), "c", used), "already has clicks")
	})
}

// A shard that holds workspaces cannot be left out, and the message says how many. One without any can.
func TestDirectory_keeps_shards_in_use(t *testing.T) {
	f := newFleet(t)
	d := f.process("main", "b", "c")
	f.ok(d.Open(t.Context(), "b", f.servers))
	f.ok(d.Open(t.Context(), "c", f.servers))
	list := f.workspaces(4)
	if got := f.count(d, list[:1]); got["main"] != 1 && got["b"] != 1 {
		t.Fatal(got)
	}
	for i := range list { // one by one, so that each sees the others
		f.count(d, list[i:i+1])
	}
	known, err := d.List(t.Context())
	f.ok(err)
	for _, sh := range known {
		var left []string
		for _, other := range known {
			if other.Name != sh.Name {
				left = append(left, other.Name)
			}
		}
		f.refused(shards.New(f.store, left, nil).Check(t.Context()), fmt.Sprintf("%q is missing", sh.Name),
			fmt.Sprintf("the clicks of %d workspaces", sh.Workspaces))
	}
	f.refused(shards.New(f.store, []string{"main"}, nil).Check(t.Context()), "missing")

	// d holds none, so it can go: no workspace is assigned to it any more.
	d = f.process("main", "b", "c", "d")
	f.ok(d.Open(t.Context(), "d", f.servers))
	d = f.process("main", "b", "c")
	more := f.workspaces(6)
	if got := f.count(d, more); got["d"] != 0 {
		t.Errorf("a shard that is not in the settings got workspaces: %v", got)
	}
}

// A shard is opened only when all running processes know it, and gets the marks of lanes.
func TestDirectory_Open(t *testing.T) {
	f := newFleet(t)
	before := shards.New(f.store, []string{"main"}, nil) // of the time with one click store
	f.ok(before.Record(t.Context()))
	if several, err := before.Several(t.Context()); err != nil || several {
		t.Fatal(several, err)
	}
	f.servers["main"] = f.server()
	rows := analyticstest.Clicks(1, 100, time.Now().Add(-48*time.Hour), 1)
	f.ok(f.servers["main"].Insert(t.Context(), analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: 100}}}))
	d := f.process("main", "b")
	f.refused(d.Open(t.Context(), "c", f.servers), `no shard "c" is registered`)
	f.refused(d.Open(t.Context(), "b", f.servers), "does not know the shard")
	f.end(before)
	f.ok(d.Open(t.Context(), "b", f.servers))
	f.ok(d.Open(t.Context(), "b", f.servers))
	marks, err := f.servers["b"].Marks(t.Context())
	f.ok(err)
	if len(marks) != 1 || marks[0].Seq != 100 {
		t.Errorf("marks of the new shard: %v", marks)
	}
	// A process with the old settings that starts now knows that there are several shards.
	if several, err := before.Several(t.Context()); err != nil || !several {
		t.Error(several, err)
	}
}

func TestDirectory_Adopt(t *testing.T) {
	f := newFleet(t)
	d := f.process("main", "b")
	replaced := f.server()
	f.refused(d.Register(t.Context(), "b", replaced), "emptied")
	f.ok(d.Adopt(t.Context(), "b", replaced))
	f.ok(d.Register(t.Context(), "b", replaced))
	f.refused(d.Register(t.Context(), "b", f.servers["b"]), "another database")
	f.refused(d.Adopt(t.Context(), "b", f.servers["main"]), "are the same database")
	f.refused(d.Adopt(t.Context(), "x", replaced), "no shard")
}
