package sharded

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// group is what tells the lines of a query apart.
type group struct {
	analytics.Period
	link  uint64
	value string
}

func groupOf(l *analytics.Line) group { return group{l.Period, l.Link, l.Value} }

// Lines implements analytics.Store.
func (s *Store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	sel, err := s.selected(ctx, q.Scope)
	if err != nil {
		return nil, err
	}
	defer sel.end()
	if len(sel.shards) == 1 {
		parts, err := lines(sel, q)
		return parts[0], err
	}
	return analytics.CountVisitors(q, s.exact, func(q analytics.Query) ([]analytics.Line, error) { return s.joined(sel, q) })
}

// lines asks each of the selected shards.
func lines(sel *selection, q analytics.Query) ([][]analytics.Line, error) {
	return asked(sel, q.Scope, func(ctx context.Context, b Backend, scope analytics.Scope) ([]analytics.Line, error) {
		q := q
		q.Scope = scope
		return b.Lines(ctx, q)
	})
}

// joined answers a query to several shards, and counts distinct visitors exactly.
func (s *Store) joined(sel *selection, q analytics.Query) ([]analytics.Line, error) {
	each := q
	if !q.ByLink { // a link is in one shard, so the first links of all are among the first links of each
		each.Limit, each.TopFirst = 0, false
	}
	answers, err := lines(sel, each)
	if err != nil {
		return nil, err
	}
	lines, shared := merged(answers)
	if q.Visitors && len(shared) > 0 {
		visitors, err := s.visitors(sel, q, shared)
		if err != nil {
			return nil, err
		}
		for i := range lines {
			if n, some := visitors[groupOf(&lines[i])]; some {
				lines[i].Visitors = n
			}
		}
	}
	slices.SortFunc(lines, func(a, b analytics.Line) int {
		first := 0
		if q.TopFirst {
			first = cmp.Compare(b.Clicks, a.Clicks)
		}
		return cmp.Or(first, comparePeriods(a.Period, b.Period), cmp.Compare(a.Link, b.Link), cmp.Compare(a.Value, b.Value))
	})
	if q.Limit > 0 && len(lines) > q.Limit {
		lines = lines[:q.Limit]
	}
	return lines, nil
}

func comparePeriods(a, b analytics.Period) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.At, b.At), cmp.Compare(a.Hour, b.Hour))
}

// merged adds up the lines of each group. shared has the sum of the visitors of each group that several shards have.
func merged(answers [][]analytics.Line) (lines []analytics.Line, shared map[group]int64) {
	shared, at := map[group]int64{}, map[group]int{}
	lines = []analytics.Line{}
	for _, answer := range answers {
		for i := range answer {
			l := &answer[i]
			key := groupOf(l)
			have, known := at[key]
			if !known {
				at[key] = len(lines)
				lines = append(lines, *l)
				continue
			}
			sum := &lines[have]
			if sum.Visitors > 0 && l.Visitors > 0 {
				shared[key] = sum.Visitors + l.Visitors
			}
			sum.Clicks += l.Clicks
			sum.Visitors += l.Visitors
			sum.Last = max(sum.Last, l.Last)
		}
	}
	return lines, shared
}

// visitorsAtOnce is about how many visitors are in memory while they are joined, 40 bytes each. Tests lower it.
var visitorsAtOnce int64 = 1_000_000

// visitors counts the distinct visitors of groups that several shards have. It joins one part of the visitors at a time, so
// memory is bounded however many there are.
func (s *Store) visitors(sel *selection, q analytics.Query, shared map[group]int64) (map[group]int64, error) {
	total := int64(0)
	number := make(map[group]int32, len(shared))
	for key, n := range shared {
		total += n
		number[key] = int32(len(number))
	}
	counts := make([]int64, len(number))
	type visit struct {
		visitor int64
		group   int32
	}
	parts := int(total/visitorsAtOnce) + 1
	for part := range parts {
		seen := map[visit]struct{}{}
		for i, sh := range sel.shards { // one after the other, because they add to the same set
			q := q
			q.Scope = sel.of(i, q.Scope)
			if err := eachShard(sel, []*shard{sh}, func(ctx context.Context, _ int, b Backend) error {
				return b.EachVisitor(ctx, q, part, parts, func(l analytics.Line, visitor int64) error {
					if n, some := number[groupOf(&l)]; some {
						seen[visit{visitor, n}] = struct{}{}
					}
					return nil
				})
			}); err != nil {
				return nil, err
			}
		}
		for v := range seen {
			counts[v.group]++
		}
	}
	found := make(map[group]int64, len(number))
	for key, n := range number {
		found[key] = counts[n]
	}
	return found, nil
}

// Breakdown implements analytics.Store.
func (s *Store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	sel, err := s.selected(ctx, scope)
	if err != nil {
		return nil, err
	}
	defer sel.end()
	first := limit
	if len(sel.shards) > 1 {
		first = math.MaxInt64 // a value that is nowhere among the first may be the first in the sum
	}
	answers, err := asked(sel, scope,
		func(ctx context.Context, b Backend, scope analytics.Scope) (map[analytics.Dimension][]analytics.Count,
			error) {
			return b.Breakdown(ctx, scope, dims, first)
		})
	if err != nil || len(answers) == 1 {
		return answers[0], err
	}
	sums := map[analytics.Dimension]map[string]int64{}
	for _, answer := range answers {
		for d, counts := range answer {
			if sums[d] == nil {
				sums[d] = map[string]int64{}
			}
			for _, c := range counts {
				sums[d][c.Value] += c.Clicks
			}
		}
	}
	found := make(map[analytics.Dimension][]analytics.Count, len(sums))
	for d, values := range sums {
		counts := make([]analytics.Count, 0, len(values))
		for value, n := range values {
			counts = append(counts, analytics.Count{Value: value, Clicks: n})
		}
		slices.SortFunc(counts, func(a, b analytics.Count) int {
			return cmp.Or(cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Value, b.Value))
		})
		found[d] = counts[:min(limit, len(counts))]
	}
	return found, nil
}

// Drift implements analytics.Store. Intervals counts a quarter hour once for each shard that has clicks in it.
func (s *Store) Drift(ctx context.Context, from, to time.Time) (sum analytics.Drift, err error) {
	answers, err := answers(ctx, s, analytics.Scope{},
		func(ctx context.Context, b Backend, scope analytics.Scope) (analytics.Drift, error) {
			return b.DriftWithout(ctx, from, to, scope.NotOwners)
		})
	for _, d := range answers {
		sum.Intervals, sum.Clicks, sum.Short = sum.Intervals+d.Intervals, sum.Clicks+d.Clicks, sum.Short+d.Short
		sum.Hours = append(sum.Hours, d.Hours...)
	}
	slices.Sort(sum.Hours)
	sum.Hours = slices.Compact(sum.Hours)
	return sum, err
}
