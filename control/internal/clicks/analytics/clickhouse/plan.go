package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/each"
)

// slotMillis is the length of a slot: a quarter hour of UTC. All current zones differ from UTC by whole quarter hours,
// so every day in every zone consists of whole slots.
const slotMillis = 15 * 60 * 1000

// slotOf returns the slot of a time. All times before 1970 are in the first slot.
func slotOf(ms int64) uint32 { return uint32(max(ms, 0) / slotMillis) }

// span is a range of times in Unix milliseconds; to is exclusive.
type span struct{ from, to int64 }

// plan decides what is read where: slots from first to end (exclusive) from the rollup, except for the raw spans, which
// are read from the clicks.
type plan struct {
	first, end uint32
	raw        []span
	clean      bool     // whether any slot can be read from the rollup
	light      bool     // whether the heavy rows of rollup_visits are left out, because rollup_values is read instead
	days       []span   // of the slots from the rollup, the days whose values are read from rollup_day_values
	dayBuilds  []uint64 // the builds of rollup_day_values to read, one for each day in days
}

// maxSpans is the maximum number of spans in a statement. If there are more, everything from the first to the last is read
// raw.
const maxSpans = 200

// states lists the marks and the build of each slot; a slot is dirty if they differ. Its parameters are the first slot
// and the end, twice. Every report runs it first, so it is one pass: a join of the two tables costs half as much again.
const states = `SELECT slot, sum(n) AS written, max(marks) AS built FROM
	(SELECT slot, max(n) AS n, toUInt64(0) AS marks FROM rollup_marks WHERE slot >= ? AND slot < ? GROUP BY slot, writer
	UNION ALL SELECT slot, toUInt64(0) AS n, marks FROM rollup_builds WHERE slot >= ? AND slot < ?) AS m GROUP BY slot HAVING written > 0`

func bounds(first, end uint32) []any {
	return []any{int64(first), int64(end), int64(first), int64(end)}
}

// planKey names the question for the plan of a period.
type planKey struct {
	store    *Store
	from, to int64
}

// plan returns the plan of a scope. All parts of a report get the same plan (analytics.Once), so no caller may change its slices. The
// caller holds s.whole from before the call until it has read the rows.
func (s *Store) plan(ctx context.Context, scope analytics.Scope) (plan, error) {
	return analytics.Once(ctx, planKey{s, scope.From, scope.To}, func() (plan, error) { return s.newPlan(ctx, scope) })
}

