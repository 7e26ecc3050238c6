package analytics_test

import (
	"testing"
	"time"
	_ "time/tzdata" // some machines have no time zone data

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Every day begins where the previous one ends, also if midnight does not exist or exists twice, and if a whole day was
// skipped.
func TestDay_Start(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "America/New_York", "America/Santiago", "America/Havana", "Asia/Beirut", "Asia/Kathmandu",
		"Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "Asia/Gaza", "Pacific/Kiritimati"} {
		zone, err := time.LoadLocation(name)
		testkit.Must(t, err)
		for d := analytics.DayOn(2011, 12, 1); d < analytics.DayOn(2012, 12, 31); d++ {
			start := d.Start(zone)
			if got := analytics.DayOf(start, zone); got != d && !(name == "Pacific/Apia" && d == analytics.DayOn(2011, 12, 30)) {
				t.Fatalf("%s: %s begins on %s", name, d, got)
			}
			if got := analytics.DayOf(start-1, zone); got >= d {
				t.Fatalf("%s: a millisecond before %s begins it is %s", name, d, got)
			}
			at := time.UnixMilli(start).In(zone)
			if want := analytics.DayOn(at.Date()); analytics.DayOf(start, zone) != want {
				t.Fatalf("%s: %s, the calendar says %s", name, d, want)
			}
		}
	}
	if s := analytics.DayOn(2026, 2, 28).String(); s != "2026-02-28" {
		t.Error(s)
	}
	if d := analytics.DayOf(-1, nil); d != -1 {
		t.Errorf("the millisecond before 1970 is on day %d", d)
	}
}
