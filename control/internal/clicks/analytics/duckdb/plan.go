package duckdb

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/each"
)

// span is a range of times in Unix milliseconds; to is exclusive.
type span struct{ from, to int64 }

// plan decides what is read where: days from first to end (exclusive) from the rollup, except for the raw spans, which
// are read from the clicks.
type plan struct {
	first, end int64
	raw        []span
}

// maxSpans is the maximum number of spans in a statement. If there are more, everything from the first to the last is
// read raw.
const maxSpans = 200

// plan computes the plan of a range of times; 0 means no bound. It reports whether the rollup is of use.
func (r *rollup) plan(from, to int64) (plan, bool) {
	p := plan{first: firstDay, end: lastDay}
	head, tail := span{math.MinInt64 + 1, firstDay * dayMillis}, span{lastDay * dayMillis, math.MaxInt64}
	if from != 0 {
		p.first = max((max(from, 0)+dayMillis-1)/dayMillis, firstDay)
		head = span{from, p.first * dayMillis}
	}
	if to != 0 {
		p.end = min(max(to, 0)/dayMillis, lastDay)
		tail = span{p.end * dayMillis, to}
	}
	if p.first >= p.end {
		return plan{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		return plan{}, false
	}
	var days []int64
	for day := range r.dirty {
		if day >= p.first && day < p.end {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	for _, day := range days {
		p.raw = follow(p.raw, span{day * dayMillis, (day + 1) * dayMillis})
	}
	if len(p.raw) > maxSpans {
		p.raw = []span{{p.raw[0].from, p.raw[len(p.raw)-1].to}}
	}
	if head.from < head.to {
		p.raw = append([]span{head}, p.raw...)
	}
	if tail.from < tail.to {
		p.raw = append(p.raw, tail)
	}
	return p, true
}

// follow appends a span, joined to the last one if it is adjacent.
func follow(list []span, next span) []span {
	if n := len(list); n > 0 && list[n-1].to == next.from {
		list[n-1].to = next.to
		return list
	}
	return append(list, next)
}

// times renders the condition that a click is read raw.
func (p plan) times() string {
	if len(p.raw) == 0 {
		return "1 = 0"
	}
	parts := each.Of(p.raw, func(sp span) string { return fmt.Sprintf("ts >= %d AND ts < %d", sp.from, sp.to) })
	return "(" + strings.Join(parts, " OR ") + ")"
}

// covers renders the condition that a row of the rollup is read. The column has its unit, a day or a slot, which is the
// given number of units long.
func (p plan) covers(column string, units int64) string {
	text := fmt.Sprintf("%[1]s >= %[2]d AND %[1]s < %[3]d", column, p.first*units, p.end*units)
	for _, sp := range p.raw {
		from, to := max(sp.from/dayMillis, p.first), min(sp.to/dayMillis, p.end)
		if from < to {
			text += fmt.Sprintf(" AND NOT (%[1]s >= %[2]d AND %[1]s < %[3]d)", column, from*units, to*units)
		}
	}
	return text
}

// dimension returns the only dimension on whose column the scope and the given dimensions depend, or None. ok is false
// if there is more than one.
func dimension(scope analytics.Scope, dims ...analytics.Dimension) (only analytics.Dimension, ok bool) {
	for _, m := range scope.Match {
		dims = append(dims, m.By)
	}
	if scope.Routed {
		dims = append(dims, analytics.Rule)
	}
	if scope.Drawn {
		dims = append(dims, analytics.Variant)
	}
	for _, d := range dims {
		if d == analytics.Site {
			d = analytics.Referer
		}
		if d == analytics.None || d == only {
			continue
		}
		if only != analytics.None || !slices.Contains(rolled, d) {
			return analytics.None, false
		}
		only = d
	}
	return only, true
}

// rolled renders the part of the rollup that has the figures by a dimension, as a table with the columns ms, bot, n,
// last_ms, the keys of the level and the dimension's. Figures without a dimension have the keys of ofLink.
func (p plan) rolled(d analytics.Dimension, lv level) string {
	if d == analytics.None {
		return fmt.Sprintf("(SELECT slot * %d AS ms, link, owner, bot, clicks AS n, last AS last_ms FROM rollup_counts WHERE %s) AS rolled",
			slotMillis, p.covers("slot", daySlots))
	}
	return fmt.Sprintf(
		"(SELECT day * %d AS ms, %sbot, clicks AS n, last AS last_ms, value AS %s FROM rollup_values%s WHERE dim = %d AND %s) AS rolled",
		dayMillis, lv.keys, d, lv.suffix, d, p.covers("day", 1))
}

// referers renders a table with all referrers of the plan's clicks in its column referer. There are far fewer rows
// than clicks.
func (p plan) referers() string {
	return fmt.Sprintf(
		"(SELECT value AS referer FROM rollup_values_all WHERE dim = %d AND %s UNION ALL SELECT referer FROM clicks WHERE %s) AS known",
		analytics.Referer, p.covers("day", 1), p.times())
}

// sampled renders a query of the visitors in the sample. Its rows are clicks, so it answers every query.
func (p plan) sampled(q analytics.Query) analytics.Statement {
	columns := "ts AS ms, visitor"
	if q.ByLink {
		columns += ", link"
	}
	if q.By != analytics.None {
		columns += ", " + q.By.Column()
	}
	bare := q.Scope
	bare.From, bare.To = 0, 0
	where := bare.Condition(p.referers())
	from := analytics.Statement{Text: fmt.Sprintf("(SELECT %s FROM rollup_sample WHERE %s AND %s", columns, p.covers("ts", dayMillis),
		where.Text), Args: where.Args}
	if len(p.raw) > 0 {
		from.Text += fmt.Sprintf(" UNION ALL SELECT %s FROM clicks WHERE %s AND %s", columns, p.times(), where.Text)
		from.Args = slices.Concat(where.Args, where.Args)
	}
	from.Text += ") AS sampled"
	return q.Render(analytics.Source{From: from, Time: "ms", Value: q.By.String(), Clicks: "count(*)", Visitors: "count(DISTINCT visitor)",
		Last: "coalesce(max(ms), 0)"})
}

// lines renders a query.
func (s *Store) lines(q analytics.Query) analytics.Statement {
	if st, ok := s.visitors(q); ok {
		return st
	}
	p, ok := s.rollup.plan(q.From, q.To)
	if !ok {
		return q.SQL("clicks")
	}
	if q.Sampled {
		return p.sampled(q)
	}
	d, ok := dimension(q.Scope, q.By)
	if !ok || q.Visitors || d == analytics.None && !q.OnQuarters() || d != analytics.None && !q.OnDays() {
		return q.SQLWith("clicks", p.referers())
	}
	var columns string
	lv := levelOf(q.Scope)
	if q.ByLink {
		columns, lv = "link, ", ofLink
	}
	if q.By != analytics.None {
		columns += q.By.Column() + ", "
	}
	bare := q.Scope
	bare.From, bare.To = 0, 0
	where := bare.Condition(p.referers())
	from := analytics.Statement{Text: fmt.Sprintf("(SELECT %sms, n, last_ms FROM %s WHERE %s", columns, p.rolled(d, lv), where.Text),
		Args: where.Args}
	if len(p.raw) > 0 {
		from.Text += fmt.Sprintf(" UNION ALL SELECT %sts AS ms, 1 AS n, ts AS last_ms FROM clicks WHERE %s AND %s", columns,
			p.times(), where.Text)
		from.Args = slices.Concat(where.Args, where.Args)
	}
	from.Text += ") AS counted"
	return q.Render(analytics.Source{From: from, Time: "ms", Value: q.By.String(), Clicks: "coalesce(sum(n), 0)",
		Last: "coalesce(max(last_ms), 0)"})
}

// breakdown renders a breakdown.
func (s *Store) breakdown(scope analytics.Scope, dims []analytics.Dimension, limit int) analytics.Statement {
	p, ok := s.rollup.plan(scope.From, scope.To)
	if !ok {
		return analytics.BreakdownSQL("clicks", scope, dims, limit)
	}
	filtered, ok := dimension(scope)
	if filtered != analytics.None {
		_, ok = dimension(scope, dims...)
	}
	if !ok || scope.Sampled || slices.ContainsFunc(dims, func(d analytics.Dimension) bool {
		return d != analytics.Site && !slices.Contains(rolled, d)
	}) {
		return analytics.BreakdownWith("clicks", p.referers(), scope, dims, limit)
	}
	bare := scope
	bare.From, bare.To = 0, 0
	where := bare.Condition(p.referers())
	lv := levelOf(scope)
	source := analytics.Source{Clicks: "count(*)"}
	source.From = analytics.Statement{Text: fmt.Sprintf("clicks WHERE %s AND %s", p.times(), where.Text), Args: where.Args}
	source.Counts = func(stored []analytics.Dimension, raw analytics.Statement) analytics.Statement {
		if filtered != analytics.None {
			stored = []analytics.Dimension{filtered} // the condition names its column
		}
		numbers := each.Of(stored, func(d analytics.Dimension) string { return fmt.Sprint(uint8(d)) })
		table := fmt.Sprintf("(SELECT dim, %sbot, clicks, value FROM rollup_values%s WHERE dim IN (%s) AND %s) AS rolled",
			lv.keys, lv.suffix,
			strings.Join(numbers, ", "), p.covers("day", 1))
		if filtered != analytics.None {
			table = fmt.Sprintf("(SELECT dim, %sbot, clicks, value, value AS %s FROM rollup_values%s WHERE dim = %s AND %s) AS rolled",
				lv.keys, filtered, lv.suffix, numbers[0], p.covers("day", 1))
		}
		st := analytics.Statement{Text: fmt.Sprintf("SELECT CAST(dim AS BIGINT) AS dim, value, clicks FROM %s WHERE %s", table, where.Text),
			Args: where.Args}
		if len(p.raw) > 0 {
			st.Text += " UNION ALL " + raw.Text
			st.Args = slices.Concat(where.Args, raw.Args)
		}
		st.Text = "SELECT dim, value, CAST(sum(clicks) AS BIGINT) AS clicks FROM (" + st.Text + ") AS parts GROUP BY dim, value"
		return st
	}
	return analytics.RenderBreakdown(source, dims, limit)
}
