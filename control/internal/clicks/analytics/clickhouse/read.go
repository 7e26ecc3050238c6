package clickhouse

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	conns "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/link"
)

// clicks is the table as every reader must read it: without repetitions.
const clicks = "clicks FINAL"

// Marks implements analytics.Store.
func (s *Store) Marks(ctx context.Context) ([]analytics.Mark, error) {
	list := []analytics.Mark{}
	var m analytics.Mark
	err := s.each(ctx, analytics.Statement{Text: `SELECT edge, epoch, lane, seq FROM lane_marks FINAL ORDER BY edge, epoch, lane`}, func() error {
		list = append(list, m)
		return nil
	}, &m.Edge, &m.Epoch, &m.Lane.Lane, &m.Seq)
	return list, wrap("read lane marks", err)
}

// Losses implements analytics.Store.
func (s *Store) Losses(ctx context.Context) (n uint64, err error) {
	err = s.each(ctx, analytics.Statement{Text: `SELECT CAST(sum(lost_to - lost_from + 1) AS UInt64) FROM losses FINAL`}, func() error { return nil }, &n)
	return n, wrap("count losses", err)
}

// Gaps implements analytics.Store.
func (s *Store) Gaps(ctx context.Context, since time.Time, limit int) ([]analytics.Gap, error) {
	list := []analytics.Gap{}
	var g analytics.Gap
	// Repetitions of a click form one span, so the tables need not be FINAL.
	err := s.each(ctx, analytics.GapsSQL("clicks", "losses", since.UnixMilli(), limit), func() error {
		g.From, g.To = g.From+1, g.To-1
		list = append(list, g)
		return nil
	}, &g.Edge, &g.Epoch, &g.Lane, &g.From, &g.To, &g.Before, &g.After)
	return list, wrap("look for gaps", err)
}

// Lines implements analytics.Store.
func (s *Store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	list := []analytics.Line{}
	var l analytics.Line
	var day, number int64
	var into []any
	if q.ByDay {
		into = append(into, &day)
	}
	if q.ByLink {
		into = append(into, &number)
	}
	if q.By != analytics.None {
		into = append(into, &l.Value)
	}
	into = append(into, &l.Clicks, &l.Visitors, &l.Last)
	s.whole.RLock()
	defer s.whole.RUnlock()
	st, err := s.lines(ctx, q)
	if err != nil {
		return nil, wrap("plan a query of clicks", err)
	}
	err = s.ask(ctx, st, func() error {
		l.Day, l.Link = analytics.Day(day), uint64(number)
		list = append(list, l)
		return nil
	}, into...)
	return list, wrap("query clicks", err)
}

// Breakdown implements analytics.Store.
func (s *Store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension, limit int) (map[analytics.Dimension][]analytics.Count, error) {
	found := make(map[analytics.Dimension][]analytics.Count, len(dims))
	var dim int64
	var c analytics.Count
	s.whole.RLock()
	defer s.whole.RUnlock()
	st, err := s.breakdown(ctx, scope, dims, limit)
	if err != nil {
		return nil, wrap("plan a breakdown of clicks", err)
	}
	err = s.ask(ctx, st, func() error {
		d := analytics.Dimension(dim)
		found[d] = append(found[d], c)
		return nil
	}, &dim, &c.Value, &c.Clicks)
	return found, wrap("break clicks down", err)
}

// page is the number of clicks in one read. Each page costs the server a pass over the period.
const page = 10_000

// Clicks implements analytics.Store. It reads page by page. Clicks stored meanwhile may be missing, but none appears
// twice.
func (s *Store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	var last *analytics.Row
	for limit > 0 {
		want := min(limit, page)
		rows, err := s.page(ctx, scope, last, want)
		if err != nil {
			return wrap("read clicks", err)
		}
		for i := range rows { // after the page is read, because f may take long
			r := rows[i]
			if err := f(&r); err != nil {
				return err
			}
		}
		if len(rows) < want {
			return nil
		}
		last, limit = &rows[want-1], limit-want
	}
	return nil
}

func (s *Store) page(ctx context.Context, scope analytics.Scope, after *analytics.Row, limit int) ([]analytics.Row, error) {
	rows := make([]analytics.Row, 0, min(limit, 100))
	err := s.rows(ctx, analytics.ClicksSQL(clicks, scope, after, limit), func(r *analytics.Row) error {
		rows = append(rows, *r)
		return nil
	})
	return rows, err
}

// rows runs a statement with the columns of ClicksSQL and calls f with each row. The row is valid only during the call.
func (s *Store) rows(ctx context.Context, st analytics.Statement, f func(*analytics.Row) error) error {
	var r analytics.Row
	var number, owner int64
	var variant, rule, ip string
	u := &r.UTM
	return s.each(ctx, st, func() error {
		r.Link, r.Owner = uint64(number), uint64(owner)
		r.Variant, r.Rule = idOf(variant), idOf(rule)
		r.IP = netip.Addr{}
		if a, err := netip.ParseAddr(ip); err == nil && !a.IsUnspecified() {
			r.IP = a.Unmap()
		}
		return f(&r)
	}, &r.Edge, &r.Epoch, &r.Lane.Lane, &r.Seq, &r.Time, &number, &owner, &variant, &rule, &ip, &r.Country, &r.Region, &r.City, &r.Device, &r.OS, &r.Browser,
		&r.Referer, &r.UserAgent, &r.Bot, &r.BotName, &u.Source, &u.Medium, &u.Campaign, &u.Term, &u.Content, &u.ID, &u.SourcePlatform, &r.GeoVersion, &r.BotList, &r.EdgeName, &r.EdgeRegion)
}

func idOf(text string) link.ID {
	id, _ := uuid.Parse(text) // "" is the zero id, and everything we wrote is valid
	return link.ID(id)
}

// each runs a statement and, for each row, scans into the given variables and calls f.
func (s *Store) each(ctx context.Context, st analytics.Statement, f func() error, into ...any) error {
	s.whole.RLock()
	defer s.whole.RUnlock()
	return s.ask(ctx, st, f, into...)
}

// ask is like each. The caller holds s.whole.
func (s *Store) ask(ctx context.Context, st analytics.Statement, f func() error, into ...any) error {
	text, args := parameters(st)
	var rows conns.Rows
	err := s.retry(ctx, func() (err error) {
		rows, err = s.conn.Query(ctx, text, args...)
		return err
	})
	if err != nil {
		return err
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
	return rows.Err()
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
