package archive

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// full turns the error of a full disk into a problem that callers may see.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &problem.Error{Kind: problem.Unavailable, Message: "The disk for temporary files is full."}
	}
	return err
}

// writeFigures reads the clicks twice, once for each format, because a ZIP file is written one member after the other.
func (e *Export) writeFigures(ctx context.Context, w *writer) error {
	days, err := e.service.Temporary()
	if err != nil {
		return err
	}
	defer days.Close()
	sums := newDays(days, e.links)
	clicks := func(f func(*clickRow) error) error { return e.eachClick(ctx, f) }
	err = w.addMember(clicksName, sheet(clickFile, func(f func(*clickRow) error) error {
		return clicks(func(r *clickRow) error {
			if err := sums.count(r); err != nil {
				return err
			}
			return f(r)
		})
	}))
	if err == nil {
		err = sums.flush()
	}
	if err != nil {
		return full(err)
	}
	if _, err := days.Seek(0, io.SeekStart); err != nil {
		return err
	}
	conversions := func(f func(*conversionRow) error) error { return e.eachConversion(ctx, f) }
	for _, member := range []struct {
		name string
		f    func(io.Writer) (int64, error)
	}{
		{daysName, func(to io.Writer) (int64, error) { return sums.rows, copied(to, days) }},
		{clicksParquet, table(clickFile, clicks)},
		{conversionsName, sheet(conversionFile, conversions)},
		{conversionParquet, table(conversionFile, conversions)},
	} {
		if err := w.addMember(member.name, member.f); err != nil {
			return err
		}
	}
	return nil
}

func copied(to io.Writer, from io.Reader) error {
	_, err := io.Copy(to, from)
	return err
}

// eachClick calls f with the clicks of the links of the archive, newest first.
func (e *Export) eachClick(ctx context.Context, f func(*clickRow) error) error {
	return e.service.clicks.Clicks(ctx, e.scope, math.MaxInt, func(r *analytics.Row) error {
		l, ok := e.links[r.Link]
		if !ok { // its link was deleted
			return nil
		}
		return f(&clickRow{*r, r.ID(), l.id})
	})
}

func (e *Export) eachConversion(ctx context.Context, f func(*conversionRow) error) error {
	return e.service.clicks.EachConversion(ctx, e.scope, "", math.MaxInt, func(c *analytics.Conversion) error {
		l, ok := e.links[c.Row.Link]
		if !ok {
			return nil
		}
		row := conversionRow{clickRow{c.Row, "", l.id}, *c}
		if c.Attributed {
			row.id = c.Row.ID()
		}
		return f(&row)
	})
}

// dayMillis is the length of a day in UTC, in milliseconds.
const dayMillis = 24 * 60 * 60 * 1000

// days sums up clicks by day and link. Clicks come newest first, so only one day is in memory.
type days struct {
	to    *csv.Writer
	links map[uint64]exported
	day   int64
	sums  map[uint64]*daySum
	rows  int64
}

type daySum struct{ people, bots int64 }

func newDays(to *os.File, links map[uint64]exported) *days {
	d := &days{to: csv.NewWriter(to), links: links, sums: map[uint64]*daySum{}}
	_ = d.to.Write([]string{"day", "link_id", "domain", "slug", "clicks", "bot_clicks"}) // a csv.Writer keeps its first error
	return d
}

func (d *days) count(r *clickRow) error {
	if day := r.Time / dayMillis; day != d.day {
		if err := d.flush(); err != nil {
			return err
		}
		d.day = day
	}
	sum := d.sums[r.Link]
	if sum == nil {
		sum = &daySum{}
		d.sums[r.Link] = sum
	}
	if r.Bot {
		sum.bots++
	} else {
		sum.people++
	}
	return nil
}

// flush writes the present day.
func (d *days) flush() error {
	day := Time(d.day * dayMillis).String()[:10]
	for _, num := range slices.SortedFunc(maps.Keys(d.sums), func(a, b uint64) int { return cmp.Compare(d.links[a].id, d.links[b].id) }) {
		l, sum := d.links[num], d.sums[num]
		_ = d.to.Write([]string{day, l.id, l.domain, l.slug, strconv.FormatInt(sum.people, 10), strconv.FormatInt(sum.bots, 10)})
		d.rows++
	}
	clear(d.sums)
	d.to.Flush()
	return d.to.Error()
}