func (s *Store) newPlan(ctx context.Context, scope analytics.Scope) (plan, error) {
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
	err := s.query(ctx, analytics.Statement{
		Text: `SELECT arraySort(groupArrayIf(slot, written != built)), countIf(written = built) FROM (` + states + `)`,
		Args: bounds(p.first, p.end),
	}, func() error { return nil }, &dirty, &clean)
	if err != nil || clean == 0 {
		return plan{}, err
	}
	p.clean = true
	for _, slot := range dirty {
		p.raw = follow(p.raw, span{int64(slot) * slotMillis, (int64(slot) + 1) * slotMillis})
	}
	if len(p.raw) > maxSpans {
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

// follow appends a span, joined to the last one if it is adjacent.
func follow(list []span, next span) []span {
	if n := len(list); n > 0 && list[n-1].to == next.from {
		list[n-1].to = next.to
		return list
	}
	return append(list, next)
}

// times renders the condition that a time is in one of the spans; slots does the same for a slot.
func times(list []span) string {
	ranges, single := divide(list)
	parts := make([]string, 0, len(ranges)+1)
	for _, sp := range ranges {
		parts = append(parts, fmt.Sprintf("ts >= fromUnixTimestamp64Milli(%d) AND ts < fromUnixTimestamp64Milli(%d)", sp.from, sp.to))
	}
	if len(single) > 0 {
		// The condition on days is for the index.
		parts = append(parts, fmt.Sprintf("toDate(ts) IN (%s) AND intDiv(toUnixTimestamp64Milli(ts), %d) IN (%s)",
			dates(single), slotMillis, numbers(single)))
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

func slots(list []span) string {
	ranges, single := divide(list)
	parts := make([]string, 0, len(ranges)+1)
	for _, sp := range ranges {
		parts = append(parts, fmt.Sprintf("slot >= %d AND slot < %d", sp.from/slotMillis, (sp.to+slotMillis-1)/slotMillis))
	}
	if len(single) > 0 {
		parts = append(parts, "slot IN ("+numbers(single)+")")
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// maxSingle is the length of the longest span, in slots, that divide replaces by a list of its slots.
const maxSingle = 8

// divide replaces short spans by the numbers of their slots. A report repeats its spans up to eight times, and the server takes four
// times longer to plan a statement with a hundred ranges than one with a list.
func divide(list []span) (ranges []span, single []uint64) {
	for _, sp := range list {
		n := (sp.to - sp.from) / slotMillis
		if n > maxSingle || len(list) == 1 || sp.from%slotMillis != 0 || sp.to%slotMillis != 0 || sp.from < 0 {
			ranges = append(ranges, sp)
			continue
		}
		for i := range n {
			single = append(single, uint64(sp.from/slotMillis+i))
		}
	}
	return ranges, single
}

// dates renders the days of UTC that have some of the slots, which are in ascending order.
func dates(slots []uint64) string {
	var parts []string
	for _, slot := range slots {
		day := time.UnixMilli(int64(slot) * slotMillis).UTC().Format("'2006-01-02'")
		if n := len(parts); n == 0 || parts[n-1] != day {
			parts = append(parts, day)
		}
	}
	return strings.Join(parts, ", ")
}

// chosen renders the selection of the builds that the plan reads. Each build has only one slot.
func (p plan) chosen() string {
	text := fmt.Sprintf("SELECT argMax(build, (marks, build)) FROM rollup_builds WHERE slot >= %d AND slot < %d", p.first, p.end)
	if len(p.raw) > 0 {
		text += " AND NOT " + slots(p.raw)
	}
	if len(p.days) == 0 {
		return text + " GROUP BY slot"
	}
	// Other rollups must be read as the days were, also if a slot is built meanwhile.
	return text + " AND NOT " + slots(p.days) + " GROUP BY slot UNION ALL SELECT arrayJoin(builds) FROM rollup_day_builds WHERE " +
		p.dayPeriod()
}

// source describes what a report reads. columns are the columns of clicks by which it groups or counts, except time.
func (s *Store) source(scope analytics.Scope, p plan, columns ...string) analytics.Source {
	needed := slices.Clone(columns)
	for _, m := range scope.Match {
		needed = append(needed, m.By.Stored())
	}
	table := "rollup_counts"
	for _, c := range needed {
		if c != "link" && c != "variant" && c != "rule" {
			table = "rollup_visits"
		}
	}
	if scope.Sampled {
		table = "rollup_sample"
	}
	list := strings.Join(append(columns, ""), ", ")
	from := s.rolled(scope, p, table, fmt.Sprintf("%stoInt64(slot) * %d AS ms, toUInt64(clicks) AS n, ms + last AS last_ms", list,
		slotMillis))
	from.Text = "(" + from.Text
	if len(p.raw) > 0 {
		bare := scope
		bare.From, bare.To = 0, 0
		where := bare.Condition("clicks WHERE " + times(p.raw) + listed(scope))
		from.Text += fmt.Sprintf(
			" UNION ALL SELECT %stoUnixTimestamp64Milli(ts) AS ms, toUInt64(1) AS n, ms AS last_ms FROM %s WHERE %s AND %s",
			list, clicks, where.Text, times(p.raw))
		from.Args = append(from.Args, where.Args...)
	}
	from.Text += ") AS counted"
	return analytics.Source{From: from, Time: "ms", Clicks: "sum(n)", Visitors: "uniqExact(visitor)", Last: "coalesce(max(last_ms), 0)"}
}

// maxListed is how many links listed renders, because a list of 100,000 costs more than it saves.
const maxListed = 1000

// listed is like linked, for the table of clicks.
func listed(scope analytics.Scope) string {
	if len(scope.Links) == 0 || len(scope.Links) > maxListed {
		return ""
	}
	return " AND link IN (" + numbers(scope.Links) + ")"
}

// numbers renders a list of numbers.
func numbers(list []uint64) string {
	parts := each.Of(list, func(n uint64) string { return strconv.FormatUint(n, 10) })
	return strings.Join(parts, ", ")
}

// referers renders the part of the clicks whose referrers can meet a scope, for a query of the clicks.
func referers(scope analytics.Scope) string {
	text := "clicks WHERE 1 = 1" + listed(scope)
	if scope.From != 0 {
		text += fmt.Sprintf(" AND ts >= fromUnixTimestamp64Milli(%d)", scope.From)
	}
	if scope.To != 0 {
		text += fmt.Sprintf(" AND ts < fromUnixTimestamp64Milli(%d)", scope.To)
	}
	return text
}

// lines renders a query with the plan of its scope; breakdown plans and renders a breakdown.
func (s *Store) lines(q analytics.Query, p plan) analytics.Statement {
	if !p.clean || !q.OnQuarters() {
		return q.SQLWith(clicks, referers(q.Scope))
	}
	var columns []string
	if q.ByLink {
		columns = append(columns, "link")
	}
	if q.By != analytics.None {
		columns = append(columns, q.By.Column())
	}
	if q.Visitors {
		columns = append(columns, "visitor")
	}
	source := s.source(q.Scope, p, columns...)
	source.Value = q.By.String()
	return q.Render(source)
}

func (s *Store) breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension, limit int) (analytics.Statement, error) {
	p, err := s.plan(ctx, scope)
	if err != nil || !p.clean {
		return analytics.BreakdownWith(clicks, referers(scope), scope, dims, limit), err
	}
	var columns []string
	for _, d := range dims {
		if c := d.Stored(); !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	p.light = !scope.Sampled && !scope.Routed && !scope.Drawn && len(scope.Match) == 0 &&
		!slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(valued, c) })
	if p.light {
		if p.light, err = s.heavyRows(ctx, scope, p); err == nil && p.light {
			err = s.addDays(ctx, &p)
		}
		if err != nil {
			return analytics.Statement{}, err
		}
	}
	source := s.source(scope, p, columns...)
	if p.light {
		source.Counts = func(stored []analytics.Dimension, light analytics.Statement) analytics.Statement {
			return s.withHeavy(scope, p, stored, light)
		}
	}
	return analytics.RenderBreakdown(source, dims, limit), nil
}

// valued are the columns whose values are in rollup_values.
var valued = []string{"country", "region", "city", "device", "os", "browser", "referer", "utm_source", "utm_medium", "utm_campaign",
	"utm_term", "utm_content", "language"}

// heavyRows reports whether a scope may have heavy rows. Most links and workspaces have none, and a statement without their tables
// takes half the time. If a build adds heavy rows after this check, the report is still correct: without p.light, it reads all rows
// of rollup_visits, heavy or not.
func (s *Store) heavyRows(ctx context.Context, scope analytics.Scope, p plan) (found bool, err error) {
	period := fmt.Sprintf("slot >= %d AND slot < %d", p.first, p.end)
	of := func(table, condition string) string {
		return fmt.Sprintf("SELECT 1 FROM %s WHERE %s AND %s LIMIT 1", table, period, condition)
	}
	var text string
	switch {
	case aboutOwner(scope):
		text = of("rollup_owner_visits", fmt.Sprintf("owner = %d AND heavy = true", int64(scope.Owner)))
		if scope.Moves.Through != 0 {
			text += " UNION ALL " + of("rollup_values", "link IN ("+scope.MovedLinks()+")")
		}
	case listed(scope) != "":
		text = of("rollup_values", "true"+listed(scope))
	default:
		return true, nil
	}
	var one uint8
	err = s.query(ctx, analytics.Statement{Text: text}, func() error {
		found = true
		return nil
	}, &one)
	return found, err
}

// withHeavy adds the heavy rows to a breakdown of the others. It implements analytics.Source.Counts.
func (s *Store) withHeavy(scope analytics.Scope, p plan, dims []analytics.Dimension, light analytics.Statement) analytics.Statement {
	var names, kinds []string
	for _, d := range dims {
		names, kinds = append(names, "'"+d.Column()+"'"), append(kinds, fmt.Sprint(uint8(d)))
	}
	list := strings.Join(names, ", ")
	all := analytics.Statement{Text: light.Text, Args: slices.Clone(light.Args)}
	for _, table := range []string{"rollup_values", "rollup_day_values"} {
		if table == "rollup_day_values" && len(p.days) == 0 {
			break
		}
		heavy := s.rolled(scope, p, table, fmt.Sprintf("transform(dim, [%s], [%s], 0) AS kind, value, clicks", list,
			strings.Join(kinds, ", ")))
		all.Text += " UNION ALL SELECT CAST(kind AS BIGINT) AS dim, value, CAST(sum(clicks) AS BIGINT) AS clicks FROM (" + heavy.Text +
			" AND dim IN (" + list + ")) AS rolled GROUP BY kind, value"
		all.Args = append(all.Args, heavy.Args...)
	}
	all.Text = "SELECT dim, value, CAST(sum(clicks) AS BIGINT) AS clicks FROM (" + all.Text + ") AS parts GROUP BY dim, value"
	return all
}
