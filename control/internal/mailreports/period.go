package mailreports

import (
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

// sentAt is the hour of the day at which reports are sent, in their time zone. By then, late clicks of the day before have arrived.
const sentAt = 7

// period is a complete week or month.
type period struct{ first, last time.Time } // midnights of days in UTC, both included

// newest returns the newest period that has ended at a time, and when the report of the next one is due. Before sentAt, the
// period that ended at midnight does not count as ended.
func newest(every string, zone *time.Location, now time.Time) (p period, next time.Time) {
	local := now.In(zone)
	y, m, d := local.Date()
	due := func(day time.Time) time.Time { // of the report about the period that ends before a day
		return time.Date(day.Year(), day.Month(), day.Day(), sentAt, 0, 0, 0, zone)
	}
	start := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	if every == store.MailWeekly {
		start = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		start = start.AddDate(0, 0, -(int(start.Weekday())+6)%7) // Monday
	}
	if now.Before(due(start)) {
		start = shifted(every, start, -1)
	}
	return period{shifted(every, start, -1), start.AddDate(0, 0, -1)}, due(shifted(every, start, 1))
}

func shifted(every string, day time.Time, n int) time.Time {
	if every == store.MailWeekly {
		return day.AddDate(0, 0, 7*n)
	}
	return day.AddDate(0, n, 0)
}

// key identifies the period of a report.
func (p period) key(every string) string { return every + " " + p.first.Format(time.DateOnly) }

// String returns the period in words.
func (p period) String() string {
	switch {
	case p.first.Day() == 1 && p.last.AddDate(0, 0, 1).Day() == 1 && p.first.Month() == p.last.Month():
		return p.first.Format("January 2006")
	case p.first.Month() == p.last.Month():
		return fmt.Sprintf("%d to %s", p.first.Day(), p.last.Format("2 January 2006"))
	case p.first.Year() == p.last.Year():
		return p.first.Format("2 January") + " to " + p.last.Format("2 January 2006")
	}
	return p.first.Format("2 January 2006") + " to " + p.last.Format("2 January 2006")
}
