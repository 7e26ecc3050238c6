package report

import (
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
	// Name is last_7_days, last_30_days, last_90_days or last_365_days. "custom" and "" mean that Start and End apply.
	Name string
	// Zone is an IANA name; "" means UTC.
	Zone string
}

// open reports whether the caller specified no period. Some reports then cover all time.
func (r Range) open() bool {
	return r.Start == "" && r.End == "" && (r.Name == "" || r.Name == "custom")
}

const (
	maxDays     = 365
	defaultDays = 30
)

var namedDays = map[string]int{"last_7_days": 7, "last_30_days": 30, "last_90_days": 90, "last_365_days": 365}

// Period is a range of whole days in a zone, both ends included.
type Period struct {
	First, Last analytics.Day
	Zone        *time.Location
}

// Days returns the number of days in the period.
func (p Period) Days() int { return int(p.Last-p.First) + 1 }

// limit returns the scope, limited to the period.
func (p Period) limit(s analytics.Scope) analytics.Scope {
	s.From, s.To = p.First.Start(p.Zone), (p.Last + 1).Start(p.Zone)
	return s
}

// before returns the preceding period with the same number of days.
func (p Period) before() Period {
	return Period{p.First - analytics.Day(p.Days()), p.First - 1, p.Zone}
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
