package analytics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shortline/shortline/shared/each"
)

// Statement is a SQL query with the values of its ? placeholders. Values are strings and int64s only, because every
// driver binds these alike. The text uses only what both engines have, and four functions that ClickHouse has and
// DuckDB's adapter defines: fromUnixTimestamp64Milli, toUnixTimestamp64Milli, intDiv and uniqExact.
//
// A table of clicks has the columns edge, epoch, lane, seq, ts, link, owner, variant, rule, ip, visitor, country,
// region, city, device, os, browser, referer, user_agent, bot, bot_name, the seven utm_*, geo_version, bot_list,
// edge_name, edge_region, language and participant. Text columns are never NULL.
type Statement struct {
	Text string
	Args []any
}

// openEnd bounds the zone arithmetic of queries that have no end: the year 2100.
const openEnd = 4102444800000

const quarterMillis = 15 * 60 * 1000

// Source describes what a query reads and how it computes its figures: a table with one row per click, or figures that
// an adapter has precomputed. A source has the columns of a table of clicks by which the query groups.
type Source struct {
	From     Statement // what follows FROM
	Time     string    // an expression for a row's time in Unix milliseconds, or for the start of its quarter hour
	Value    string    // expression for the dimension's value
	Clicks   string    // aggregate: number of clicks
	Visitors string    // aggregate: number of distinct visitors
	Last     string    // aggregate: time of the newest click in Unix milliseconds, 0 if there is none
	// Counts, unless nil, adds precomputed figures to a breakdown by stored columns. It gets the dimensions and the
	// statement for the source, and returns a statement with the same columns: dim, value and clicks.
	Counts func(dims []Dimension, source Statement) Statement
}

// SQL renders the query for a table. Its columns are those of Line that the query asks for, in this order: period, link,
// value, clicks, visitors, last. Figures that the query does not ask for are 0.
func (q Query) SQL(table string) Statement { return q.SQLWith(table, table) }

// SQLWith is like SQL. referers is a smaller table with the column referer, which has all referrers in the scope.
func (q Query) SQLWith(table, referers string) Statement {
	var from statement
	from.appendText(table)
	from.where(q.Scope, referers)
	return q.Render(Source{
		From: from.done(), Time: "toUnixTimestamp64Milli(ts)", Value: q.By.expression(), Clicks: "count(*)", Visitors: "uniqExact(visitor)",
		// Without rows, DuckDB's maximum is NULL and ClickHouse's is 0.
		Last: "coalesce(max(toUnixTimestamp64Milli(ts)), 0)",
	})
}

// Render is like SQL, for any source. The source must already exclude clicks outside the query's scope.
func (q Query) Render(source Source) Statement {
	var s statement
	var keys []string
	s.appendText("SELECT ")
	if q.Every != NoInterval {
		keys = append(keys, "period")
		s.appendText("CAST(")
		s.periodNumber(source.Time, q.Every, q.Scope, q.Zone)
		s.appendText(" AS BIGINT) AS period, ")
	}
	if q.ByLink {
		keys = append(keys, "link")
		s.appendText("link, ")
	}
	if q.By != None {
		keys = append(keys, "value")
		s.appendText("CAST(" + source.Value + " AS VARCHAR) AS value, ")
	}
	measure := func(asked bool, expression, name string) {
		if !asked {
			expression = "0"
		}
		s.appendText("CAST(" + expression + " AS BIGINT) AS " + name)
	}
	measure(true, source.Clicks, "clicks, ")
	measure(q.Visitors, source.Visitors, "visitors, ")
	measure(q.Last, source.Last, "last_at")
	s.appendText(" FROM "+source.From.Text, source.From.Args...)
	if len(keys) > 0 {
		s.appendText(" GROUP BY " + strings.Join(keys, ", ") + " ORDER BY ")
		if q.TopFirst {
			s.appendText("clicks DESC, ")
		}
		s.appendText(strings.Join(keys, ", "))
	}
	if q.Limit > 0 {
		s.appendText(fmt.Sprintf(" LIMIT %d", q.Limit))
	}
	return s.done()
}

// PeriodOf renders the number of the period of a time in Unix milliseconds. Without an interval it is 0.
func (q Query) PeriodOf(ms string) string {
	if q.Every == NoInterval {
		return "0"
	}
	var s statement
	s.periodNumber(ms, q.Every, q.Scope, q.Zone)
	return s.text.String()
}

