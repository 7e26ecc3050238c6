package sharded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Clicks implements analytics.Store.
func (s *Store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	return ordered(ctx, s, scope, limit, newest, func(ctx context.Context, b Backend, scope analytics.Scope,
		f func(*analytics.Row) error) error {
		return b.Clicks(ctx, scope, limit, f)
	}, f)
}

// newest orders clicks as analytics.Store.Clicks does.
func newest(a, b *analytics.Row) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Edge, a.Edge), cmp.Compare(b.Epoch, a.Epoch),
		cmp.Compare(b.Lane.Lane, a.Lane.Lane), cmp.Compare(b.Seq, a.Seq))
}

// EachConversion implements analytics.Conversions.
func (s *Store) EachConversion(ctx context.Context, scope analytics.Scope, goal string, limit int,
	f func(*analytics.Conversion) error) error {
	return ordered(ctx, s, scope, limit, latest, func(ctx context.Context, b Backend, scope analytics.Scope,
		f func(*analytics.Conversion) error) error {
		return b.EachConversion(ctx, scope, goal, limit, f)
	}, f)
}

// latest orders conversions as analytics.Conversions.EachConversion does.
func latest(a, b *analytics.Conversion) int {
	return cmp.Or(cmp.Compare(b.Click.Time, a.Click.Time), cmp.Compare(b.Click.Link, a.Click.Link), cmp.Compare(b.Click.Tag, a.Click.Tag),
		cmp.Compare(b.Name, a.Name), cmp.Compare(b.Once(), a.Once()))
}

// errEnough ends a shard's list.
var errEnough = errors.New("enough")

// lister calls a function with the elements of a shard's list, in order.
type lister[T any] func(ctx context.Context, b Backend, scope analytics.Scope, f func(*T) error) error

// ordered calls f with at most limit elements of the lists of all shards of a scope, in order. Each list is in order. A list
// is read page by page as it is needed.
func ordered[T any](ctx context.Context, s *Store, scope analytics.Scope, limit int, compare func(a, b *T) int, list lister[T],
	f func(*T) error) error {
	if limit <= 0 {
		return nil
	}
	sel, err := s.selected(ctx, scope)
	if err != nil {
		return err
	}
	defer sel.end()
	if len(sel.shards) == 1 {
		return eachShard(sel, sel.shards, func(ctx context.Context, i int, b Backend) error { return list(ctx, b, sel.of(i, scope), f) })
	}
	type source struct {
		next func() (*T, error, bool)
		head *T
	}
	var sources []*source
	advance := func(of *source) error {
		head, err, _ := of.next()
		of.head = head // nil after the end
		return err
	}
	for i, sh := range sel.shards {
		next, stop := iter.Pull2(pulled(sh, func(b Backend, f func(*T) error) error { return list(sel, b, sel.of(i, scope), f) }))
		defer stop()
		of := &source{next: next}
		if err := advance(of); err != nil {
			return err
		}
		sources = append(sources, of)
	}
	for ; limit > 0; limit-- {
		var first *source
		for _, of := range sources {
			if of.head != nil && (first == nil || compare(of.head, first.head) < 0) {
				first = of
			}
		}
		if first == nil {
			return nil
		}
		if err := f(first.head); err != nil {
			return err
		}
		if err := advance(first); err != nil {
			return err
		}
	}
	return nil
}

// pulled returns the list of a shard, which ends with an error if there is one.
func pulled[T any](sh *shard, list func(Backend, func(*T) error) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		b, err := sh.get()
		if err == nil {
			err = list(b, func(one *T) error {
				kept := *one
				if !yield(&kept, nil) {
					return errEnough
				}
				return nil
			})
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, fmt.Errorf("shard %s: %w", sh.name, err))
		}
	}
}
