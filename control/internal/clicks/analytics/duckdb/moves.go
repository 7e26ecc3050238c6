package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// MovesPosition implements analytics.Store.
func (s *Store) MovesPosition(ctx context.Context, log uint64) (analytics.Position, error) {
	p, err := analytics.Reader(s.each).Position(ctx, log)
	return p, wrap("read the position of moves", err)
}

// InsertMoves implements analytics.Store.
func (s *Store) InsertMoves(ctx context.Context, log uint64, list []analytics.Move, to analytics.Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("insert moves: the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err := s.write.Raw(func(conn any) error {
		return appendMoves(conn.(driver.Conn), log, append(analytics.MoveRows(list), analytics.PositionRow(to)))
	})
	if err == nil {
		s.shorten(ctx)
	}
	return wrap("insert moves", err)
}

// appendMoves appends rows in one transaction. The position is the last row.
func appendMoves(conn driver.Conn, log uint64, rows []analytics.MoveRow) (err error) {
	a, err := duck.NewAppenderFromConn(conn, "", "link_moves")
	if err != nil {
		return err
	}
	defer func() { err = closeAppender(a, err) }()
	for _, r := range rows {
		if err = a.AppendRow(int64(log), r.Workspace, r.Link, r.Revision, r.Inside); err != nil {
			return err
		}
	}
	return nil
}
