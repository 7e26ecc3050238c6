package sharded

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
)

// segmentsAtOnce is how many segments are read position by position at a time: at most four million positions.
const segmentsAtOnce = 256

// Gaps implements analytics.Store. A position that one shard lacks may be in another one, so shards count positions by
// segments. Only segments whose counts do not add up to their length are read position by position. These are also the
// first and the last segment of each lane.
func (s *Store) Gaps(ctx context.Context, since time.Time, limit int) ([]analytics.Gap, error) {
	from := analytics.GapsFrom(since.UnixMilli())
	segments, err := s.segments(ctx, from)
	if err != nil {
		return nil, err
	}
	losses, err := s.losses(ctx)
	if err != nil {
		return nil, err
	}
	lanes := map[click.Lane][]span{}
	var partial []analytics.LaneSegmentID
	for id, st := range segments {
		if st.Clicks == analytics.LaneSegmentSize {
			lanes[id.Lane] = append(lanes[id.Lane], span{st.First, st.Last, st.FirstAt, st.LastAt})
		} else {
			partial = append(partial, id)
		}
	}
	for _, l := range losses {
		if l.Time >= from {
			lanes[l.Lane] = append(lanes[l.Lane], span{l.Seq, l.Seq, l.Time, l.Time}, span{l.From, l.To, l.Time, l.Time})
		}
	}
	for part := range slices.Chunk(partial, segmentsAtOnce) {
		if err := s.positions(ctx, part, from, lanes); err != nil {
			return nil, err
		}
	}
	gaps := []analytics.Gap{}
	for _, lane := range slices.SortedFunc(maps.Keys(lanes), compareLanes) {
		gaps = append(gaps, between(lane, lanes[lane], since.UnixMilli())...)
		if len(gaps) >= limit {
			return gaps[:limit], nil
		}
	}
	return gaps, nil
}

// span is a range of positions that are stored or reported as lost, and the times of its ends in Unix milliseconds.
type span struct {
	first, last     uint64
	firstAt, lastAt int64
}

// segments adds up the segments of all shards.
func (s *Store) segments(ctx context.Context, from int64) (map[analytics.LaneSegmentID]analytics.LaneSegment, error) {
	answers, err := answers(ctx, s, analytics.Scope{},
		func(ctx context.Context, b Backend, scope analytics.Scope) (list []analytics.LaneSegment, err error) {
			err = b.LaneSegments(ctx, from, scope.NotOwners, func(st analytics.LaneSegment) { list = append(list, st) })
			return list, err
		})
	if err != nil {
		return nil, err
	}
	sums := map[analytics.LaneSegmentID]analytics.LaneSegment{}
	for _, list := range answers {
		for _, st := range list {
			if sum, some := sums[st.LaneSegmentID]; some {
				st.Clicks += sum.Clicks
				if sum.First < st.First {
					st.First, st.FirstAt = sum.First, sum.FirstAt
				}
				if sum.Last > st.Last {
					st.Last, st.LastAt = sum.Last, sum.LastAt
				}
			}
			sums[st.LaneSegmentID] = st
		}
	}
	return sums, nil
}

// positions adds the stored positions of segments to the spans of their lanes, joined where they are adjacent.
func (s *Store) positions(ctx context.Context, ids []analytics.LaneSegmentID, from int64, lanes map[click.Lane][]span) error {
	answers, err := askShards(ctx, s.shards, func(ctx context.Context, b Backend) (list []analytics.LanePosition, err error) {
		err = b.LanePositions(ctx, ids, from, func(p analytics.LanePosition) { list = append(list, p) })
		return list, err
	})
	if err != nil {
		return err
	}
	all := slices.Concat(answers...)
	slices.SortFunc(all, func(a, b analytics.LanePosition) int {
		return cmp.Or(compareLanes(a.Lane, b.Lane), cmp.Compare(a.Seq, b.Seq))
	})
	for i, p := range all {
		spans := lanes[p.Lane]
		if n := len(spans); i > 0 && all[i-1].Lane == p.Lane && n > 0 && spans[n-1].last+1 == p.Seq {
			spans[n-1].last, spans[n-1].lastAt = p.Seq, p.At
			continue
		}
		lanes[p.Lane] = append(spans, span{p.Seq, p.Seq, p.At, p.At})
	}
	return nil
}

// between returns the gaps between the spans of a lane, like analytics.GapsSQL: those that end at since or later.
func between(lane click.Lane, spans []span, since int64) (gaps []analytics.Gap) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last)) })
	reach := spans[0].last
	for i, sp := range spans[1:] {
		if before := spans[i]; sp.first > reach+1 && sp.firstAt >= since {
			gaps = append(gaps, analytics.Gap{Edge: lane.Edge, Range: click.Range{Epoch: lane.Epoch, Lane: lane.Lane, From: reach + 1,
				To: sp.first - 1}, Before: before.lastAt, After: sp.firstAt})
		}
		reach = max(reach, sp.last)
	}
	return gaps
}
