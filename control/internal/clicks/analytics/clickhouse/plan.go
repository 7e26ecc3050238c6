package clickhouse

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// slotMillis is the length of a slot: a quarter hour of UTC. All zones of today are whole quarter hours from UTC, so
// every day in every zone is a number of whole slots.
const slotMillis = 15 * 60 * 1000

// slotOf is a time's slot. Times before 1970 are all in the first.
func slotOf(ms int64) uint32 { return uint32(max(ms, 0) / slotMillis) }

// span is a range of times in Unix milliseconds, to not included.
type span struct{ from, to int64 }

// plan says what of a scope is read where: the slots from first to end (not included) from the rollup, but for the
// spans that are read from the clicks themselves.
type plan struct {
	first, end uint32
	raw        []span
	clean      bool // any slot at all is in the rollup
}

// most spans are in a statement's text; when there are more, all between the first and the last is read raw.
const most = 200

// states lists what marks say of slots, and builds: dirty is where they differ. Its values are the first slot and the
// end, twice. Every report asks it first, so it is one pass: a join of the two costs half as much again.
const states = `SELECT slot, sum(n) AS written, max(marks) AS built FROM
	(SELECT slot, max(n) AS n, toUInt64(0) AS marks FROM rollup_marks WHERE slot >= ? AND slot < ? GROUP BY slot, writer
	UNION ALL SELECT slot, toUInt64(0) AS n, marks FROM rollup_builds WHERE slot >= ? AND slot < ?) AS m GROUP BY slot HAVING written > 0`

func bounds(first, end uint32) []any {
	return []any{int64(first), int64(end), int64(first), int64(end)}
}

// plan is made, and what it says is read, under one hold of s.whole.
func (s *Store) plan(ctx context.Context, scope analytics.Scope) (plan, error) {
	end := int64(math.MaxUint32)
	if scope.To != 0 {
		end = max(scope.To, 0) / slotMillis
	}
	p := plan{first: uint32((max(scope.From, 0) + slotMillis - 1) / slotMillis), end: uint32(end)}
	if p.first >= p.end {
		return plan{}, nil
	}
	var dirty []uint32
	var clean uint64
	err := s.ask(ctx, analytics.Statement{
		Text: `SELECT arraySort(groupArrayIf(slot, written != built)), countIf(written = built) FROM (` + states + `)`, Args: bounds(p.first, p.end),
	}, func() error { return nil }, &dirty, &clean)
	if err != nil || clean == 0 {
		return plan{}, err
	}
	p.clean = true
	for _, slot := range dirty {
		p.raw = follow(p.raw, span{int64(slot) * slotMillis, (int64(slot) + 1) * slotMillis})
	}
	if len(p.raw) > most {
		p.raw = []span{{p.raw[0].from, p.raw[len(p.raw)-1].to}}
	}
	if at := int64(p.first) * slotMillis; scope.From < at && scope.From != 0 {
		p.raw = append([]span{{scope.From, at}}, p.raw...)
	}
	if at := end * slotMillis; scope.To > at {
		p.raw = append(p.raw, span{at, scope.To})
	}
	return p, nil
}

// follow adds a span to those before it.
func follow(list []span, next span) []span {
	if n := len(list); n > 0 && list[n-1].to == next.from {
		list[n-1].to = next.to
		return list
	}
	return append(list, next)
}

// times renders that a time is in one of the spans, and slots that a slot is.
func times(list []span) string {
	parts := make([]string, len(list))
	for i, sp := range list {
		parts[i] = fmt.Sprintf("ts >= fromUnixTimestamp64Milli(%d) AND ts < fromUnixTimestamp64Milli(%d)", sp.from, sp.to)
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

func slots(list []span) string {
	parts := make([]string, len(list))
	for i, sp := range list {
		parts[i] = fmt.Sprintf("slot >= %d AND slot < %d", sp.from/slotMillis, (sp.to+slotMillis-1)/slotMillis)
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// chosen renders the builds that count in the plan's slots. A build is of one slot only.
func (p plan) chosen() string {
	text := fmt.Sprintf("SELECT argMax(build, (marks, build)) FROM rollup_builds WHERE slot >= %d AND slot < %d", p.first, p.end)
	if len(p.raw) > 0 {
		text += " AND NOT " + slots(p.raw)
	}
	return text + " GROUP BY slot"
}

// source is what a report reads: columns are those of clicks that it groups or counts by, besides time.
func (s *Store) source(scope analytics.Scope, p plan, columns ...string) analytics.Source {
	table := "rollup_counts"
	for _, c := range columns {
		if c != "link" && c != "variant" && c != "rule" {
			table = "rollup_visits"
		}
	}
	list := strings.Join(append(columns, ""), ", ")
	bare := scope
	bare.From, bare.To = 0, 0
	where := bare.Condition()
	from := analytics.Statement{Args: where.Args}
	from.Text = fmt.Sprintf("(SELECT %stoInt64(slot) * %d AS ms, toUInt64(clicks) AS n, ms + last AS last_ms FROM %s WHERE %s AND slot >= %d AND slot < %d AND build %s (%s)",
		list, slotMillis, table, where.Text, p.first, p.end, s.dialect.In(), p.chosen())
	if scope.Owner != 0 && scope.Links == nil {
		from.Text += " AND link " + s.dialect.In() + " (SELECT link FROM rollup_owners WHERE owner = ?)"
		from.Args = append(from.Args, int64(scope.Owner))
	}
	if len(p.raw) > 0 {
		from.Text += fmt.Sprintf(" UNION ALL SELECT %stoUnixTimestamp64Milli(ts) AS ms, toUInt64(1) AS n, ms AS last_ms FROM %s WHERE %s AND %s", list, clicks, where.Text, times(p.raw))
		from.Args = append(from.Args, where.Args...)
	}
	from.Text += ") AS counted"
	return analytics.Source{From: from, Time: "ms", Clicks: "sum(n)", Visitors: "uniqExact(visitor)", Last: "coalesce(max(last_ms), 0)"}
}

// lines renders a query, and breakdown one of those.
func (s *Store) lines(ctx context.Context, q analytics.Query) (analytics.Statement, error) {
	if q.ByDay && !q.OnQuarters(q.Zone) {
		return q.SQL(clicks), nil
	}
	p, err := s.plan(ctx, q.Scope)
	if err != nil || !p.clean {
		return q.SQL(clicks), err
	}
	var columns []string
	if q.ByLink {
		columns = append(columns, "link")
	}
	if q.By != analytics.None {
		columns = append(columns, q.By.String())
	}
	if q.Visitors {
		columns = append(columns, "visitor")
	}
	source := s.source(q.Scope, p, columns...)
	source.Value = q.By.String()
	return q.Render(source), nil
}

func (s *Store) breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension, limit int) (analytics.Statement, error) {
	p, err := s.plan(ctx, scope)
	if err != nil || !p.clean {
		return analytics.BreakdownSQL(clicks, scope, dims, limit), err
	}
	columns := make([]string, len(dims))
	for i, d := range dims {
		columns[i] = d.String()
	}
	return analytics.RenderBreakdown(s.source(scope, p, columns...), dims, limit), nil
}
