package duckdb

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/link"
)

// Marks implements analytics.Store.
func (s *Store) Marks(ctx context.Context) ([]analytics.Mark, error) {
	list := []analytics.Mark{}
	var m analytics.Mark
	err := s.each(ctx, analytics.Statement{Text: `SELECT edge, epoch, lane, seq FROM lane_marks ORDER BY edge, epoch, lane`}, func() error {
		list = append(list, m)
		return nil
	}, &m.Edge, &m.Epoch, &m.Lane.Lane, &m.Seq)
	return list, wrap("read lane marks", err)
}

// Losses implements analytics.Store.
func (s *Store) Losses(ctx context.Context) (n uint64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT CAST(coalesce(sum(lost_to - lost_from + 1), 0) AS UBIGINT) FROM losses`).Scan(&n)
	return n, wrap("count losses", err)
}

// Gaps implements analytics.Store.
func (s *Store) Gaps(ctx context.Context, since time.Time, limit int) ([]analytics.Gap, error) {
	list := []analytics.Gap{}
	var g analytics.Gap
	err := s.each(ctx, analytics.GapsSQL("clicks", "losses", since.UnixMilli(), limit), func() error {
		g.From, g.To = g.From+1, g.To-1
		list = append(list, g)
		return nil
	}, &g.Edge, &g.Epoch, &g.Lane, &g.From, &g.To, &g.Before, &g.After)
	return list, wrap("look for gaps", err)
}

// Drift implements analytics.Store. The store has no precomputed figures.
func (s *Store) Drift(context.Context, time.Time, time.Time) (analytics.Drift, error) {
	return analytics.Drift{}, nil
}

// Lines implements analytics.Store.
func (s *Store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	list := []analytics.Line{}
	var l analytics.Line
	var into []any
	if q.ByDay {
		into = append(into, &l.Day)
	}
	if q.ByLink {
		into = append(into, &l.Link)
	}
	if q.By != analytics.None {
		into = append(into, &l.Value)
	}
	into = append(into, &l.Clicks, &l.Visitors, &l.Last)
	err := s.each(ctx, q.SQL("clicks"), func() error {
		list = append(list, l)
		return nil
	}, into...)
	return list, wrap("query clicks", err)
}

// Breakdown implements analytics.Store.
func (s *Store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension, limit int) (map[analytics.Dimension][]analytics.Count, error) {
	found := make(map[analytics.Dimension][]analytics.Count, len(dims))
	var d analytics.Dimension
	var c analytics.Count
	err := s.each(ctx, analytics.BreakdownSQL("clicks", scope, dims, limit), func() error {
		found[d] = append(found[d], c)
		return nil
	}, &d, &c.Value, &c.Clicks)
	return found, wrap("break clicks down", err)
}

// page is how many clicks are read at a time. Sorting them uses most of the memory of an export.
const page = 1000

// Clicks implements analytics.Store. It reads page by page. Clicks stored meanwhile may be missing, but none appears
// twice.
func (s *Store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	var after *analytics.Row
	for limit > 0 {
		var r analytics.Row
		var variant, rule, ip string
		want, u := min(limit, page), &r.UTM
		rows := make([]analytics.Row, 0, want)
		err := s.each(ctx, analytics.ClicksSQL("clicks", scope, after, want), func() error {
			r.Variant, r.Rule = idOf(variant), idOf(rule)
			r.IP, _ = netip.ParseAddr(ip) // "" is no address
			rows = append(rows, r)
			return nil
		}, &r.Edge, &r.Epoch, &r.Lane.Lane, &r.Seq, &r.Time, &r.Link, &r.Owner, &variant, &rule, &ip, &r.Country, &r.Region, &r.City, &r.Device, &r.OS, &r.Browser,
			&r.Referer, &r.UserAgent, &r.Bot, &r.BotName, &u.Source, &u.Medium, &u.Campaign, &u.Term, &u.Content, &u.ID, &u.SourcePlatform, &r.GeoVersion, &r.BotList, &r.EdgeName, &r.EdgeRegion)
		if err != nil {
			return wrap("read clicks", err)
		}
		// f may be slow, for example during a download, and must not block the writer.
		for i := range rows {
			if err := f(&rows[i]); err != nil {
				return err
			}
		}
		if len(rows) < want {
			return nil
		}
		after, limit = &rows[want-1], limit-want
	}
	return nil
}

func idOf(text string) link.ID {
	id, _ := uuid.Parse(text) // "" is the zero id, and everything we wrote is valid
	return link.ID(id)
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
