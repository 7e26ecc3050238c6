package main

import (
	"fmt"
	"strings"
)

// The times of the range in quarter hours of UTC, the unit of the rollups: the first slot that begins in the range, and the
// one after the last that ends in it.
const (
	firstSlot = "toUInt32(intDiv(toInt64(${__from}) + 899999, 900000))"
	endSlot   = "toUInt32(intDiv(toInt64(${__to}) + 1, 900000))"
)

// fine is the step of a series, in seconds, below which it reads clicks: rollups have quarter hours. Grafana takes such a
// step for ranges of less than about half a day.
const fine = 60

// width renders the width of a series' intervals: the one that Grafana asks for, or the next whole number of quarter hours.
var width = fmt.Sprintf("if($__interval_s < %d, greatest(toInt64($__interval_s), 1), intDiv(toInt64($__interval_s) + 899, 900) * 900)", fine)

// rawSlot renders from which slot on clicks are read one by one: the first that was written to since its rollup was built,
// which is usually one of the last half hour.
func rawSlot() string {
	const within = " WHERE slot >= " + firstSlot + " AND slot < " + endSlot
	return "SELECT coalesce(minOrNull(slot), " + endSlot + ") FROM (SELECT slot, sum(n) AS written, max(marks) AS built FROM" +
		" (SELECT slot, max(n) AS n, toUInt64(0) AS marks FROM rollup_marks" + within + " GROUP BY slot, writer" +
		" UNION ALL SELECT slot, toUInt64(0) AS n, marks FROM rollup_builds" + within + ") GROUP BY slot HAVING written > 0) WHERE written != built"
}

// counted is a statement over the clicks in the range that meet a condition, each with n clicks, ms (the beginning of its
// slot, or its own time) and last_ms. Whole slots that are up to date are read from a rollup, in the version that counts
// for each; the rest of the range, at its beginning and from the first slot on that is not, from the clicks. It is exact, but
// for the moment in which a late batch of clicks arrives.
type counted struct {
	columns string // of clicks that the statement names, besides bot and link
	where   string
	fine    bool // a series, whose intervals may be shorter than a slot
}

// table is the smallest rollup that has the columns.
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
		" WHERE $__timeFilter_ms(ts) AND (ts < fromUnixTimestamp64Milli(toInt64(" + firstSlot + ") * 900000) OR ts >= fromUnixTimestamp64Milli(toInt64(raw_slot) * 900000))" +
		" AND (" + c.where + ")) " + tail
}

// one asks for a number or a table.
func (c counted) one(selected, tail string) question {
	return question{from: clicks, text: strings.TrimSpace(c.sql(selected, tail))}
}

// series asks for the course of numbers, and group for that of one number by the values of a column.
func (c counted) series(selected string) question {
	c.fine = true
	return question{from: clicks, series: true, text: c.sql("toDateTime(intDiv(intDiv(ms, 1000), "+width+") * "+width+", 'UTC') AS time, "+selected, "GROUP BY time ORDER BY time")}
}

func (c counted) group(value, name, selected string) question {
	c.fine = true
	return question{from: clicks, series: true, text: c.sql("toDateTime(intDiv(intDiv(ms, 1000), "+width+") * "+width+", 'UTC') AS time, "+value+" AS "+name+", "+selected, "GROUP BY time, "+name+" ORDER BY time")}
}

// top counts the values of a column, the most frequent first. "" is called something.
func (c counted) top(value, name, none string, n int) question {
	return c.one(fmt.Sprintf("if(%[1]s = '', '%[3]s', %[1]s) AS %[2]s, sum(n) AS clicks", value, name, none), fmt.Sprintf("GROUP BY %[1]s ORDER BY clicks DESC, %[1]s LIMIT %[2]d", name, n))
}
