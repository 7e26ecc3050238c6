package sharded

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Backups need these methods beyond analytics.Store.

// Export calls f with every click, of one shard after the other. The row is valid only during the call.
func (s *Store) Export(ctx context.Context, f func(*analytics.Row) error) error {
	sel, err := s.everything(ctx)
	if err != nil {
		return err
	}
	defer sel.end()
	for i, sh := range sel.shards {
		if err := eachShard(sel, []*shard{sh}, func(ctx context.Context, _ int, b Backend) error {
			return b.ExportWithout(ctx, sel.hidden[i], f)
		}); err != nil {
			return err
		}
	}
	return nil
}

// ExportLosses returns every loss marker once.
func (s *Store) ExportLosses(ctx context.Context) ([]analytics.Loss, error) { return s.losses(ctx) }

// Empty reports whether no shard has anything.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	answers, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) (bool, error) { return b.Empty(ctx) })
	for _, empty := range answers {
		if !empty {
			return false, err
		}
	}
	return true, err
}

// Clear deletes everything in all shards. Nothing else may use them meanwhile.
func (s *Store) Clear(ctx context.Context) error {
	return eachShard(ctx, s.shards, func(ctx context.Context, _ int, b Backend) error { return b.Clear(ctx) })
}

// Rebuild computes figures for reports in advance, in all shards.
func (s *Store) Rebuild(ctx context.Context, before time.Time) error {
	return eachShard(ctx, s.shards, func(ctx context.Context, _ int, b Backend) error { return b.Rebuild(ctx, before) })
}

// Fixed is a Directory of workspaces that do not move, for a restore. Workspaces that it does not name are in First.
type Fixed struct {
	First      string
	Workspaces map[uint64]string
}

// Read implements Directory.
func (f *Fixed) Read(ctx context.Context, workspaces ...uint64) (View, error) {
	places := make(map[uint64]Place, len(workspaces))
	for _, w := range workspaces {
		name, some := f.Workspaces[w]
		if !some {
			name = f.First
		}
		places[w] = Place{Shard: name}
	}
	return View{Context: ctx, Places: places, End: func() error { return nil }}, nil
}

// Write implements Directory.
func (f *Fixed) Write(ctx context.Context, workspaces ...uint64) (View, error) {
	return f.Read(ctx, workspaces...)
}
