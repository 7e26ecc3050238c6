package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	conns "github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// clicks is the table as every reader must read it: without repetitions.
const clicks = "clicks FINAL"

// Marks implements analytics.Store.
func (s *Store) Marks(ctx context.Context) ([]analytics.Mark, error) {
	list, err := analytics.Reader(s.each).Marks(ctx, "lane_marks FINAL")
	return list, wrap("read lane marks", err)
}

// Losses implements analytics.Store.
func (s *Store) Losses(ctx context.Context) (n uint64, err error) {
	err = s.each(ctx, analytics.Statement{Text: `SELECT CAST(sum(lost_to - lost_from + 1) AS UInt64) FROM losses FINAL`}, func() error {
		return nil
	}, &n)
	return n, wrap("count losses", err)
}

// Gaps implements analytics.Store.
func (s *Store) Gaps(ctx context.Context, since time.Time, limit int) ([]analytics.Gap, error) {
	// Repetitions of a click form one span, so the tables need not be FINAL.
	list, err := analytics.Reader(s.each).Gaps(ctx, since, limit)
	return list, wrap("look for gaps", err)
}

// Lines implements analytics.Store.
func (s *Store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	s.whole.RLock()
	defer s.whole.RUnlock()
	var p plan
	if q.Visitors || q.OnQuarters() {
		var err error
		if p, err = s.plan(ctx, q.Scope); err != nil {
			return nil, wrap("plan a query of clicks", err)
		}
	}
	list, err := analytics.CountVisitors(q, s.exact, func(q analytics.Query) ([]analytics.Line, error) {
		st := s.lines(q, p)
		ask := func() ([]analytics.Line, error) { return analytics.Reader(s.query).Lines(ctx, st, q) }
		if !q.Sampled {
			return ask()
		}
		return analytics.Once(ctx, sampleKey{s, st.Text, fmt.Sprintf("%#v", st.Args)}, ask) // usually two parts of a report ask for it
	})
	return list, wrap("query clicks", err)
}

// sampleKey names the question for the sampled visitors of a scope.
type sampleKey struct {
	store      *Store
	text, args string
}

// Breakdown implements analytics.Store.
func (s *Store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	s.whole.RLock()
	defer s.whole.RUnlock()
	st, err := s.breakdown(ctx, scope, dims, limit)
	if err != nil {
		return nil, wrap("plan a breakdown of clicks", err)
	}
	found, err := analytics.Reader(s.query).Breakdown(ctx, st)
	return found, wrap("break clicks down", err)
}

// page is the number of clicks in one read. Each page costs the server a pass over the period.
const page = 10_000

// Clicks implements analytics.Store.
func (s *Store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	return analytics.Pages(ctx, s.rows, clicks, scope, limit, page, f)
}

// rows runs a statement with the columns of ClicksSQL and calls f with each row. The row is valid only during the call.
func (s *Store) rows(ctx context.Context, st analytics.Statement, f func(*analytics.Row) error) error {
	return analytics.Reader(s.each).Rows(ctx, st, f)
}

// each runs a statement and, for each row, scans into the given variables and calls f.
func (s *Store) each(ctx context.Context, st analytics.Statement, f func() error, into ...any) error {
	s.whole.RLock()
	defer s.whole.RUnlock()
	return s.query(ctx, st, f, into...)
}

// query is like each. The caller holds s.whole.
func (s *Store) query(ctx context.Context, st analytics.Statement, f func() error, into ...any) error {
	text, args := parameters(st)
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var rows conns.Rows
	err := s.retry(ctx, func() (err error) {
		rows, err = s.conn.Query(ctx, text, args...)
		return err
	})
	if err != nil {
		return mark(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return mark(rows.Err())
}

// parameters gives each value of a statement a name and a type, so that the server binds the values. For a ?, the
// driver would paste them into the text. Statements of the port contain a ? only for values.
func parameters(st analytics.Statement) (text string, args []any) {
	var b strings.Builder
	rest := st.Text
	for i, arg := range st.Args {
		at := strings.IndexByte(rest, '?')
		if at < 0 {
			panic("BUG: fewer ? than values in " + st.Text)
		}
		kind := "String"
		if _, ok := arg.(int64); ok {
			kind = "Int64"
		}
		name := "p" + strconv.Itoa(i)
		fmt.Fprintf(&b, "%s{%s:%s}", rest[:at], name, kind)
		rest = rest[at+1:]
		args = append(args, driver.Named(name, arg))
	}
	return b.String() + rest, args
}
