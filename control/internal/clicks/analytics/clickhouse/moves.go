package clickhouse

import (
	"context"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// MovesPosition implements analytics.Store.
func (s *Store) MovesPosition(ctx context.Context, log uint64) (analytics.Position, error) {
	p, err := analytics.Reader(s.each).Position(ctx, log)
	return p, wrap("read the position of moves", err)
}

// InsertMoves implements analytics.Store. The position is inserted last, because an insert into a cluster is not atomic.
func (s *Store) InsertMoves(ctx context.Context, log uint64, list []analytics.Move, to analytics.Position) error {
	for _, rows := range [][]analytics.MoveRow{analytics.MoveRows(list), {analytics.PositionRow(to)}} {
		err := s.insert(ctx, "link_moves", len(rows), []field{
			{"log", column(rows, func(*analytics.MoveRow) int64 { return int64(log) })},
			{"workspace", column(rows, func(r *analytics.MoveRow) int64 { return r.Workspace })},
			{"link", column(rows, func(r *analytics.MoveRow) int64 { return r.Link })},
			{"revision", column(rows, func(r *analytics.MoveRow) int64 { return r.Revision })},
			{"inside", column(rows, func(r *analytics.MoveRow) uint8 { return r.Inside })},
		})
		if err != nil {
			return wrap("insert moves", err)
		}
	}
	return nil
}
