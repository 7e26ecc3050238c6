package analytics

import (
	"sort"
	"time"
)

// Day is a calendar day, as a number of days since 1 January 1970.
type Day int

const dayMillis = 24 * 60 * 60 * 1000

// DayOf returns the calendar day in a zone at a time in Unix milliseconds. A nil zone means UTC.
func DayOf(ms int64, zone *time.Location) Day {
	return Day(floorDiv(ms+offset(ms, zone), dayMillis))
}

// DayOn returns the day of a date.
func DayOn(year int, month time.Month, day int) Day {
	return Day(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixMilli(), dayMillis))
}

// Start returns the first millisecond of the day in a zone. If the zone skipped the day, it is the start of the next
// day.
func (d Day) Start(zone *time.Location) int64 {
	// Zones are less than 26 hours from UTC. The search for the boundary also works where clocks went forward at
	// midnight, so that midnight does not exist.
	low := int64(d)*dayMillis - 26*60*60*1000
	return low + int64(sort.Search(52*60*60*1000, func(i int) bool { return DayOf(low+int64(i), zone) >= d }))
}

// String returns the day as YYYY-MM-DD.
func (d Day) String() string {
	return time.UnixMilli(int64(d) * dayMillis).UTC().Format(time.DateOnly)
}

// offset returns how far the clocks of a zone are ahead of UTC, in milliseconds.
func offset(ms int64, zone *time.Location) int64 {
	if zone == nil || zone == time.UTC {
		return 0
	}
	_, seconds := time.UnixMilli(ms).In(zone).Zone()
	return int64(seconds) * 1000
}

// shift is a zone offset and the time until which it applies.
type shift struct {
	until  int64 // Unix milliseconds, exclusive
	offset int64 // milliseconds
}

// shifts lists the offsets of a zone in [from, to). The last one has no end.
func shifts(from, to int64, zone *time.Location) []shift {
	// No zone changes twice in half a day. Time.ZoneBounds cannot be used: after the end of a zone's table, its bounds
	// do not always enclose the time.
	const step = 12 * 60 * 60 * 1000
	current := shift{offset: offset(from, zone)}
	var list []shift
	for at := from; at < to; at += step {
		next := offset(at+step, zone)
		if next == current.offset {
			continue
		}
		current.until = at + int64(sort.Search(step, func(i int) bool { return offset(at+int64(i), zone) == next }))
		if current.until >= to {
			break
		}
		list = append(list, current)
		current = shift{offset: next}
	}
	current.until = 0
	return append(list, current)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
