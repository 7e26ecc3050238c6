package analytics

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/shortline/shortline/shared/conversion"
)

// ConversionLines reads the rows of Query.ConversionSQL.
func (read Reader) ConversionLines(ctx context.Context, st Statement, q Query) ([]ConversionLine, error) {
	list := []ConversionLine{}
	var l ConversionLine
	var period, number, high, low int64
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
	into = append(into, &l.Currency, &l.Conversions, &high, &low)
	err := read(ctx, st, func() error {
		l.Period, l.Link, l.Revenue = q.Every.period(period), uint64(number), joined(high, low)
		list = append(list, l)
		return nil
	}, into...)
	return list, err
}

// ConversionBreakdown reads the rows of ConversionBreakdownSQL, which query renders for stored dimensions. It adds up sites from referrers,
// of which there are fewer than conversions.
func (read Reader) ConversionBreakdown(ctx context.Context, dims []Dimension,
	query func([]Dimension) Statement) (map[Dimension][]ConversionLine, error) {
	sites := slices.Contains(dims, Site)
	stored := slices.DeleteFunc(slices.Clone(dims), func(d Dimension) bool { return d == Site })
	if sites && !slices.Contains(stored, Referer) {
		stored = append(stored, Referer)
	}
	found := map[Dimension][]ConversionLine{}
	var l ConversionLine
	var dim, high, low int64
	err := read(ctx, query(stored), func() error {
		l.Revenue = joined(high, low)
		found[Dimension(dim)] = append(found[Dimension(dim)], l)
		return nil
	}, &dim, &l.Value, &l.Currency, &l.Conversions, &high, &low)
	if sites && len(found[Referer]) > 0 {
		found[Site] = sitesOf(found[Referer])
	}
	maps.DeleteFunc(found, func(d Dimension, _ []ConversionLine) bool { return !slices.Contains(dims, d) })
	return found, err
}

// sitesOf adds up the lines of referrers by site.
func sitesOf(referers []ConversionLine) []ConversionLine {
	type key struct{ site, currency string }
	sums := map[key]ConversionLine{}
	for _, l := range referers {
		k := key{SiteOf(l.Value), l.Currency}
		sum := sums[k]
		sum.Value, sum.Currency, sum.Conversions = k.site, k.currency, sum.Conversions+l.Conversions
		if sum.Revenue += l.Revenue; sum.Revenue < 0 { // values are not negative
			sum.Revenue = math.MaxInt64
		}
		sums[k] = sum
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b ConversionLine) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Currency, b.Currency))
	})
}

// Goals reads the rows of GoalsSQL.
func (read Reader) Goals(ctx context.Context, st Statement) ([]GoalLine, error) {
	list := []GoalLine{}
	var l GoalLine
	var high, low int64
	err := read(ctx, st, func() error {
		l.Revenue = joined(high, low)
		list = append(list, l)
		return nil
	}, &l.Goal, &l.Currency, &l.Conversions, &high, &low)
	return list, err
}

// ConvertedClicks reads the rows of ConvertedClicksSQL.
func (read Reader) ConvertedClicks(ctx context.Context, st Statement) (map[string]int64, error) {
	found := map[string]int64{}
	var goal string
	var n int64
	err := read(ctx, st, func() error {
		found[goal] = n
		return nil
	}, &goal, &n)
	return found, err
}

// Arms reads the rows of Experiment.ArmsSQL.
func (read Reader) Arms(ctx context.Context, st Statement) ([]ArmLine, error) {
	list := []ArmLine{}
	var l ArmLine
	var variant string
	err := read(ctx, st, func() error {
		l.Variant = idOf(variant)
		list = append(list, l)
		return nil
	}, &variant, &l.At, &l.Visitors, &l.Converted, &l.Conversions, &l.Revenue, &l.RevenueSquares)
	return list, err
}

// conversions calls f with each row of a statement with the columns of clicks and conversions. rows is what the adapter uses
// for clicks: it calls Reader.Rows, and f with each row. A statement with more columns scans them into more.
func (read Reader) conversions(ctx context.Context, st Statement, f func(*Conversion) error, more ...any) error {
	var c Conversion
	var sender int64
	var once string
	return read.rows(ctx, st, func(r *Row) error {
		c.Row, c.Workspace = *r, uint64(sender)
		c.Click.Link, c.Click.Time = r.Link, r.Time
		return f(&c)
	}, append([]any{&c.Click.Tag, &c.Name, &once, &c.Value, &c.Currency, &c.ExternalID, &c.Repeatable, &c.OccurredAt,
		&c.ReceivedAt, &sender,
		&c.Browser, &c.Attributed}, more...)...)
}

// Conversions returns the rows of UnattributedSQL.
func (read Reader) Conversions(ctx context.Context, st Statement) ([]Conversion, error) {
	list := []Conversion{}
	err := read.conversions(ctx, st, func(c *Conversion) error {
		list = append(list, *c)
		return nil
	})
	return list, err
}

// EachConversion calls f with at most limit conversions, page by page, like Pages.
func (read Reader) EachConversion(ctx context.Context, table string, scope Scope, goal string, limit, page int,
	f func(*Conversion) error) error {
	return pages("conversions", limit, page, f, func(after *Conversion, n int) ([]Conversion, error) {
		return read.Conversions(ctx, EachConversionSQL(table, scope, goal, after, n))
	})
}

// lookUp is how many clicks one statement looks up.
const lookUp = 500

// Chunks calls f with the ids in groups of similar times, so that engines can skip all other times.
func Chunks(ids []conversion.ClickID, f func([]conversion.ClickID) error) error {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b conversion.ClickID) int { return int(min(max(a.Time-b.Time, -1), 1)) })
	for part := range slices.Chunk(ids, lookUp) {
		if err := f(part); err != nil {
			return err
		}
	}
	return nil
}

// FindClicks adds the rows of ClicksAt that ids name to found.
func (read Reader) FindClicks(ctx context.Context, st Statement, ids []conversion.ClickID, found map[conversion.ClickID]Row) error {
	wanted := make(map[conversion.ClickID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	return read.rows(ctx, st, func(r *Row) error {
		if id := (conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Identity.Lane, r.Seq)}); wanted[id] {
			found[id] = *r
		}
		return nil
	})
}

// StoredConversions adds the rows of ConversionsAt that are among wanted to found.
func (read Reader) StoredConversions(ctx context.Context, st Statement, wanted, found map[ConversionKey]bool) error {
	var k ConversionKey
	var number int64
	return read(ctx, st, func() error {
		if k.Click.Link = uint64(number); wanted[k] {
			found[k] = true
		}
		return nil
	}, &number, &k.Click.Time, &k.Click.Tag, &k.Name, &k.Once)
}

// IDsOf returns the clicks of keys, each once.
func IDsOf(keys []ConversionKey) []conversion.ClickID {
	seen := make(map[conversion.ClickID]bool, len(keys))
	var list []conversion.ClickID
	for _, k := range keys {
		if !seen[k.Click] {
			seen[k.Click] = true
			list = append(list, k.Click)
		}
	}
	return list
}
