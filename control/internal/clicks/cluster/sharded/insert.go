package sharded

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
)

// Insert implements analytics.Store. Rows of a workspace that moves are stored in both of its shards.
func (s *Store) Insert(ctx context.Context, b analytics.Batch) error {
	if err := spread(ctx, s, b.Rows, func(r *analytics.Row) uint64 { return r.Owner },
		func(ctx context.Context, to Backend, rows []analytics.Row) error {
			return to.Insert(ctx, analytics.Batch{Rows: rows})
		}); err != nil {
		return err
	}
	if len(b.Marks)+len(b.Losses) == 0 {
		return nil
	}
	all := make(map[*shard]analytics.Batch, len(s.shards))
	for _, sh := range s.shards {
		all[sh] = analytics.Batch{Marks: b.Marks, Losses: b.Losses}
	}
	return writeParts(ctx, s.shards, all, func(ctx context.Context, to Backend, b analytics.Batch) error { return to.Insert(ctx, b) })
}

// spread gives each shard the elements of a list that belong there, in the order of the list.
func spread[T any](ctx context.Context, s *Store, list []T, workspace func(*T) uint64, f func(context.Context, Backend, []T) error) error {
	counts := map[uint64]int{}
	for i := range list {
		counts[workspace(&list[i])]++
	}
	if len(counts) == 0 {
		return nil
	}
	view, err := s.directory.Write(ctx, slices.Collect(maps.Keys(counts))...)
	if err != nil {
		return err
	}
	parts, err := split(s, view, list, counts, workspace)
	if err == nil {
		err = writeParts(view.Context, s.shards, parts, f)
	}
	return errors.Join(err, view.End())
}

// split returns the elements of a list by shard. counts is how many each workspace has.
func split[T any](s *Store, view View, list []T, counts map[uint64]int, workspace func(*T) uint64) (map[*shard][]T, error) {
	shards, sizes := make(map[uint64][]*shard, len(counts)), map[*shard]int{}
	for w := range counts {
		place := view.Places[w]
		for _, name := range []string{place.Shard, place.Also} {
			if name == "" && shards[w] != nil {
				continue
			}
			sh, err := s.named(name, w)
			if err != nil {
				return nil, err
			}
			shards[w] = append(shards[w], sh)
			sizes[sh] += counts[w]
		}
	}
	parts := make(map[*shard][]T, len(sizes))
	for sh, n := range sizes {
		if n == len(list) {
			parts[sh] = list
		} else {
			parts[sh] = make([]T, 0, n)
		}
	}
	for i := range list {
		for _, sh := range shards[workspace(&list[i])] {
			if sizes[sh] != len(list) {
				parts[sh] = append(parts[sh], list[i])
			}
		}
	}
	return parts, nil
}

