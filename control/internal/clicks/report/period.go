package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// Range is a period as specified by a caller. The zero Range is the last 30 days in UTC.
type Range struct {
	// Start and End are dates (2026-01-31) or instants; of an instant, the day in the zone counts. Without an end the
	// range ends today. Without a start it has 30 days.
	Start, End string
	// Name is last_7_days, last_30_days, last_90_days or last_365_days; with Interval minute or hour also last_hour,
	// last_6_hours or last_24_hours. "custom" and "" mean that Start and End apply.
	Name string
	// Interval is minute, hour, day, week or month; "" means day. With minute and hour, instants mean themselves and
	// not their day, and End is exclusive.
	Interval string
	// Zone is an IANA name; "" means UTC.
	Zone string
}

// isOpen reports whether the caller specified no period. Some reports then cover all time.
func (r Range) isOpen() bool {
	return r.Start == "" && r.End == "" && (r.Name == "" || r.Name == "custom")
}

const (
	maxDays     = 365
	defaultDays = 30
)

var namedDays = map[string]int{"last_7_days": 7, "last_30_days": 30, "last_90_days": 90, "last_365_days": 365}

// Period is a range of whole days in a zone, both ends included, or a part of these days.
type Period struct {
	First, Last analytics.Day
	Zone        *time.Location
	// From and To limit the period if To is not 0: Unix milliseconds, To exclusive.
	From, To int64
	Every    analytics.Interval // of series
}

// Days returns the number of days in the period.
func (p Period) Days() int { return int(p.Last-p.First) + 1 }

// limit returns the scope, limited to the period.
func (p Period) limit(s analytics.Scope) analytics.Scope {
	s.From, s.To = p.From, p.To
	if p.To == 0 {
		s.From, s.To = p.First.Start(p.Zone), (p.Last + 1).Start(p.Zone)
	}
	return s
}

// before returns the preceding period with the same number of days, or of the same length.
func (p Period) before() Period {
	if p.To != 0 {
		return p.between(p.From-(p.To-p.From), p.From)
	}
	p.First, p.Last = p.First-analytics.Day(p.Days()), p.First-1
	return p
}

// between returns the period with other limits.
func (p Period) between(from, to int64) Period {
	p.From, p.To = from, to
	p.First, p.Last = analytics.DayOf(from, p.Zone), analytics.DayOf(to-1, p.Zone)
	return p
}

// weeksBefore returns the same weekdays before the period: the same days, as few weeks earlier as possible without an overlap.
func (p Period) weeksBefore() Period {
	shift := (analytics.Day(p.Days()) + 6) / 7 * 7
	if p.To != 0 {
		start := (p.First - shift).Start(p.Zone) + p.From - p.First.Start(p.Zone)
		return p.between(start, start+p.To-p.From)
	}
	p.First, p.Last = p.First-shift, p.Last-shift
	return p
}

// yearBefore returns the same period one year earlier. 28 February stands for 29 February.
func (p Period) yearBefore() Period {
	if p.To != 0 {
		start := lastYear(p.First).Start(p.Zone) + p.From - p.First.Start(p.Zone)
		return p.between(start, start+p.To-p.From)
	}
	p.First, p.Last = lastYear(p.First), lastYear(p.Last)
	return p
}

func lastYear(d analytics.Day) analytics.Day {
	y, m, n := time.UnixMilli(d.Start(nil)).UTC().Date()
	if m == time.February && n == 29 {
		n = 28
	}
	return analytics.DayOn(y-1, m, n)
}

// period parses a range. Its error is a *problem.Error.
func (s *Service) period(r Range) (Period, error) {
	var problems problem.Fields
	p := Period{Zone: time.UTC}
	if r.Zone != "" {
		zone, err := time.LoadLocation(r.Zone)
		if err != nil || r.Zone == "Local" {
			problems.Add("timezone", "is not a time zone of the IANA database, such as Europe/Berlin")
		} else {
			p.Zone = zone
		}
	}
	p.Every = intervals[r.Interval]
	switch p.Every {
	case analytics.NoInterval:
		p.Every = analytics.Days
		if r.Interval != "" {
			problems.Add("interval", "must be minute, hour, day, week or month")
		}
	case analytics.Minutes, analytics.Hours:
		return s.exact(r, p, problems)
	}
	today := analytics.DayOf(s.now().UnixMilli(), p.Zone)
	if days, ok := namedDays[r.Name]; ok {
		p.First, p.Last = today-analytics.Day(days)+1, today
		return p, problems.Err()
	}
	if r.Name != "" && r.Name != "custom" {
		problems.Add("timeRange", "must be last_7_days, last_30_days, last_90_days, last_365_days or custom")
	}
	start, startAt, startOK := day(r.Start, p.Zone)
	if !startOK {
		problems.Add("startDate", "must be a date or a time in ISO 8601")
	}
	end, endAt, endOK := day(r.End, p.Zone)
	if !endOK {
		problems.Add("endDate", "must be a date or a time in ISO 8601")
	}
	if r.End == "" {
		end = today
	}
	if r.Start == "" {
		start = end - defaultDays + 1
	}
	p.First, p.Last = start, end
	if startOK && endOK {
		// Two times exactly a year apart fall on 366 days, and are accepted.
		year := startAt != 0 && endAt != 0 && endAt-startAt <= maxDays*24*60*60*1000
		switch {
		case end < start:
			problems.Add("endDate", "must not be before startDate")
		case p.Days() > maxDays && !year:
			problems.Add("endDate", "must be at most %d days after startDate, both included", maxDays)
		}
	}
	return p, problems.Err()
}

