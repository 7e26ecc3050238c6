package analytics

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Interval is the length of the periods by which a Query groups clicks. Periods follow the clocks of a zone.
type Interval uint8

// The intervals.
const (
	NoInterval Interval = iota
	// Minutes and Hours begin where the clocks show a full minute or hour, and where clocks that are changed jump into
	// another one. An hour that occurs twice, when clocks are set back, is two hours.
	Minutes
	Hours
	Days
	Weeks // begin on Monday
	Months
	// WeekHours are the 168 hours of a week. Clicks of all weeks count together.
	WeekHours
)

const (
	minuteMillis = 60 * 1000
	hourMillis   = 60 * minuteMillis
)

// Period is one period of an interval.
type Period struct {
	Day  Day   // Days, Weeks and Months: the first day, which may be before the scope of the query
	At   int64 // Minutes and Hours: the beginning in Unix milliseconds, which may be before the scope of the query
	Hour int   // WeekHours: 0 is the hour from midnight on Monday, 167 the last one on Sunday
}

// period converts the number that a statement returns for a period.
func (iv Interval) period(n int64) Period {
	switch iv {
	case Minutes, Hours:
		return Period{At: n}
	case WeekHours:
		return Period{Hour: int(n)}
	}
	return Period{Day: Day(n)}
}

// length returns the length of Minutes and Hours in milliseconds, and 0 for other intervals.
func (iv Interval) length() int64 {
	switch iv {
	case Minutes:
		return minuteMillis
	case Hours:
		return hourMillis
	}
	return 0
}

// PeriodsOf returns the periods of an interval in [from, to), in ascending order. A nil zone means UTC. Days that a
// zone skipped are included.
func PeriodsOf(iv Interval, from, to int64, zone *time.Location) []Period {
	var list []Period
	switch iv {
	case NoInterval:
	case WeekHours:
		for h := range 7 * 24 {
			list = append(list, Period{Hour: h})
		}
	case Minutes, Hours:
		for _, at := range starts(from, to, zone, iv.length()) {
			list = append(list, Period{At: at})
		}
	default:
		for d, last := DayOf(from, zone), DayOf(to-1, zone); d <= last; d++ {
			if first := iv.first(d); len(list) == 0 || list[len(list)-1].Day != first {
				list = append(list, Period{Day: first})
			}
		}
	}
	return list
}

// first returns the first day of the day, week or month that a day belongs to.
func (iv Interval) first(d Day) Day {
	switch iv {
	case Weeks:
		return Day(floorDiv(int64(d)+3, 7)*7 - 3) // 1 January 1970 was a Thursday
	case Months:
		y, m, _ := time.UnixMilli(int64(d) * dayMillis).UTC().Date()
		return DayOn(y, m, 1)
	}
	return d
}

// regularSpan is a range of times in which the periods of Minutes or Hours begin at regular times, or in which there is
// only one period.
type regularSpan struct {
	until  int64 // Unix milliseconds, exclusive; 0 means no end
	offset int64 // of the zone, in milliseconds
	single bool  // whether the whole span belongs to the period that begins at start
	start  int64
}

// regularSpans lists the regular spans of [from, to) for periods of a length in milliseconds.
func regularSpans(from, to int64, zone *time.Location, length int64) []regularSpan {
	var list []regularSpan
	before := shift{}
	for i, sh := range shifts(from, to, zone) {
		// A clock that is changed to a full hour begins a regular span. Otherwise the rest of the hour is the end of
		// the period before the change, or a period of its own if the clocks jumped into another hour.
		if at := before.until; i > 0 && floorMod(at+sh.offset, length) != 0 {
			rest := regularSpan{until: at + length - floorMod(at+sh.offset, length), single: true, start: at}
			if floorDiv(at-1+before.offset, length) == floorDiv(at+sh.offset, length) {
				rest.start = startIn(list, at-1, length)
			}
			list = append(list, rest)
		}
		list = append(list, regularSpan{until: sh.until, offset: sh.offset})
		before = sh
	}
	return list
}

