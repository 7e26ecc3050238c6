package sharded_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/sharded"
)

func ctx() context.Context { return context.Background() }

// fixed is a directory: odd workspaces are in a, even ones in b. With pairs, 2 and 3 are in b, 4 and 5 in a, and so on.
type fixed struct {
	all   string
	pairs bool
}

func (f fixed) Shards(_ context.Context, workspaces []uint64) (map[uint64]string, error) {
	found := map[uint64]string{}
	for _, w := range workspaces {
		switch {
		case f.all != "":
			found[w] = f.all
		case f.pairs && w/2%2 == 0, !f.pairs && w%2 == 1:
			found[w] = "a"
		default:
			found[w] = "b"
		}
	}
	return found, nil
}

// open returns the store of two empty databases.
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
	return s, parts
}

// databases are two databases of one engine process, which starts faster than two.
func databases(t *testing.T) [2]string {
	t.Helper()
	return [2]string{clickhousetest.Database(t), clickhousetest.Database(t)}
}

// TestStore runs the suite with the workspaces of its clicks spread over two engine processes. Two of its tests concern what a shard
// alone guarantees: links that move between workspaces, which must be in the same shard, and batches that appear as a whole.
func TestStore(t *testing.T) {
	t.Parallel()
	other := clickhousetest.Start(t, t.TempDir())
	analyticstest.RunPart(t, 1, func(t *testing.T) analytics.Store {
		directory := fixed{}
		if strings.HasSuffix(t.Name(), "/moves") || strings.HasSuffix(t.Name(), "/readers_beside_a_writer") {
			directory.all = "b"
		}
		url, err := other.Database(ctx())
		if err != nil {
			t.Fatal(err)
		}
		s, _ := open(t, [2]string{clickhousetest.Database(t), url}, directory)
		return s
	})
}

// TestEstimates runs the suite about scopes with many visitors. Links move between workspaces 2 and 3, which are in one shard.
func TestEstimates(t *testing.T) {
	analyticstest.RunEstimates(t, 0, 3, func(t *testing.T) analytics.Store {
		s := sharded.New([]string{"a", "b"}, fixed{pairs: true})
		for i, url := range databases(t) {
			b, err := clickhouse.Open(ctx(), clickhouse.Config{URL: url, ExactVisitors: analyticstest.FewVisitors})
			if err != nil {
				t.Fatal(err)
			}
			s.Use([]string{"a", "b"}[i], b)
		}
		s.CountExactly(analyticstest.FewVisitors)
		return s
	})
}