// writeParts gives each shard its part. A shard that failed the last time comes first, alone: while it fails, a batch that is
// delivered again and again is not stored again and again in the others.
func writeParts[T any](ctx context.Context, shards []*shard, parts map[*shard]T, f func(context.Context, Backend, T) error) error {
	var first, then []*shard
	for _, sh := range shards {
		if _, some := parts[sh]; !some {
			continue
		}
		if sh.failed.Load() || sh.backend.Load() == nil {
			first = append(first, sh)
		} else {
			then = append(then, sh)
		}
	}
	for _, list := range [][]*shard{first, then} {
		err := eachShard(ctx, list, func(ctx context.Context, i int, b Backend) error {
			err := f(ctx, b, parts[list[i]])
			list[i].failed.Store(err != nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Marks implements analytics.Store: of each lane that all shards know, the lowest mark.
func (s *Store) Marks(ctx context.Context) ([]analytics.Mark, error) {
	lists, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) ([]analytics.Mark, error) { return b.Marks(ctx) })
	if err != nil {
		return nil, err
	}
	return Lowest(lists), nil
}

// Lowest returns the lowest mark of each lane that is in all of the lists, ordered by lane.
func Lowest(lists [][]analytics.Mark) []analytics.Mark {
	type known struct {
		seq    uint64
		shards int
	}
	found := map[click.Lane]known{}
	for _, list := range lists {
		for _, m := range list {
			k, some := found[m.Lane]
			if !some || m.Seq < k.seq {
				k.seq = m.Seq
			}
			k.shards++
			found[m.Lane] = k
		}
	}
	marks := []analytics.Mark{}
	for lane, k := range found {
		if k.shards == len(lists) {
			marks = append(marks, analytics.Mark{Lane: lane, Seq: k.seq})
		}
	}
	slices.SortFunc(marks, func(a, b analytics.Mark) int { return compareLanes(a.Lane, b.Lane) })
	return marks
}

func compareLanes(a, b click.Lane) int {
	return cmp.Or(cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Lane, b.Lane))
}

// Losses implements analytics.Store. Every shard has the losses since it was added.
func (s *Store) Losses(ctx context.Context) (n uint64, err error) {
	list, err := s.losses(ctx)
	for _, l := range list {
		n += l.To - l.From + 1
	}
	return n, err
}

// losses returns every loss marker once.
func (s *Store) losses(ctx context.Context) ([]analytics.Loss, error) {
	lists, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) ([]analytics.Loss, error) { return b.ExportLosses(ctx) })
	if err != nil {
		return nil, err
	}
	seen := map[analytics.Identity]bool{}
	var all []analytics.Loss
	for _, list := range lists {
		for _, l := range list {
			if !seen[l.Identity] {
				seen[l.Identity] = true
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// Reclassify implements analytics.Store, for one shard after the other. While a workspace moves, two shards have its clicks.
func (s *Store) Reclassify(ctx context.Context, scope analytics.Scope, f func(*analytics.Row, bool) bool) (changed int, err error) {
	home := cmp.Or(scope.Owner, scope.Home)
	view, err := s.directory.Write(ctx, home)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, view.End()) }()
	shards := s.shards
	if home != 0 {
		place := view.Places[home]
		if _, err := s.named(place.Shard, home); err != nil {
			return 0, err
		}
		shards = slices.DeleteFunc(slices.Clone(shards), func(sh *shard) bool { return sh.name != place.Shard && sh.name != place.Also })
	}
	for _, sh := range shards {
		if scope.Owner != 0 && scope.Moves.Through != 0 {
			if err := s.follows(view.Context, sh, scope.Moves); err != nil {
				return changed, err
			}
		}
		if err := eachShard(view.Context, []*shard{sh}, func(ctx context.Context, _ int, b Backend) error {
			n, err := b.Reclassify(ctx, scope, func(r *analytics.Row, again bool) bool {
				hidden := slices.Contains(view.Hidden[sh.name], r.Owner)
				changes := f(r, again || hidden)
				if changes && hidden && !again {
					changed-- // the other shard counts it
				}
				return changes
			})
			changed += n
			return err
		}); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// Erase implements analytics.Store. After an error, some shards may have erased the address; Erase may be repeated.
func (s *Store) Erase(ctx context.Context, ip netip.Addr) (clicks int64, err error) {
	counts, err := answers(ctx, s, analytics.Scope{}, func(ctx context.Context, b Backend, scope analytics.Scope) (int64, error) {
		return b.EraseCounting(ctx, ip, scope.NotOwners)
	})
	for _, n := range counts {
		clicks += n
	}
	return clicks, err
}

// Expire implements analytics.Store.
func (s *Store) Expire(ctx context.Context, before time.Time) error {
	return eachShard(ctx, s.shards, func(ctx context.Context, _ int, b Backend) error { return b.Expire(ctx, before) })
}

// MovesPosition implements analytics.Store: the lowest position of the shards that answer. A question that needs the moves
// checks that its shard has them.
func (s *Store) MovesPosition(ctx context.Context, log uint64) (lowest analytics.Position, err error) {
	type answer struct {
		at  analytics.Position
		err error
	}
	answers, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) (*answer, error) {
		at, err := b.MovesPosition(ctx, log)
		return &answer{at, err}, err
	})
	some := false
	for _, a := range answers {
		if a == nil || a.err != nil {
			continue
		}
		if !some || a.at.Revision < lowest.Revision || a.at.Revision == lowest.Revision && a.at.Link < lowest.Link {
			lowest = a.at
		}
		some = true
	}
	if some {
		return lowest, nil
	}
	return lowest, err
}

// InsertMoves implements analytics.Store. Shards that do not answer get the moves later, because their position stays lower.
func (s *Store) InsertMoves(ctx context.Context, log uint64, list []analytics.Move, to analytics.Position) error {
	stored, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) (bool, error) {
		err := b.InsertMoves(ctx, log, list, to)
		return err == nil, err
	})
	if slices.Contains(stored, true) {
		return nil
	}
	return err
}
