package duckdb

import (
	"context"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// RawLines and RawBreakdown answer from the clicks alone.
func (s *Store) RawLines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	return analytics.Reader(s.each).Lines(ctx, q.SQL("clicks"), q)
}

func (s *Store) RawBreakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	return analytics.Reader(s.each).Breakdown(ctx, analytics.BreakdownSQL("clicks", scope, dims, limit))
}

// Run executes a statement as another program could.
func (s *Store) Run(ctx context.Context, text string) error {
	_, err := s.db.ExecContext(ctx, text)
	return err
}