// startIn returns the beginning of the period of a time.
func startIn(list []regularSpan, ms, length int64) int64 {
	st := list[slices.IndexFunc(list, func(st regularSpan) bool { return st.until == 0 || ms < st.until })]
	if st.single {
		return st.start
	}
	return floorDiv(ms+st.offset, length)*length - st.offset
}

// starts lists the beginnings of the periods in [from, to).
func starts(from, to int64, zone *time.Location, length int64) (list []int64) {
	all := regularSpans(from, to, zone, length)
	for at := from; at < to; {
		st := all[slices.IndexFunc(all, func(st regularSpan) bool { return st.until == 0 || at < st.until })]
		start, next := st.start, st.until
		if !st.single {
			start = startIn(all, at, length)
			next = start + length
			if st.until != 0 {
				next = min(next, st.until)
			}
		}
		if len(list) == 0 || list[len(list)-1] != start {
			list = append(list, start)
		}
		at = next
	}
	return list
}

// periodNumber renders the number of a time's period, as Interval.period expects it. The zone's offsets within the
// scope are numbers in the text.
func (s *statement) periodNumber(ms string, iv Interval, scope Scope, zone *time.Location) {
	switch iv {
	case Minutes, Hours:
		s.instant(ms, scope, zone, iv.length())
	case WeekHours:
		s.appendText("((")
		s.local(ms, hourMillis, scope, zone)
		s.appendText(" + 72) % 168)") // 1 January 1970 was a Thursday
	case Weeks:
		s.appendText("(intDiv(")
		s.local(ms, dayMillis, scope, zone)
		s.appendText(" + 3, 7) * 7 - 3)")
	case Months:
		months := PeriodsOf(Months, scope.From, cmp.Or(scope.To, openEnd), zone)
		if len(months) == 0 {
			months = []Period{{}}
		}
		s.appendText("CASE WHEN 1 = 0 THEN 0")
		for i, m := range months[1:] {
			s.appendText(fmt.Sprintf(" WHEN %s < %d THEN %d", ms, m.Day.Start(zone), months[i].Day))
		}
		s.appendText(fmt.Sprintf(" ELSE %d END", months[len(months)-1].Day))
	default:
		s.local(ms, dayMillis, scope, zone)
	}
}

// local renders how many whole units of time a zone's clocks show since 1970.
func (s *statement) local(ms string, unit int64, scope Scope, zone *time.Location) {
	list := shifts(scope.From, cmp.Or(scope.To, openEnd), zone)
	s.appendText("intDiv(" + ms)
	if last := list[len(list)-1]; len(list) == 1 {
		s.appendText(fmt.Sprintf(" + %d", last.offset))
	} else {
		s.appendText(" + CASE")
		for _, sh := range list[:len(list)-1] {
			s.appendText(fmt.Sprintf(" WHEN %s < %d THEN %d", ms, sh.until, sh.offset))
		}
		s.appendText(fmt.Sprintf(" ELSE %d END", last.offset))
	}
	s.appendText(fmt.Sprintf(", %d)", unit))
}

// instant renders the beginning of a time's minute or hour.
func (s *statement) instant(ms string, scope Scope, zone *time.Location, length int64) {
	list := regularSpans(scope.From, cmp.Or(scope.To, openEnd), zone, length)
	begin := func(st regularSpan) string {
		if st.single {
			return fmt.Sprint(st.start)
		}
		return fmt.Sprintf("intDiv(%s + %d, %d) * %[3]d - %[2]d", ms, st.offset, length)
	}
	if len(list) == 1 {
		s.appendText("(" + begin(list[0]) + ")")
		return
	}
	s.appendText("(CASE")
	for _, st := range list[:len(list)-1] {
		s.appendText(fmt.Sprintf(" WHEN %s < %d THEN %s", ms, st.until, begin(st)))
	}
	s.appendText(" ELSE " + begin(list[len(list)-1]) + " END)")
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
