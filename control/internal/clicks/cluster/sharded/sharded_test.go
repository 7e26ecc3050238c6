package sharded_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// pool has the databases of the tests.
var pool clickhousetest.Pool

func TestMain(m *testing.M) { pool.Run(m) }

func ctx() context.Context { return context.Background() }

// fixed is a directory: odd workspaces are in a, even ones in b. With pairs, 2 and 3 are in b, 4 and 5 in a, and so on. With
// moving, all clicks of 1 and 2 are in the other shard too: 1 is about to move, and 2 has moved.
type fixed struct {
	all           string
	pairs, moving bool
}

func (f fixed) Read(ctx context.Context, workspaces ...uint64) (sharded.View, error) {
	places := map[uint64]sharded.Place{}
	for _, w := range workspaces {
		switch {
		case f.all != "":
			places[w] = sharded.Place{Shard: f.all}
		case f.pairs && w/2%2 == 0, !f.pairs && w%2 == 1:
			places[w] = sharded.Place{Shard: "a"}
		default:
			places[w] = sharded.Place{Shard: "b"}
		}
	}
	v := sharded.View{Context: ctx, Places: places, End: func() error { return nil }}
	if f.moving {
		places[1], places[2] = sharded.Place{Shard: "a", Also: "b"}, sharded.Place{Shard: "b", Also: "a"}
		v.Hidden = map[string][]uint64{"b": {1}, "a": {2}}
	}
	return v, nil
}

func (f fixed) Write(ctx context.Context, workspaces ...uint64) (sharded.View, error) {
	return f.Read(ctx, workspaces...)
}

// open returns the store of two empty databases. The end of the test closes it.
func open(t *testing.T, urls [2]string, directory sharded.Directory) (*sharded.Store, [2]*clickhouse.Store) {
	t.Helper()
	s := sharded.New([]string{"a", "b"}, directory)
	var parts [2]*clickhouse.Store
	var err error
	for i, url := range urls {
		if parts[i], err = clickhouse.Open(ctx(), clickhouse.Config{URL: url}); err != nil {
			t.Fatal(err)
		}
		s.Use([]string{"a", "b"}[i], parts[i])
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, parts
}

// databases are two databases of one engine process.
func databases(t *testing.T) [2]string {
	t.Helper()
	return [2]string{pool.Database(t), pool.Database(t)}
}

// runSuite runs a part of the suite with the workspaces of its clicks spread over two shards. Two of its tests concern what a shard
// alone guarantees: links that move between workspaces, which must be in the same shard, and batches that appear as a whole.
func runSuite(t *testing.T, part int, directory fixed) {
	analyticstest.RunPart(t, part, func(t *testing.T) analytics.Store {
		if strings.HasSuffix(t.Name(), "/moves") || strings.HasSuffix(t.Name(), "/readers_beside_a_writer") {
			s, _ := open(t, databases(t), fixed{all: "b"})
			return s
		}
		s, _ := open(t, databases(t), directory)
		return s
	})
}

// TestStore_while_workspaces_move runs the suite while two shards have the clicks of two workspaces.
func TestStore_while_workspaces_move(t *testing.T) {
	t.Parallel()
	runSuite(t, 2, fixed{moving: true})
}

// Both copies of a click are changed, and count as one.
func TestReclassify_while_a_workspace_moves(t *testing.T) {
	t.Parallel()
	s, parts := open(t, databases(t), fixed{moving: true})
	rows := analyticstest.Clicks(31, 600, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 3)
	ok(t, s.Insert(ctx(), analytics.Batch{Rows: rows}))
	for _, owner := range []uint64{0, 1, 2} {
		want := 0
		for _, r := range rows {
			if owner == 0 || r.Owner == owner {
				want++
			}
		}
		version := fmt.Sprintf("list %d", owner)
		seen := 0
		n, err := s.Reclassify(ctx(), analytics.Scope{Owner: owner, Bots: analytics.Everyone}, func(r *analytics.Row, again bool) bool {
			if !again {
				seen++
			}
			r.BotList = version
			return true
		})
		if err != nil || n != want || seen != want {
			t.Errorf("workspace %d: %d clicks of %d, %v; want %d", owner, n, seen, err, want)
		}
		for i, part := range parts {
			ok(t, part.Clicks(ctx(), analytics.Scope{Owner: owner, Bots: analytics.Everyone}, math.MaxInt, func(r *analytics.Row) error {
				if r.BotList != version {
					t.Errorf("workspace %d, shard %d: a click has %q", owner, i, r.BotList)
				}
				return nil
			}))
		}
	}
}

// TestEstimates runs the suite about scopes with many visitors. Links move between workspaces 2 and 3, which are in one shard.
func TestEstimates(t *testing.T) {
	analyticstest.RunEstimates(t, 0, testkit.Size(9, 3), func(t *testing.T) analytics.Store {
		s := sharded.New([]string{"a", "b"}, fixed{pairs: true})
		for i, url := range databases(t) {
			b, err := clickhouse.Open(ctx(), clickhouse.Config{URL: url, ExactVisitors: analyticstest.FewVisitors})
			testkit.Must(t, err)
			s.Use([]string{"a", "b"}[i], b)
		}
		s.CountExactly(analyticstest.FewVisitors)
		return s
	})
}