var intervals = map[string]analytics.Interval{"minute": analytics.Minutes, "hour": analytics.Hours, "day": analytics.Days,
	"week": analytics.Weeks, "month": analytics.Months}

const (
	minute = 60 * 1000
	hour   = 60 * minute

	maxMinutes  = 6 * hour
	maxHourDays = 31
)

var namedHours = map[string]int64{"last_hour": 1, "last_6_hours": 6, "last_24_hours": 24}

// Intervals returns the values of Range.Interval, the shortest first.
func Intervals() []string {
	return slices.SortedFunc(maps.Keys(intervals), func(a, b string) int { return cmp.Compare(intervals[a], intervals[b]) })
}

// RangeNames returns the values of Range.Name, sorted.
func RangeNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(namedDays)), maps.Keys(namedHours))
	return slices.Sorted(slices.Values(append(names, "custom")))
}

// exact parses the range of a report by minutes or hours, in which instants mean themselves. Without a range, these
// are the last hour or the last 24 hours.
func (s *Service) exact(r Range, p Period, problems problem.Fields) (Period, error) {
	hours, named := namedHours[r.Name]
	if r.isOpen() {
		hours, named = 24, true
		if p.Every == analytics.Minutes {
			hours = 1
		}
	}
	days := int64(namedDays[r.Name])
	now := s.now().UnixMilli()
	switch {
	case named:
		end := now - now%minute + minute
		p = p.between(end-hours*hour, end)
	case days > 0:
		today := analytics.DayOf(now, p.Zone)
		p = p.between((today - analytics.Day(days) + 1).Start(p.Zone), (today + 1).Start(p.Zone))
	case r.Name != "" && r.Name != "custom":
		problems.Add("timeRange", "must be last_hour, last_6_hours, last_24_hours, last_7_days, last_30_days or custom")
	default:
		from, fromOK := instant(r.Start, p.Zone, 0)
		to, toOK := instant(r.End, p.Zone, 1)
		if !fromOK {
			problems.Add("startDate", "must be a date or a time in ISO 8601")
		}
		if !toOK {
			problems.Add("endDate", "must be a date or a time in ISO 8601")
		}
		if r.End == "" {
			to = now - now%minute + minute
		}
		if r.Start == "" {
			from = to - 24*hour
			if p.Every == analytics.Minutes {
				from = to - hour
			}
		}
		if fromOK && toOK && from >= to {
			problems.Add("endDate", "must be after startDate")
		}
		p = p.between(from, max(to, from+1))
	}
	switch {
	case p.Every == analytics.Minutes && p.To-p.From > maxMinutes:
		problems.Add("interval", "must not be minute for a range of more than 6 hours")
	case p.To > time.UnixMilli(p.From).In(p.Zone).AddDate(0, 0, maxHourDays).UnixMilli():
		problems.Add("interval", "must not be hour for a range of more than %d days", maxHourDays)
	}
	if p.From == p.First.Start(p.Zone) && p.To == (p.Last+1).Start(p.Zone) {
		p.From, p.To = 0, 0 // whole days are compared with whole days, which may be longer or shorter
	}
	return p, problems.Err()
}

// instant parses an instant, a time in the zone, or a date, to which it adds days. It returns Unix milliseconds.
func instant(text string, zone *time.Location, days analytics.Day) (ms int64, ok bool) {
	d, at, ok := day(text, zone)
	if !ok || at != 0 || text == "" {
		return at, ok
	}
	for _, layout := range wallClocks {
		if t, err := time.ParseInLocation(layout, strings.TrimSpace(text), zone); err == nil {
			return t.UnixMilli(), true
		}
	}
	return (d + days).Start(zone), true
}

var instants = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05Z07:00"}

var wallClocks = []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04"}

// day parses a date, or an instant and its Unix milliseconds. A time without a zone is in the given zone.
func day(text string, zone *time.Location) (d analytics.Day, at int64, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, 0, true
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return analytics.DayOn(t.Date()), 0, true
	}
	if i := strings.LastIndexByte(text, ' '); i > len("2006-01-02") {
		text = text[:i] + "+" + text[i+1:] // an unescaped plus sign in a query
	}
	for _, layout := range instants {
		if t, err := time.Parse(layout, text); err == nil {
			return analytics.DayOf(t.UnixMilli(), zone), t.UnixMilli(), true
		}
	}
	for _, layout := range wallClocks {
		if t, err := time.Parse(layout, text); err == nil {
			return analytics.DayOn(t.Date()), 0, true
		}
	}
	return 0, 0, false
}
