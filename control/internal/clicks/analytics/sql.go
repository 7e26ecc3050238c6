package analytics

import (
	"fmt"
	"strings"
	"time"
)

// Statement is a question in SQL, with its values for the ? in it: strings and int64s only, which every driver
// binds alike. The text uses what both engines have, and three functions that ClickHouse has and DuckDB's adapter
// defines: fromUnixTimestamp64Milli, toUnixTimestamp64Milli and intDiv, besides uniqExact.
//
// A table of clicks has the columns edge, epoch, lane, seq, ts, link, owner, variant, rule, ip, visitor, country,
// region, city, device, os, browser, referer, user_agent, bot, bot_name, the seven utm_*, geo_version, bot_list, edge_name and edge_region.
// Text columns are never NULL.
type Statement struct {
	Text string
	Args []any
}

// openEnd bounds the zone arithmetic of queries without an end: the year 2100.
const openEnd = 4102444800000

const quarterMillis = 15 * 60 * 1000

// Source is what a query reads, and how its measures are told from that: a table of clicks, where each row is one, or
// what an adapter has counted before. Its columns are those of a table of clicks that the query groups by.
type Source struct {
	From     Statement // what stands after FROM
	Time     string    // an expression for a row's time in Unix milliseconds, or for the start of its quarter hour
	Value    string    // for the dimension's value
	Clicks   string    // an aggregate: how many clicks
	Visitors string    // how many distinct visitors
	Last     string    // the newest click's time in Unix milliseconds, 0 of none
}

// SQL renders the query for a table. Its columns are those of Line that were asked for, in that order (day, link,
// value, clicks, visitors, last), the measures not asked for being 0.
func (q Query) SQL(table string) Statement {
	var from statement
	from.add(table)
	from.where(q.Scope)
	return q.Render(Source{
		From: from.done(), Time: "toUnixTimestamp64Milli(ts)", Value: columns[q.By], Clicks: "count(*)", Visitors: "uniqExact(visitor)",
		// Of no rows DuckDB's maximum is NULL and ClickHouse's is 0.
		Last: "coalesce(max(toUnixTimestamp64Milli(ts)), 0)",
	})
}

// Render is SQL for any source, which has left out the clicks that are not in the query's scope.
func (q Query) Render(source Source) Statement {
	var s statement
	var keys []string
	s.add("SELECT ")
	if q.ByDay {
		keys = append(keys, "day")
		s.day(source.Time, q.Scope, q.Zone)
		s.add(" AS day, ")
	}
	if q.ByLink {
		keys = append(keys, "link")
		s.add("link, ")
	}
	if q.By != None {
		keys = append(keys, "value")
		s.add("CAST(" + source.Value + " AS VARCHAR) AS value, ")
	}
	measure := func(asked bool, expression, name string) {
		if !asked {
			expression = "0"
		}
		s.add("CAST(" + expression + " AS BIGINT) AS " + name)
	}
	measure(true, source.Clicks, "clicks, ")
	measure(q.Visitors, source.Visitors, "visitors, ")
	measure(q.Last, source.Last, "last_at")
	s.add(" FROM "+source.From.Text, source.From.Args...)
	if len(keys) > 0 {
		s.add(" GROUP BY " + strings.Join(keys, ", ") + " ORDER BY ")
		if q.TopFirst {
			s.add("clicks DESC, ")
		}
		s.add(strings.Join(keys, ", "))
	}
	if q.Limit > 0 {
		s.add(fmt.Sprintf(" LIMIT %d", q.Limit))
	}
	return s.done()
}

// Condition renders the scope as what may follow WHERE.
func (s Scope) Condition() Statement {
	var c statement
	c.where(s)
	st := c.done()
	if st.Text == "" {
		return Statement{Text: "1 = 1"}
	}
	st.Text = strings.TrimPrefix(st.Text, " WHERE ")
	return st
}

// OnQuarters reports whether the days of a zone begin and end at quarter hours of UTC, everywhere in a scope.
func (s Scope) OnQuarters(zone *time.Location) bool {
	to := s.To
	if to == 0 {
		to = openEnd
	}
	for _, sh := range shifts(s.From, to, zone) {
		if sh.until%quarterMillis != 0 || sh.offset%quarterMillis != 0 {
			return false
		}
	}
	return true
}

