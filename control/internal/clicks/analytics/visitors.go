package analytics

import (
	"context"
	"fmt"
	"strings"
)

// Distinct visitors of several servers cannot be added up. Instead, each server lists its visitors, and the lists are joined.

// VisitorsSQL renders the distinct visitors of each group of a query: period, link and value as in SQL, then the number of
// the visitor. It lists one of parts disjoint parts of the visitors, from 0 on. The source has the columns that the query
// groups by, and visitor.
func (q Query) VisitorsSQL(source Source, part, parts int) Statement {
	var columns []string
	if q.Every != NoInterval {
		columns = append(columns, "CAST("+q.PeriodOf(source.Time)+" AS BIGINT) AS period")
	}
	if q.ByLink {
		columns = append(columns, "link")
	}
	if q.By != None {
		columns = append(columns, "CAST("+source.Value+" AS VARCHAR) AS value")
	}
	columns = append(columns, "visitor")
	return Statement{"SELECT DISTINCT " + strings.Join(columns, ", ") + " FROM " + source.From.Text +
		fmt.Sprintf(" WHERE (visitor %% %[1]d + %[1]d) %% %[1]d = %[2]d", parts, part), source.From.Args}
}

// Visitors reads the rows of VisitorsSQL. Only the keys of a group are set.
func (read Reader) Visitors(ctx context.Context, st Statement, q Query, f func(group Line, visitor int64) error) error {
	var l Line
	var period, number, visitor int64
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
	return read(ctx, st, func() error {
		l.Period, l.Link = q.Every.period(period), uint64(number)
		return f(l, visitor)
	}, append(into, &visitor)...)
}
