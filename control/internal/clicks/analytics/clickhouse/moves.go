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

// LoggedMoves returns the copies of all logs, for another server of the shard.
func (s *Store) LoggedMoves(ctx context.Context) (list []analytics.LoggedMove, err error) {
	var m analytics.LoggedMove
	err = s.each(ctx, analytics.Statement{Text: `SELECT DISTINCT log, workspace, link, revision, inside FROM link_moves`}, func() error {
		list = append(list, m)
		return nil
	}, &m.Log, &m.Workspace, &m.Link, &m.Revision, &m.Inside)
	return list, wrap("read the moves of links", err)
}

// AddLoggedMoves adds to the copies of logs what another server has. Moves come before positions, as in InsertMoves.
func (s *Store) AddLoggedMoves(ctx context.Context, list []analytics.LoggedMove) error {
	at := func(position bool) (part []analytics.LoggedMove) {
		for _, m := range list {
			if (m.Workspace == 0) == position {
				part = append(part, m)
			}
		}
		return part
	}
	for _, rows := range [][]analytics.LoggedMove{at(false), at(true)} {
		if err := s.insert(ctx, "link_moves", len(rows), []field{
			{"log", column(rows, func(m *analytics.LoggedMove) int64 { return m.Log })},
			{"workspace", column(rows, func(m *analytics.LoggedMove) int64 { return m.Workspace })},
			{"link", column(rows, func(m *analytics.LoggedMove) int64 { return m.Link })},
			{"revision", column(rows, func(m *analytics.LoggedMove) int64 { return m.Revision })},
			{"inside", column(rows, func(m *analytics.LoggedMove) uint8 { return m.Inside })},
		}); err != nil {
			return wrap("copy the moves of links", err)
		}
	}
	return nil
}

// here prepares a scope for a single server or a cluster.
func (d dialect) here(scope analytics.Scope) analytics.Scope {
	scope.Moves.Global = d.Cluster != ""
	return scope
}