// BreakdownSQL renders a breakdown for a table. Its columns are the number of a dimension, a value of it, and the
// clicks.
func BreakdownSQL(table string, scope Scope, dims []Dimension, limit int) Statement {
	var from statement
	from.add(table)
	from.where(scope)
	return RenderBreakdown(Source{From: from.done(), Clicks: "count(*)"}, dims, limit)
}

// RenderBreakdown is BreakdownSQL for any source, of which it needs only what to count.
func RenderBreakdown(source Source, dims []Dimension, limit int) Statement {
	counts := breakdown(source, dims)
	return Statement{"SELECT dim, value, clicks FROM (SELECT dim, value, clicks, row_number() OVER (PARTITION BY dim ORDER BY clicks DESC, value) AS place FROM (" +
		counts.Text + fmt.Sprintf(") AS named) AS placed WHERE place <= %d ORDER BY dim, clicks DESC, value", limit), counts.Args}
}

// breakdown has no limit and is in no order.
func breakdown(source Source, dims []Dimension) Statement {
	var s statement
	var names, sets, kind, value []string
	all := 1<<len(dims) - 1
	for i, d := range dims {
		c := columns[d]
		names = append(names, c)
		sets = append(sets, "("+c+")")
		// GROUPING sets a bit for each column that a row is not grouped by, the last column's being the lowest.
		kind = append(kind, fmt.Sprintf("WHEN %d THEN %d", all&^(1<<(len(dims)-1-i)), d))
		value = append(value, fmt.Sprintf("WHEN %d THEN %s", d, c))
	}
	list := strings.Join(names, ", ")
	s.add("SELECT dim, CAST(CASE dim " + strings.Join(value, " ") + " END AS VARCHAR) AS value, clicks FROM (")
	s.add("SELECT CAST(CASE GROUPING("+list+") "+strings.Join(kind, " ")+" END AS BIGINT) AS dim, "+list+", CAST("+source.Clicks+" AS BIGINT) AS clicks FROM "+source.From.Text, source.From.Args...)
	s.add(" GROUP BY GROUPING SETS (" + strings.Join(sets, ", ") + ")) AS grouped")
	return s.done()
}

// clickColumns is what ClicksSQL selects.
const clickColumns = `edge, epoch, lane, seq, toUnixTimestamp64Milli(ts) AS ts_ms, link, owner, variant, rule, CAST(ip AS VARCHAR) AS ip_text, country, region, city, device, os, browser,
	referer, user_agent, bot, bot_name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, geo_version, bot_list, edge_name, edge_region`

// ClicksSQL renders the newest clicks of a scope for a table, or those that come next after one (nil: from the
// start), in the columns and order that an adapter's scan expects: those of Row, UTM in the order of link.UTM.
// Adapters ask for a page at a time, since engines hold all that they sort.
func ClicksSQL(table string, scope Scope, after *Row, limit int) Statement {
	var s statement
	s.add("SELECT " + clickColumns + " FROM " + table)
	if after != nil && (scope.To == 0 || scope.To > after.Time) {
		scope.To = after.Time + 1 // engines skip what is newer
	}
	s.where(scope)
	if after != nil {
		// The edge is a number in the text: drivers don't bind the upper half of its range.
		s.add(fmt.Sprintf(" AND (ts < fromUnixTimestamp64Milli(?) OR edge < %[1]d OR edge = %[1]d AND (epoch < %[2]d OR epoch = %[2]d AND (lane < %[3]d OR lane = %[3]d AND seq < %[4]d)))",
			after.Edge, after.Epoch, after.Lane.Lane, after.Seq), after.Time)
	}
	s.add(fmt.Sprintf(" ORDER BY ts DESC, edge DESC, epoch DESC, lane DESC, seq DESC LIMIT %d", limit))
	return s.done()
}

