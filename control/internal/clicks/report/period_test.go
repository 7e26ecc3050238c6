package report

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A period is compared with the same weekdays, without an overlap, also across a change of the clocks.
func TestPeriod_weeks_before_have_the_same_weekdays(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	s := New(nil, nil, time.Now)
	for _, c := range []struct{ interval, start, end, from, to string }{
		{"day", "2026-04-05", "2026-04-05", "2026-03-29T00:00", "2026-03-30T00:00"},
		{"day", "2026-04-06", "2026-04-12", "2026-03-30T00:00", "2026-04-06T00:00"},
		{"week", "2026-04-01", "2026-04-30", "2026-02-25T00:00", "2026-03-27T00:00"},
		{"hour", "2026-03-30T09:00", "2026-03-30T10:00", "2026-03-23T09:00", "2026-03-23T10:00"},
		{"hour", "2026-03-30T20:00", "2026-03-31T20:00", "2026-03-23T20:00", "2026-03-24T20:00"},
		{"minute", "2026-11-21T09:30", "2026-11-21T10:00", "2026-11-14T09:30", "2026-11-14T10:00"},
	} {
		p, err := s.period(Range{Interval: c.interval, Start: c.start, End: c.end, Zone: zone.String()})
		testkit.Must(t, err)
		within := p.weeksBefore().limit(analytics.Scope{})
		got := []string{time.UnixMilli(within.From).In(zone).Format("2006-01-02T15:04"), time.UnixMilli(within.To).In(zone).Format("2006-01-02T15:04")}
		if got[0] != c.from || got[1] != c.to {
			t.Errorf("%s to %s: %v, want %s and %s", c.start, c.end, got, c.from, c.to)
		}
	}
}

// A named range ends with today in its zone, which may be another day than in UTC.
func TestPeriod_ends_with_today_in_its_zone(t *testing.T) {
	t.Parallel()
	day := func(text string) analytics.Day {
		at, err := time.Parse(time.DateOnly, text)
		testkit.Must(t, err)
		return analytics.DayOf(at.UnixMilli(), nil)
	}
	for _, c := range []struct{ now, zone, first, last string }{
		{"2026-01-31T20:00:00Z", "Pacific/Auckland", "2026-01-26", "2026-02-01"},
		{"2026-01-31T20:00:00Z", "", "2026-01-25", "2026-01-31"},
		{"2026-02-01T03:00:00Z", "America/Los_Angeles", "2026-01-25", "2026-01-31"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		testkit.Must(t, err)
		s := New(nil, nil, func() time.Time { return now })
		for _, r := range []Range{{Name: "last_7_days", Zone: c.zone}, {Start: c.first, Zone: c.zone}} {
			p, err := s.period(r)
			testkit.Must(t, err)
			if p.First != day(c.first) || p.Last != day(c.last) {
				t.Errorf("%s, %+v: from %v to %v", c.now, r, p.First, p.Last)
			}
		}
	}
}
