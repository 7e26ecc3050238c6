package alerts

import (
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

// audible returns the first time from now on at which a channel is not quiet. Quiet hours follow the clocks of the channel's zone: they
// may cross midnight, and where clocks are changed they are an hour longer or shorter.
func audible(c *store.AlertChannel, now time.Time) time.Time {
	if c.QuietFrom == 0 || c.QuietFrom == c.QuietTo {
		return now
	}
	zone, err := time.LoadLocation(c.Zone)
	if err != nil { // a database of time zones that has lost the zone
		zone = time.UTC
	}
	local := now.In(zone)
	minute, from, to := int64(local.Hour()*60+local.Minute()), c.QuietFrom-1, c.QuietTo-1
	days := 0
	switch {
	case from < to && (minute < from || minute >= to), from > to && minute < from && minute >= to:
		return now
	case from > to && minute >= from:
		days = 1
	}
	end := time.Date(local.Year(), local.Month(), local.Day()+days, int(to/60), int(to%60), 0, 0, zone)
	if end.Before(now) { // the clocks were set back within the quiet hours
		return now
	}
	return end
}
