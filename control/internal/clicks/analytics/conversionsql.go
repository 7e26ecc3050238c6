package analytics

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"strings"

	"github.com/shortline/shortline/shared/conversion"
)

// A table of conversions has the columns of a table of clicks, which describe the click, and those of conversionColumns.
// Statements about clicks therefore also work for conversions. ts is the time of the click.

// conversionColumns are the columns that a table of conversions has in addition, except for version.
const conversionColumns = `tag, goal, once, value, currency, external_id, repeatable, occurred_at, received_at, sender, browser_sent, attributed`

// Version orders the stored copies of one conversion; the highest one is kept. An attributed copy beats one that is not,
// then the one that was received first wins. The rest makes the choice the same in every store. The lowest bit is 0: adapters
// may set it for a copy that a reclassification has changed.
func (c *Conversion) Version() uint64 {
	const received = 42 // bits of the time
	h := fnv.New32a()
	fmt.Fprintf(h, "%d|%s|%s|%d", c.Value, c.Currency, c.ExternalID, c.OccurredAt)
	v := uint64(1<<received-1-min(max(c.ReceivedAt, 0), 1<<received-1))<<20 | uint64(h.Sum32()>>13)<<1
	if c.Attributed {
		v |= 1 << 63
	}
	return v
}

// Clicked returns the conversion's click as a row: without an attributed click, with what is known of it.
func (c *Conversion) Clicked() Row {
	if c.Attributed {
		return c.Row
	}
	return Row{Link: c.Click.Link, Owner: c.Row.Owner, Time: c.Click.Time}
}

// OfGoal renders the condition that a conversion is in the scope and, unless goal is "", of the goal.
func (s Scope) OfGoal(goal, referers string) Statement {
	st := s.Condition(referers)
	if goal != "" {
		st.Text += " AND goal = ?"
		st.Args = append(st.Args, goal)
	}
	return st
}

// Sums of values are added in two parts, because one engine refuses sums of more than 64 bits and the other one wraps them.
const (
	half    = 1_000_000_000
	sumHigh = "CAST(coalesce(sum(intDiv(value, 1000000000)), 0) AS BIGINT)"
	sumLow  = "CAST(coalesce(sum(value - 1000000000 * intDiv(value, 1000000000)), 0) AS BIGINT)"
)

