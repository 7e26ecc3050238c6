package analytics

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/link"
)

// Reader runs a statement and, for each row, scans into the given variables and calls f. The methods of Reader read
// the rows of this package's statements for the adapters.
type Reader func(ctx context.Context, st Statement, f func() error, into ...any) error

// Marks reads the high-water marks of a table.
func (read Reader) Marks(ctx context.Context, table string) ([]Mark, error) {
	list := []Mark{}
	var m Mark
	err := read(ctx, Statement{Text: `SELECT edge, epoch, lane, seq FROM ` + table + ` ORDER BY edge, epoch, lane`}, func() error {
		list = append(list, m)
		return nil
	}, &m.Edge, &m.Epoch, &m.Lane.Lane, &m.Seq)
	return list, err
}

// Gaps reads the rows of GapsSQL.
func (read Reader) Gaps(ctx context.Context, since time.Time, limit int) ([]Gap, error) {
	list := []Gap{}
	var g Gap
	err := read(ctx, GapsSQL("clicks", "losses", since.UnixMilli(), limit), func() error {
		g.From, g.To = g.From+1, g.To-1
		list = append(list, g)
		return nil
	}, &g.Edge, &g.Epoch, &g.Lane, &g.From, &g.To, &g.Before, &g.After)
	return list, err
}

// Lines reads the rows of a statement that answers q.
func (read Reader) Lines(ctx context.Context, st Statement, q Query) ([]Line, error) {
	list := []Line{}
	var l Line
	var period, number int64
	var into []any
	if q.Every != NoInterval {
		into = append(into, &period)
	}
	if q.ByLink {
		into = append(into, &number)
	}
	if q.By != None {
		into = append(into, &l.Value)
	}
	into = append(into, &l.Clicks, &l.Visitors, &l.Last)
	err := read(ctx, st, func() error {
		l.Period, l.Link = q.Every.period(period), uint64(number)
		list = append(list, l)
		return nil
	}, into...)
	return list, err
}

// Breakdown reads the rows of a statement like that of BreakdownSQL.
func (read Reader) Breakdown(ctx context.Context, st Statement) (map[Dimension][]Count, error) {
	found := map[Dimension][]Count{}
	var dim int64
	var c Count
	err := read(ctx, st, func() error {
		d := Dimension(dim)
		found[d] = append(found[d], c)
		return nil
	}, &dim, &c.Value, &c.Clicks)
	return found, err
}

// Rows calls f with each row of a statement with the columns of ClicksSQL. The row is valid only during the call. f
// must be fast and must not query.
func (read Reader) Rows(ctx context.Context, st Statement, f func(*Row) error) error {
	return read.rows(ctx, st, f)
}

// rows is Rows for a statement with more columns, which it scans into more.
func (read Reader) rows(ctx context.Context, st Statement, f func(*Row) error, more ...any) error {
	var r Row
	var number, owner int64
	var variant, rule, ip string
	u := &r.UTM
	into := []any{
		&r.Edge, &r.Epoch, &r.Lane.Lane, &r.Seq, &r.Time, &number, &owner, &variant, &rule, &ip, &r.Country, &r.Region, &r.City, &r.Device,
		&r.OS, &r.Browser,
		&r.Referer, &r.UserAgent, &r.Bot, &r.BotName, &u.Source, &u.Medium, &u.Campaign, &u.Term, &u.Content, &u.ID, &u.SourcePlatform,
		&r.GeoVersion, &r.BotList, &r.EdgeName, &r.EdgeRegion, &r.Language, &r.Visitor,
	}
	return read(ctx, st, func() error {
		r.Link, r.Owner = uint64(number), uint64(owner)
		r.Variant, r.Rule = idOf(variant), idOf(rule)
		r.IP, _ = netip.ParseAddr(ip) // "" is no address
		if r.IP.IsUnspecified() {
			r.IP = netip.Addr{} // how one engine stores it
		}
		r.IP = r.IP.Unmap()
		return f(&r)
	}, append(into, more...)...)
}

func idOf(text string) link.ID {
	id, _ := uuid.Parse(text) // "" is the zero id, and everything we wrote is valid
	return link.ID(id)
}

// Pages calls f with at most limit clicks, which rows reads page by page like Reader.Rows. f runs only between two
// pages, because it may be slow, for example during a download. Clicks stored meanwhile may be missing, but none
// appears twice.
func Pages(ctx context.Context, rows func(context.Context, Statement, func(*Row) error) error, table string, scope Scope, limit, page int,
	f func(*Row) error) error {
	return pages("clicks", limit, page, f, func(after *Row, n int) (list []Row, err error) {
		err = rows(ctx, ClicksSQL(table, scope, after, n), func(r *Row) error {
			list = append(list, *r)
			return nil
		})
		return list, err
	})
}

// pages calls f with at most limit items, each a copy. read returns at most n items after one; nil means from the beginning.
func pages[T any](what string, limit, page int, f func(*T) error, read func(after *T, n int) ([]T, error)) error {
	var after *T
	for limit > 0 {
		want := min(limit, page)
		list, err := read(after, want)
		if err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
		for i := range list {
			one := list[i]
			if err := f(&one); err != nil {
				return err
			}
		}
		if len(list) < want {
			return nil
		}
		after, limit = &list[want-1], limit-want
	}
	return nil
}
