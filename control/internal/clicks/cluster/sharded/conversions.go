package sharded

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
)

// InsertConversions implements analytics.Conversions. A conversion is in the shard of its click's workspace.
func (s *Store) InsertConversions(ctx context.Context, list []analytics.Conversion) error {
	return spread(ctx, s, list, func(c *analytics.Conversion) uint64 { return c.Row.Owner },
		func(ctx context.Context, b Backend, list []analytics.Conversion) error {
			return b.InsertConversions(ctx, list)
		})
}

// Unattributed implements analytics.Conversions.
func (s *Store) Unattributed(ctx context.Context, since, after int64, limit int) ([]analytics.Conversion, error) {
	answers, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) ([]analytics.Conversion, error) {
		return b.Unattributed(ctx, since, after, limit)
	})
	if err != nil {
		return nil, err
	}
	list := slices.Concat(answers...)
	slices.SortStableFunc(list, func(a, b analytics.Conversion) int {
		return cmp.Or(cmp.Compare(a.ReceivedAt, b.ReceivedAt), cmp.Compare(a.Click.Link, b.Click.Link),
			cmp.Compare(a.Click.Time, b.Click.Time),
			cmp.Compare(a.Click.Tag, b.Click.Tag),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Once(), b.Once()))
	})
	// A workspace that moves has its conversions in two shards.
	list = slices.CompactFunc(list, func(a, b analytics.Conversion) bool { return a.Key() == b.Key() })
	return list[:min(limit, len(list))], nil
}

// FindClicks implements analytics.Conversions.
func (s *Store) FindClicks(ctx context.Context, ids []conversion.ClickID) (map[conversion.ClickID]analytics.Row, error) {
	answers, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) (map[conversion.ClickID]analytics.Row, error) {
		return b.FindClicks(ctx, ids)
	})
	return together(answers), err
}

// StoredConversions implements analytics.Conversions.
func (s *Store) StoredConversions(ctx context.Context, keys []analytics.ConversionKey) (map[analytics.ConversionKey]bool, error) {
	answers, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) (map[analytics.ConversionKey]bool, error) {
		return b.StoredConversions(ctx, keys)
	})
	return together(answers), err
}

func together[K comparable, V any](answers []map[K]V) map[K]V {
	all := map[K]V{}
	for _, answer := range answers {
		maps.Copy(all, answer)
	}
	return all
}

// ConversionLines implements analytics.Conversions.
func (s *Store) ConversionLines(ctx context.Context, q analytics.Query, goal string) ([]analytics.ConversionLine, error) {
	answers, err := answers(ctx, s, q.Scope,
		func(ctx context.Context, b Backend, scope analytics.Scope) ([]analytics.ConversionLine, error) {
			q := q
			q.Scope = scope
			return b.ConversionLines(ctx, q, goal)
		})
	if err != nil {
		return nil, err
	}
	return won(answers), nil
}

// won adds up lines of conversions.
func won(answers [][]analytics.ConversionLine) []analytics.ConversionLine {
	if len(answers) == 1 {
		return answers[0]
	}
	type key struct {
		group
		currency string
	}
	sums := map[key]analytics.ConversionLine{}
	for _, answer := range answers {
		for _, l := range answer {
			k := key{group{l.Period, l.Link, l.Value}, l.Currency}
			if sum, some := sums[k]; some {
				l.Conversions, l.Revenue = l.Conversions+sum.Conversions, plus(l.Revenue, sum.Revenue)
			}
			sums[k] = l
		}
	}
	return sorted(sums, func(a, b analytics.ConversionLine) int {
		return cmp.Or(comparePeriods(a.Period, b.Period), cmp.Compare(a.Link, b.Link), cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.Currency, b.Currency))
	})
}

// sorted returns the values of a map in order; never nil.
func sorted[K comparable, V any](m map[K]V, compare func(a, b V) int) []V {
	list := make([]V, 0, len(m))
	for _, v := range m {
		list = append(list, v)
	}
	slices.SortFunc(list, compare)
	return list
}

// plus adds two sums that are not negative. Like the stores, it stops at the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// ConversionBreakdown implements analytics.Conversions.
func (s *Store) ConversionBreakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	goal string) (map[analytics.Dimension][]analytics.ConversionLine, error) {
	answers, err := answers(ctx, s, scope,
		func(ctx context.Context, b Backend, scope analytics.Scope) (map[analytics.Dimension][]analytics.ConversionLine, error) {
			return b.ConversionBreakdown(ctx, scope, dims, goal)
		})
	if err != nil {
		return nil, err
	}
	if len(answers) == 1 {
		return answers[0], nil
	}
	found := map[analytics.Dimension][]analytics.ConversionLine{}
	for _, d := range dims {
		var lists [][]analytics.ConversionLine
		for _, answer := range answers {
			if len(answer[d]) > 0 {
				lists = append(lists, answer[d])
			}
		}
		if len(lists) > 0 {
			found[d] = won(lists)
		}
	}
	return found, nil
}

// ConvertedClicks implements analytics.Conversions. A click and its conversions are in one shard.
func (s *Store) ConvertedClicks(ctx context.Context, scope analytics.Scope) (map[string]int64, error) {
	answers, err := answers(ctx, s, scope, func(ctx context.Context, b Backend, scope analytics.Scope) (map[string]int64, error) {
		return b.ConvertedClicks(ctx, scope)
	})
	found := map[string]int64{"": 0}
	for _, answer := range answers {
		for goal, n := range answer {
			found[goal] += n
		}
	}
	return found, err
}

// Goals implements analytics.Conversions.
func (s *Store) Goals(ctx context.Context, scope analytics.Scope) ([]analytics.GoalLine, error) {
	answers, err := answers(ctx, s, scope, func(ctx context.Context, b Backend, scope analytics.Scope) ([]analytics.GoalLine, error) {
		return b.Goals(ctx, scope)
	})
	if err != nil {
		return nil, err
	}
	if len(answers) == 1 {
		return answers[0], nil
	}
	sums := map[analytics.GoalLine]analytics.GoalLine{}
	for _, l := range slices.Concat(answers...) {
		key := analytics.GoalLine{Goal: l.Goal, Currency: l.Currency}
		sum := sums[key]
		l.Conversions, l.Revenue = l.Conversions+sum.Conversions, plus(l.Revenue, sum.Revenue)
		sums[key] = l
	}
	return sorted(sums, func(a, b analytics.GoalLine) int {
		return cmp.Or(cmp.Compare(a.Goal, b.Goal), cmp.Compare(a.Currency, b.Currency))
	}), nil
}

// Arms implements analytics.Conversions. All visitors of a link are in one shard. Without the link's workspace, all shards
// are asked, and two have the same visitors while the workspace moves.
func (s *Store) Arms(ctx context.Context, e analytics.Experiment) ([]analytics.ArmLine, error) {
	answers, err := answers(ctx, s, analytics.Scope{Home: e.Home},
		func(ctx context.Context, b Backend, _ analytics.Scope) ([]analytics.ArmLine, error) {
			return b.Arms(ctx, e)
		})
	if err != nil {
		return nil, err
	}
	for _, answer := range answers {
		if len(answer) > 0 {
			return answer, nil
		}
	}
	return answers[0], nil
}