// Condition renders the scope as the condition after WHERE. referers is the table whose column referer has all referrers
// that the condition can meet; a WHERE may follow its name.
func (s Scope) Condition(referers string) Statement {
	var c statement
	c.where(s, referers)
	st := c.done()
	if st.Text == "" {
		return Statement{Text: "1 = 1"}
	}
	st.Text = strings.TrimPrefix(st.Text, " WHERE ")
	return st
}

// OnQuarters reports whether all periods of the query begin and end at quarter hours of UTC, within its scope.
func (q Query) OnQuarters() bool {
	switch q.Every {
	case NoInterval:
		return true
	case Minutes:
		return false
	}
	return q.shiftedBy(quarterMillis)
}

// InOrder reports whether a later time in the query's scope never belongs to an earlier period. Clocks that are set
// back over midnight show a day twice.
func (q Query) InOrder() bool {
	list := shifts(q.From, cmp.Or(q.To, openEnd), q.Zone)
	for i, sh := range list[:len(list)-1] {
		if floorDiv(sh.until-1+sh.offset, dayMillis) > floorDiv(sh.until+list[i+1].offset, dayMillis) {
			return false
		}
	}
	return q.Every != WeekHours
}

// OnDays reports whether all periods of the query begin and end with days of UTC, within its scope.
func (q Query) OnDays() bool {
	switch q.Every {
	case NoInterval:
		return true
	case Minutes, Hours, WeekHours:
		return false
	}
	return q.shiftedBy(dayMillis)
}

// shiftedBy reports whether the zone's offsets within the scope, and the times of their changes, are multiples of a
// number of milliseconds.
func (q Query) shiftedBy(millis int64) bool {
	for _, sh := range shifts(q.From, cmp.Or(q.To, openEnd), q.Zone) {
		if sh.until%millis != 0 || sh.offset%millis != 0 {
			return false
		}
	}
	return true
}

// BreakdownSQL renders a breakdown for a table. Its columns are the number of a dimension, a value of it, and the
// number of clicks.
func BreakdownSQL(table string, scope Scope, dims []Dimension, limit int) Statement {
	return BreakdownWith(table, table, scope, dims, limit)
}

// BreakdownWith is like BreakdownSQL. referers is a smaller table with the column referer, which has all referrers in
// the scope.
func BreakdownWith(table, referers string, scope Scope, dims []Dimension, limit int) Statement {
	var from statement
	from.appendText(table)
	from.where(scope, referers)
	return RenderBreakdown(Source{From: from.done(), Clicks: "count(*)"}, dims, limit)
}

// RenderBreakdown is like BreakdownSQL, for any source. It uses only the source's From, Clicks and Counts. The source has the
// columns on which the dimensions depend (Dimension.Stored).
func RenderBreakdown(source Source, dims []Dimension, limit int) Statement {
	counts := breakdown(source, dims)
	return Statement{
		"SELECT dim, value, clicks FROM (SELECT dim, value, clicks, row_number() OVER (PARTITION BY dim ORDER BY clicks DESC, value) AS " +
			"place FROM (" +
			counts.Text + fmt.Sprintf(") AS named) AS placed WHERE place <= %d ORDER BY dim, clicks DESC, value", limit), counts.Args}
}

// breakdown renders the breakdown without limit and order. Sites are computed from the counts of referrers, because
// there are fewer referrers than clicks.
func breakdown(source Source, dims []Dimension) Statement {
	if !slices.Contains(dims, Site) {
		return storedBreakdown(source, dims)
	}
	stored := slices.DeleteFunc(slices.Clone(dims), func(d Dimension) bool { return d == Site })
	from, kept := "1 = copy", ""
	if slices.Contains(stored, Referer) {
		kept = "copy = 0 OR "
	} else {
		stored = append(stored, Referer)
		kept = fmt.Sprintf("copy = 0 AND dim <> %d OR ", Referer)
	}
	counts := storedBreakdown(source, stored)
	return Statement{fmt.Sprintf("SELECT kind AS dim, named AS value, CAST(sum(clicks) AS BIGINT) AS clicks FROM ("+
		"SELECT CASE WHEN copy = 1 THEN %d ELSE dim END AS kind, CASE WHEN copy = 1 THEN %s ELSE value END AS named, clicks FROM ("+
		"SELECT dim, value AS referer, value, clicks FROM (%s) AS stored) AS counted CROSS JOIN (SELECT 0 AS copy UNION ALL SELECT 1 AS copy) "+
		"AS copies"+
		" WHERE %s%s AND dim = %d) AS doubled GROUP BY kind, named", Site, siteSQL, counts.Text, kept, from, Referer), counts.Args}
}

