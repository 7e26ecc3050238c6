package report

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

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