// joined returns the sum of values from its parts, at most the largest number.
func joined(high, low int64) int64 {
	over, n := bits.Mul64(uint64(high), half)
	n, carry := bits.Add64(n, uint64(low), 0)
	if over+carry != 0 || n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

// ConversionSQL renders the query for a table of conversions. Its columns are those of ConversionLine that the query asks
// for: period, link, value, then currency, the number of conversions and both parts of the revenue.
func (q Query) ConversionSQL(table, goal string) Statement {
	var s statement
	var keys []string
	s.appendText("SELECT ")
	if q.Every != NoInterval {
		keys = append(keys, "period")
		s.appendText("CAST(")
		s.periodNumber("toUnixTimestamp64Milli(ts)", q.Every, q.Scope, q.Zone)
		s.appendText(" AS BIGINT) AS period, ")
	}
	if q.ByLink {
		keys = append(keys, "link")
		s.appendText("link, ")
	}
	if q.By != None {
		keys = append(keys, "named")
		s.appendText("CAST(" + q.By.expression() + " AS VARCHAR) AS named, ")
	}
	keys = append(keys, "currency")
	where := q.OfGoal(goal, table)
	s.appendText("CAST(currency AS VARCHAR) AS currency, CAST(count(*) AS BIGINT) AS n, "+sumHigh+" AS high, "+sumLow+" AS low FROM "+
		table+" WHERE "+
		where.Text, where.Args...)
	list := strings.Join(keys, ", ")
	s.appendText(" GROUP BY " + list + " ORDER BY " + list)
	return s.done()
}

// ConversionBreakdownSQL renders the figures of a goal by each of several stored columns. Its columns are the number of a
// dimension, a value of it, currency, the number of conversions and both parts of the revenue.
func ConversionBreakdownSQL(table string, scope Scope, dims []Dimension, goal string) Statement {
	var s statement
	g := setsOf(dims)
	for i, set := range g.sets {
		g.sets[i] = "(currency, " + set[1:]
	}
	where := scope.OfGoal(goal, table)
	s.appendText("SELECT dim, " + g.value + " AS value, CAST(currency AS VARCHAR) AS currency, n, high, low FROM (")
	s.appendText("SELECT "+g.dim+" AS dim, "+g.columns+", currency, CAST(count(*) AS BIGINT) AS n, "+sumHigh+" AS high, "+sumLow+" AS low FROM "+
		table+" WHERE "+where.Text, where.Args...)
	s.appendText(" GROUP BY GROUPING SETS (" + strings.Join(g.sets, ", ") + ")) AS grouped ORDER BY dim, value, currency")
	return s.done()
}

// GoalsSQL renders the figures of each goal in a scope: name, currency, number of conversions and both parts of the revenue.
func GoalsSQL(table string, scope Scope) Statement {
	where := scope.Condition(table)
	return Statement{"SELECT goal, CAST(currency AS VARCHAR) AS currency, CAST(count(*) AS BIGINT) AS n, " + sumHigh +
		" AS high, " + sumLow +
		" AS low FROM " + table +
		" WHERE " + where.Text + " GROUP BY goal, currency ORDER BY goal, currency", where.Args}
}

// ConvertedClicksSQL renders how many clicks in a scope have conversions of each goal, and of any goal: name and number.
func ConvertedClicksSQL(table string, scope Scope) Statement {
	where := scope.Condition(table)
	var s statement
	s.appendText("SELECT goal, CAST(count(*) AS BIGINT) AS n FROM (SELECT goal, link, ts, tag FROM "+table+" WHERE "+where.Text+
		" GROUP BY goal, link, ts, tag) AS won GROUP BY goal", where.Args...)
	s.appendText(" UNION ALL SELECT '' AS goal, CAST(count(*) AS BIGINT) AS n FROM (SELECT link, ts, tag FROM "+table+" WHERE "+
		where.Text+" GROUP BY link, ts, tag) AS won", where.Args...)
	return s.done()
}

// UnattributedSQL renders the selection for Conversions.Unattributed.
func UnattributedSQL(table string, since, after int64, limit int) Statement {
	return Statement{
		fmt.Sprintf(
			"SELECT %s, %s FROM %s WHERE NOT attributed AND received_at >= ? AND received_at > ? ORDER BY received_at, link, ts, tag, goal, once "+
				"LIMIT %d",
			clickColumns, conversionColumns, table, limit), []any{since, after}}
}

// EachConversionSQL renders the newest conversions of a goal in a scope, or those that follow a given one.
func EachConversionSQL(table string, scope Scope, goal string, after *Conversion, limit int) Statement {
	var s statement
	s.appendText("SELECT " + clickColumns + ", " + conversionColumns + " FROM " + table)
	if after != nil && (scope.To == 0 || scope.To > after.Click.Time) {
		scope.To = after.Click.Time + 1 // lets engines skip newer conversions
	}
	where := scope.OfGoal(goal, table)
	s.appendText(" WHERE "+where.Text, where.Args...)
	if after != nil {
		s.appendText(fmt.Sprintf(
			" AND (ts < fromUnixTimestamp64Milli(?) OR link < %[1]d OR link = %[1]d AND (tag < %[2]d OR tag = %[2]d AND (goal < ? OR goal = ? "+
				"AND once < ?)))",
			after.Click.Link, after.Click.Tag), after.Click.Time, after.Name, after.Name, after.Once())
	}
	s.appendText(fmt.Sprintf(" ORDER BY ts DESC, link DESC, tag DESC, goal DESC, once DESC LIMIT %d", limit))
	return s.done()
}

// ClicksAt renders the clicks of links at times, with the columns of ClicksSQL. extra is a condition that helps the engine to
// find them; "" for none.
func ClicksAt(table string, ids []conversion.ClickID, extra string) Statement {
	return Statement{Text: "SELECT " + clickColumns + " FROM " + table + " WHERE " + at(ids) + extra}
}

// ConversionsAt renders the keys of the conversions of links at times: link, ts, tag, goal, once.
func ConversionsAt(table string, ids []conversion.ClickID, extra string) Statement {
	return Statement{Text: "SELECT link, toUnixTimestamp64Milli(ts) AS ts_ms, tag, goal, once FROM " + table + " WHERE " + at(ids) + extra}
}

// at renders the condition that a row has the link and the time of one of the ids, or of two of them.
func at(ids []conversion.ClickID) string {
	links, times := make([]uint64, len(ids)), make([]string, len(ids))
	first, last := ids[0].Time, ids[0].Time
	for i, id := range ids {
		links[i], times[i] = id.Link, fmt.Sprintf("fromUnixTimestamp64Milli(%d)", id.Time)
		first, last = min(first, id.Time), max(last, id.Time)
	}
	return fmt.Sprintf("link IN (%s) AND ts >= fromUnixTimestamp64Milli(%d) AND ts <= fromUnixTimestamp64Milli(%d) AND ts IN (%s)",
		numbers(links), first, last, strings.Join(times, ", "))
}

// ArmsSQL renders the figures of an experiment for a table of clicks and one of conversions: variant, beginning of the interval, visitors,
// converted visitors, conversions, revenue, and the sum of the squares of the visitors' revenues.
func (e Experiment) ArmsSQL(clicks, conversions string) Statement {
	scope := Scope{Links: []uint64{e.Link}, From: e.From, To: e.To, Drawn: true}
	drawn, won := scope.Condition(clicks), scope.OfGoal(e.Goal, conversions)
	every := cmp.Or(max(e.Every, 0), hourMillis)
	interval := func(ms string) string {
		return fmt.Sprintf("CAST(%[2]d * intDiv(%[1]s, %[2]d) AS BIGINT) AS starts", ms, every)
	}
	var s statement
	s.appendText("SELECT CAST(variant AS VARCHAR) AS variant, CAST(starts AS BIGINT) AS starts, CAST(sum(visitors) AS BIGINT), " +
		"CAST(sum(converted) AS BIGINT), CAST(sum(conversions) AS BIGINT), sum(revenue), sum(squares) FROM (")
	// Visitors of a link that is not sticky: clicks.
	s.appendText("SELECT variant, "+interval("toUnixTimestamp64Milli(ts)")+
		", CAST(count(*) AS BIGINT) AS visitors, CAST(0 AS BIGINT) AS converted, CAST(0 AS BIGINT) AS conversions, CAST(0 AS DOUBLE) AS "+
		"revenue, CAST(0 AS DOUBLE) AS squares FROM "+
		clicks+" WHERE "+drawn.Text+" AND participant = 0 GROUP BY variant, starts", drawn.Args...)
	// Visitors of a sticky link.
	firsts := "SELECT variant, participant, " + interval("min(toUnixTimestamp64Milli(ts))") + " FROM " + clicks + " WHERE " + drawn.Text +
		" AND participant <> 0 GROUP BY variant, participant"
	s.appendText(" UNION ALL SELECT variant, starts, CAST(count(*) AS BIGINT) AS visitors, CAST(0 AS BIGINT) AS converted, CAST(0 AS BIGINT) AS "+
		"conversions, CAST(0 AS DOUBLE) AS revenue, CAST(0 AS DOUBLE) AS squares FROM ("+
		firsts+") AS firsts GROUP BY variant, starts", drawn.Args...)
	// The revenue of each visitor, in units of the currency.
	amount := "CAST(sum(CASE WHEN currency = ? THEN value ELSE 0 END) AS DOUBLE) / 10000"
	args := append([]any{e.Currency}, won.Args...)
	totals := "CAST(0 AS BIGINT) AS visitors, CAST(count(*) AS BIGINT) AS converted, CAST(sum(n) AS BIGINT) AS conversions, " +
		"CAST(sum(amount) AS DOUBLE) AS revenue, CAST(sum(amount * amount) AS DOUBLE) AS squares"
	s.appendText(" UNION ALL SELECT variant, "+interval("ms")+", "+totals+
		" FROM (SELECT variant, toUnixTimestamp64Milli(ts) AS ms, tag, count(*) AS n, "+amount+" AS amount FROM "+
		conversions+" WHERE "+won.Text+" AND participant = 0 GROUP BY variant, ms, tag) AS bought GROUP BY variant, starts", args...)
	s.appendText(" UNION ALL SELECT bought.variant AS variant, firsts.starts AS starts, "+totals+
		" FROM (SELECT variant, participant, count(*) AS n, "+amount+" AS amount FROM "+
		conversions+" WHERE "+won.Text+" AND participant <> 0 GROUP BY variant, participant) AS bought", args...)
	s.appendText(" JOIN ("+firsts+
		") AS firsts ON bought.variant = firsts.variant AND bought.participant = firsts.participant GROUP BY bought.variant, firsts.starts",
		drawn.Args...)
	s.appendText(") AS parts GROUP BY variant, starts ORDER BY variant, starts")
	return s.done()
}