// storedBreakdown renders the breakdown by columns of the source.
func storedBreakdown(source Source, dims []Dimension) Statement {
	var s statement
	g := setsOf(dims)
	s.appendText("SELECT dim, " + g.value + " AS value, clicks FROM (")
	s.appendText("SELECT "+g.dim+" AS dim, "+g.columns+", CAST("+source.Clicks+" AS BIGINT) AS clicks FROM "+source.From.Text,
		source.From.Args...)
	s.appendText(" GROUP BY GROUPING SETS (" + strings.Join(g.sets, ", ") + ")) AS grouped")
	if source.Counts != nil {
		return source.Counts(dims, s.done())
	}
	return s.done()
}

// groupingSets are parts of a statement that groups rows by each of several columns at once.
type groupingSets struct {
	columns string   // the columns of all dimensions
	sets    []string // each with the column of one dimension
	dim     string   // expression of the dimension by which a row is grouped, for the statement with GROUP BY
	value   string   // expression of its value, for a statement around that one, where dim and the columns are known
}

func setsOf(dims []Dimension) (g groupingSets) {
	var names, kind, value []string
	all := 1<<len(dims) - 1
	for i, d := range dims {
		c := columns[d]
		names = append(names, c)
		g.sets = append(g.sets, "("+c+")")
		// GROUPING sets a bit for each column that a row is not grouped by. The last column has the lowest bit.
		kind = append(kind, fmt.Sprintf("WHEN %d THEN %d", all&^(1<<(len(dims)-1-i)), d))
		value = append(value, fmt.Sprintf("WHEN %d THEN %s", d, c))
	}
	g.columns = strings.Join(names, ", ")
	g.dim = "CAST(CASE GROUPING(" + g.columns + ") " + strings.Join(kind, " ") + " END AS BIGINT)"
	g.value = "CAST(CASE dim " + strings.Join(value, " ") + " END AS VARCHAR)"
	return g
}

// clickColumns are the columns that ClicksSQL selects.
const clickColumns = `edge, epoch, lane, seq, toUnixTimestamp64Milli(ts) AS ts_ms, link, owner, variant, rule, CAST(ip AS VARCHAR) AS ip_text, country, region, city, device, os, browser,
	referer, user_agent, bot, bot_name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, geo_version, bot_list, edge_name, edge_region, language, participant`

// ClicksSQL renders the newest clicks of a scope for a table, or those that follow a given click (nil: from the start).
// Columns and order are those that an adapter's scan expects: the fields of Row, with UTM in the order of link.UTM.
// Adapters read one page at a time, because engines keep in memory all that they sort.
func ClicksSQL(table string, scope Scope, after *Row, limit int) Statement {
	var s statement
	s.appendText("SELECT " + clickColumns + " FROM " + table)
	if after != nil && (scope.To == 0 || scope.To > after.Time) {
		scope.To = after.Time + 1 // lets engines skip newer clicks
	}
	s.where(scope, table)
	if after != nil {
		// The edge is a number in the text, because drivers cannot bind the upper half of its range.
		s.appendText(fmt.Sprintf(
			" AND (ts < fromUnixTimestamp64Milli(?) OR edge < %[1]d OR edge = %[1]d AND (epoch < %[2]d OR epoch = %[2]d AND (lane < %[3]d OR "+
				"lane = %[3]d AND seq < %[4]d)))",
			after.Edge, after.Epoch, after.Lane.Lane, after.Seq), after.Time)
	}
	s.appendText(fmt.Sprintf(" ORDER BY ts DESC, edge DESC, epoch DESC, lane DESC, seq DESC LIMIT %d", limit))
	return s.done()
}

// ExportSQL renders the clicks in a scope without an order, with the columns of ClicksSQL.
func ExportSQL(table string, scope Scope) Statement {
	var s statement
	s.appendText("SELECT " + clickColumns + " FROM " + table)
	s.where(scope, table)
	return s.done()
}

// archived is ArchiveEpoch in a statement.
var archived = strconv.FormatUint(ArchiveEpoch, 10)

// gapMargin is how far before the given time Gaps searches for the neighbours of a gap, in milliseconds.
const gapMargin = 60 * 60 * 1000

