package main

import (
	"fmt"
	"strings"
)

// The time range in slots, the quarter hours of UTC by which rollups are grouped: the first slot that starts in the range,
// and the slot after the last one that ends in it.
const (
	firstSlot = "toUInt32(intDiv(toInt64(${__from}) + 899999, 900000))"
	endSlot   = "toUInt32(intDiv(toInt64(${__to}) + 1, 900000))"
)

// fine is an interval in seconds. A series with shorter intervals reads single clicks, since rollups have quarter hours.
// Grafana chooses such intervals for ranges of less than about half a day.
const fine = 60

// width is an SQL expression for the length of a series' intervals: the interval that Grafana requests if it is shorter
// than fine, otherwise that interval rounded up to whole quarter hours.
var width = fmt.Sprintf("if($__interval_s < %d, greatest(toInt64($__interval_s), 1), intDiv(toInt64($__interval_s) + 899, 900) * 900)",
	fine)

// rawSlot is an SQL query for the first slot with clicks that are newer than its rollup. From there on single clicks are
// read. It is usually a slot of the last half hour.
func rawSlot() string {
	const within = " WHERE slot >= " + firstSlot + " AND slot < " + endSlot
	return "SELECT coalesce(minOrNull(slot), " + endSlot + ") FROM (SELECT slot, sum(n) AS written, max(marks) AS built FROM" +
		" (SELECT slot, max(n) AS n, toUInt64(0) AS marks FROM rollup_marks" + within + " GROUP BY slot, writer" +
		" UNION ALL SELECT slot, toUInt64(0) AS n, marks FROM rollup_builds" + within +
		") GROUP BY slot HAVING written > 0) WHERE written != built"
}

// counted is a query over the clicks in the time range that meet a condition. Its rows have n (the number of clicks), ms
// (the start of the slot, or the time of a single click) and last_ms. Slots with a current rollup are read from the valid
// build of that rollup. The incomplete slot at the start, and everything from the first outdated slot on, is read from
// single clicks. The result is exact, except while a late batch of clicks is arriving.
type counted struct {
	columns string // the columns that the query uses, except bot and link
	where   string
	fine    bool // whether this is a series, whose intervals may be shorter than a slot
}

// table returns the smallest rollup that has the columns.
func (c counted) table() string {
	for column := range strings.SplitSeq(c.columns, ", ") {
		switch column {
		case "", "link", "variant", "rule":
		default:
			return "rollup_visits"
		}
	}
	return "rollup_counts"
}

func (c counted) sql(selected, tail string) string {
	list := c.columns
	if list != "" {
		list += ", "
	}
	raw := rawSlot()
	if c.fine {
		raw = fmt.Sprintf("SELECT if($__interval_s < %d, %s, (%s))", fine, firstSlot, raw)
	}
	return "WITH (" + raw + ") AS raw_slot SELECT " + selected + " FROM (" +
		"SELECT " + list + "bot, toInt64(slot) * 900000 AS ms, toUInt64(clicks) AS n, ms + last AS last_ms FROM " + c.table() +
		" WHERE slot >= " + firstSlot + " AND slot < raw_slot AND (" + c.where + ") AND build GLOBAL IN" +
		" (SELECT argMax(build, (marks, build)) FROM rollup_builds WHERE slot >= " + firstSlot + " AND slot < raw_slot GROUP BY slot)" +
		" UNION ALL SELECT " + list + "bot, toUnixTimestamp64Milli(ts) AS ms, toUInt64(1) AS n, ms AS last_ms FROM clicks FINAL" +
		" WHERE $__timeFilter_ms(ts) AND (ts < fromUnixTimestamp64Milli(toInt64(" + firstSlot +
		") * 900000) OR ts >= fromUnixTimestamp64Milli(toInt64(raw_slot) * 900000))" +
		" AND (" + c.where + ")) " + tail
}

// one queries a number or a table.
func (c counted) one(selected, tail string) question {
	return question{from: clicks, text: strings.TrimSpace(c.sql(selected, tail))}
}

// series queries numbers over time. group queries one number over time for each value of a column.
func (c counted) series(selected string) question {
	c.fine = true
	return question{from: clicks, series: true, text: c.sql("toDateTime(intDiv(intDiv(ms, 1000), "+width+") * "+width+", 'UTC') AS time, "+
		selected, "GROUP BY time ORDER BY time")}
}

func (c counted) group(value, name, selected string) question {
	c.fine = true
	return question{from: clicks, series: true, text: c.sql("toDateTime(intDiv(intDiv(ms, 1000), "+width+") * "+width+", 'UTC') AS time, "+
		value+" AS "+name+", "+selected, "GROUP BY time, "+name+" ORDER BY time")}
}

// top counts clicks by the values of a column, the most frequent first. The empty value is shown as none.
func (c counted) top(value, name, none string, n int) question {
	return c.one(fmt.Sprintf("if(%[1]s = '', '%[3]s', %[1]s) AS %[2]s, sum(n) AS clicks", value, name, none),
		fmt.Sprintf("GROUP BY %[1]s ORDER BY clicks DESC, %[1]s LIMIT %[2]d", name, n))
}
