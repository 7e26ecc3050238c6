package duckdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Marks implements analytics.Store.
func (s *Store) Marks(ctx context.Context) ([]analytics.Mark, error) {
	list, err := analytics.Reader(s.each).Marks(ctx, "lane_marks")
	return list, wrap("read lane marks", err)
}

// Losses implements analytics.Store.
func (s *Store) Losses(ctx context.Context) (n uint64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT CAST(coalesce(sum(lost_to - lost_from + 1), 0) AS UBIGINT) FROM losses`).Scan(&n)
	return n, wrap("count losses", err)
}

// Gaps implements analytics.Store.
func (s *Store) Gaps(ctx context.Context, since time.Time, limit int) ([]analytics.Gap, error) {
	list, err := analytics.Reader(s.each).Gaps(ctx, since, limit)
	return list, wrap("look for gaps", err)
}

// Drift implements analytics.Store. The store has no precomputed figures.
func (s *Store) Drift(context.Context, time.Time, time.Time) (analytics.Drift, error) {
	return analytics.Drift{}, nil
}

// Lines implements analytics.Store.
func (s *Store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	for {
		outdated := s.rollup.outdated()
		list, err := analytics.CountVisitors(q, s.exact, func(q analytics.Query) ([]analytics.Line, error) {
			return analytics.Reader(s.each).Lines(ctx, s.lines(q), q)
		})
		if err != nil || s.rollup.outdated() == outdated {
			return list, wrap("query clicks", err)
		}
		// Figures that the statement was to read may have been deleted before it ran.
	}
}

// Breakdown implements analytics.Store.
func (s *Store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	found, err := analytics.Reader(s.each).Breakdown(ctx, s.breakdown(scope, dims, limit))
	return found, wrap("break clicks down", err)
}

// page is how many clicks are read at a time. Sorting them uses most of the memory of an export.
const page = 5000

// Clicks implements analytics.Store.
func (s *Store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	return analytics.Pages(ctx, analytics.Reader(s.each).Rows, "clicks", scope, limit, page, f)
}

// each runs a statement and, for each row, scans into the given variables and calls f. f must be fast and must not
// query.
func (s *Store) each(ctx context.Context, st analytics.Statement, f func() error, into ...any) (err error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	rows, err := s.db.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