// GapsSQL renders the search for gaps since a time in Unix milliseconds. It reads a table of clicks and one of losses
// (edge, epoch, lane, seq, ts, lost_from, lost_to). Its columns are the lane, the positions just outside the gap, and
// the times of these positions.
func GapsSQL(clicks, losses string, since int64, limit int) Statement {
	// Spans are what is known of a lane: clicks, loss markers and the ranges that these name. With spans ordered by
	// their start, there is a gap where a span begins beyond the end of everything before it (reach). The first span of a
	// lane, for which befores is 0, has no such end.
	const lane = "edge, epoch, lane"
	from := max(since-gapMargin, 0)
	var s statement
	s.appendText("SELECT " + lane + ", reach, first, before_ms, ms FROM (SELECT " + lane + ", first, ms,")
	s.appendText(" max(last) OVER (PARTITION BY " + lane + " ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach,")
	s.appendText(" max(ms) OVER (PARTITION BY " + lane + " ORDER BY first, last ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS before_ms,")
	s.appendText(" count(*) OVER (PARTITION BY " + lane + " ORDER BY first, last ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS befores FROM (")
	s.appendText("SELECT DISTINCT "+lane+", seq AS first, seq AS last, toUnixTimestamp64Milli(ts) AS ms FROM "+clicks+
		" WHERE epoch < "+archived+" AND ts >= fromUnixTimestamp64Milli(?)", from)
	s.appendText(" UNION ALL SELECT "+lane+", seq AS first, seq AS last, toUnixTimestamp64Milli(ts) AS ms FROM "+losses+
		" WHERE ts >= fromUnixTimestamp64Milli(?)", from)
	s.appendText(" UNION ALL SELECT "+lane+", lost_from AS first, lost_to AS last, toUnixTimestamp64Milli(ts) AS ms FROM "+losses+
		" WHERE ts >= fromUnixTimestamp64Milli(?)", from)
	s.appendText(") AS spans) AS placed WHERE befores > 0 AND first > reach + 1 AND ms >= ?", since)
	s.appendText(fmt.Sprintf(" ORDER BY "+lane+", first LIMIT %d", limit))
	return s.done()
}

type statement struct {
	text strings.Builder
	args []any
}

func (s *statement) appendText(text string, args ...any) {
	s.text.WriteString(text)
	s.args = append(s.args, args...)
}

func (s *statement) done() Statement { return Statement{s.text.String(), s.args} }

// numbers renders a list of numbers as text, because engines limit how many values can be bound.
func numbers(list []uint64) string {
	var b []byte
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, n, 10)
	}
	return string(b)
}

// notOwned renders the condition that a click names none of the owners.
func notOwned(owners []uint64) string { return "owner NOT IN (" + numbers(owners) + ")" }

func (s *statement) where(scope Scope, referers string) {
	word := " WHERE "
	and := func(text string, args ...any) {
		s.appendText(word+text, args...)
		word = " AND "
	}
	switch {
	case scope.Links == nil:
	case len(scope.Links) == 0:
		and("1 = 0")
	case len(scope.Links) == 1:
		and("link = ?", int64(scope.Links[0]))
	default:
		and("link IN (" + numbers(scope.Links) + ")")
	}
	if len(scope.NotLinks) > 0 {
		and("link NOT IN (" + numbers(scope.NotLinks) + ")")
	}
	if scope.LinkFrom != 0 {
		and("link >= ?", int64(scope.LinkFrom))
	}
	if scope.LinkTo != 0 {
		and("link < ?", int64(scope.LinkTo))
	}
	if scope.Owner != 0 {
		s.owned(word, scope)
		word = " AND "
	}
	if len(scope.NotOwners) > 0 {
		and(notOwned(scope.NotOwners))
	}
	// Bounds are never bound as times: drivers cut off milliseconds, and one engine would then skip rows.
	if scope.From != 0 {
		and("ts >= fromUnixTimestamp64Milli(?)", scope.From)
	}
	if scope.To != 0 {
		and("ts < fromUnixTimestamp64Milli(?)", scope.To)
	}
	switch scope.Bots {
	case People:
		and("NOT bot")
	case OnlyBots:
		and("bot")
	}
	if scope.Routed {
		and("rule <> ''")
	}
	if scope.Drawn {
		and("variant <> ''")
	}
	if scope.Sampled {
		and(SampleCondition())
	}
	for _, m := range scope.Match {
		if len(m.Values) == 0 {
			and("1 = 0")
			continue
		}
		args := each.Of(m.Values, func(v string) any { return v })
		list := " IN (" + strings.Repeat("?, ", len(args)-1) + "?)"
		if m.By == Site {
			// Only once for each referrer, because there are fewer referrers than clicks. Without the LIMIT, engines would
			// move the condition into the inner selection and compute it for each click.
			and("referer IN (SELECT referer FROM (SELECT DISTINCT referer FROM "+referers+" LIMIT 1000000000000) AS referers WHERE "+
				siteSQL+list+
				")", args...)
			continue
		}
		and(m.By.expression()+list, args...)
	}
}
