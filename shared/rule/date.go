package rule

import (
	"math"
	"strings"
	"time"
)

// date is an instant, or a local time whose zone the compiler adds.
type date struct {
	time.Time // local times as if they were in UTC
	local     bool
	set       bool
}

// in returns the instant in Unix milliseconds. A local time that occurs twice means the first one.
func (d date) in(zone *time.Location) int64 {
	if d.local {
		year, month, day := d.Date()
		hour, minute, second := d.Clock()
		return time.Date(year, month, day, hour, minute, second, d.Nanosecond(), zone).UnixMilli()
	}
	return d.UnixMilli()
}

// date completes the test of a date.
func (c *compiler) date(l *condition, t *test) {
	zone := c.zone
	if l.zone != nil {
		zone = l.zone.location
	}
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	switch l.op {
	case opBefore:
		to = l.dates[0].in(zone)
	case opAfter:
		from = l.dates[0].in(zone)
	default:
		from, to = l.dates[0].in(zone), l.dates[1].in(zone)
	}
	if from >= to {
		t.code = codeNever
		return
	}
	t.code, t.a = codeInstant, c.numbers(uint64(from), uint64(to))
}

func (p *parser) dateValue(c *condition, v *value, at *path) {
	c.dates[0], c.dates[1] = moments(p, c, v, at, "date", "", p.date)
	first, last := &c.dates[0], &c.dates[1]
	if first.set && last.set && first.local == last.local && !first.Before(last.Time) {
		p.report(at.child("end"), "end must be later than start")
	}
}

// localDates are the forms of a date without an offset. Parsing accepts a fraction of a second, too.
var localDates = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}

func (p *parser) date(v *value, at *path, name string) date {
	const form = "a date such as 2026-12-24T18:00:00+01:00, or without an offset 2026-12-24T18:00 or 2026-12-24"
	switch {
	case v == nil:
		p.report(at, "%s is required: %s", name, form)
		return date{}
	case v.shape == shapeText:
		s := strings.TrimSpace(v.text)
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return date{Time: t, set: true}
		}
		for _, layout := range localDates {
			if t, err := time.Parse(layout, s); err == nil {
				return date{Time: t, local: true, set: true}
			}
		}
	}
	p.report(at, "%s must be %s", name, form)
	return date{}
}