// ExportSQL renders the clicks in a scope, in no order, with the columns of ClicksSQL.
func ExportSQL(table string, scope Scope) Statement {
	var s statement
	s.add("SELECT " + clickColumns + " FROM " + table)
	s.where(scope)
	return s.done()
}

// gapMargin is how far before the clicks that are looked at Gaps looks for their neighbours, in milliseconds.
const gapMargin = 60 * 60 * 1000

// GapsSQL renders the search for gaps in a table of clicks and one of losses (edge, epoch, lane, seq, ts, lost_from,
// lost_to), since a time in Unix milliseconds. Its columns are the lane, the positions just outside of the gap, and their times.
func GapsSQL(clicks, losses string, since int64, limit int) Statement {
	// Spans are what is known of a lane: clicks, markers of losses, and what was lost. One after the other by their
	// starts, a gap is where the next begins beyond everything before it.
	const lane = "edge, epoch, lane"
	from := max(since-gapMargin, 0)
	var s statement
	s.add("SELECT " + lane + ", reach, first, before_ms, ms FROM (SELECT " + lane + ", first, ms,")
	s.add(" max(last) OVER (PARTITION BY " + lane + " ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach,")
	s.add(" max(ms) OVER (PARTITION BY " + lane + " ORDER BY first, last ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS before_ms,")
	s.add(" count(*) OVER (PARTITION BY " + lane + " ORDER BY first, last ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS befores FROM (")
	s.add("SELECT DISTINCT "+lane+", seq AS first, seq AS last, toUnixTimestamp64Milli(ts) AS ms FROM "+clicks+" WHERE ts >= fromUnixTimestamp64Milli(?)", from)
	s.add(" UNION ALL SELECT "+lane+", seq AS first, seq AS last, toUnixTimestamp64Milli(ts) AS ms FROM "+losses+" WHERE ts >= fromUnixTimestamp64Milli(?)", from)
	s.add(" UNION ALL SELECT "+lane+", lost_from AS first, lost_to AS last, toUnixTimestamp64Milli(ts) AS ms FROM "+losses+" WHERE ts >= fromUnixTimestamp64Milli(?)", from)
	s.add(") AS spans) AS placed WHERE befores > 0 AND first > reach + 1 AND ms >= ?", since)
	s.add(fmt.Sprintf(" ORDER BY "+lane+", first LIMIT %d", limit))
	return s.done()
}

type statement struct {
	text strings.Builder
	args []any
}

func (s *statement) add(text string, args ...any) {
	s.text.WriteString(text)
	s.args = append(s.args, args...)
}

func (s *statement) done() Statement { return Statement{s.text.String(), s.args} }

// day renders the number of the local day: the offsets that the zone has within the scope are put in as numbers.
func (s *statement) day(ms string, scope Scope, zone *time.Location) {
	to := scope.To
	if to == 0 {
		to = openEnd
	}
	list := shifts(scope.From, to, zone)
	s.add("intDiv(" + ms)
	if last := list[len(list)-1]; len(list) == 1 {
		s.add(fmt.Sprintf(" + %d", last.offset))
	} else {
		s.add(" + CASE")
		for _, sh := range list[:len(list)-1] {
			s.add(fmt.Sprintf(" WHEN %s < %d THEN %d", ms, sh.until, sh.offset))
		}
		s.add(fmt.Sprintf(" ELSE %d END", last.offset))
	}
	s.add(fmt.Sprintf(", %d)", dayMillis))
}

func (s *statement) where(scope Scope) {
	word := " WHERE "
	and := func(text string, args ...any) {
		s.add(word+text, args...)
		word = " AND "
	}
	switch {
	case scope.Links == nil:
	case len(scope.Links) == 0:
		and("1 = 0")
	case len(scope.Links) == 1:
		and("link = ?", int64(scope.Links[0]))
	default:
		// Numbers in the text: engines bound how many values can be bound.
		var b strings.Builder
		for i, n := range scope.Links {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, n)
		}
		and("link IN (" + b.String() + ")")
	}
	if scope.Owner != 0 {
		and("owner = ?", int64(scope.Owner))
	}
	// A bound is never given as a time: drivers cut its milliseconds off, and one engine then skips rows.
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
}
