package alerts

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Quiet hours follow the clocks of their zone, across midnight and where clocks are changed.
func TestAudible(t *testing.T) {
	t.Parallel()
	minutes := func(clock string) int64 {
		at, err := time.Parse("15:04", clock)
		testkit.Must(t, err)
		return int64(at.Hour()*60+at.Minute()) + 1
	}
	for _, c := range []struct{ from, to, zone, now, want string }{
		{"22:00", "07:00", "UTC", "2026-12-01T21:59:00Z", "2026-12-01T21:59:00Z"},
		{"22:00", "07:00", "UTC", "2026-12-01T22:00:00Z", "2026-12-02T07:00:00Z"},
		{"22:00", "07:00", "UTC", "2026-12-02T06:59:00Z", "2026-12-02T07:00:00Z"},
		{"22:00", "07:00", "UTC", "2026-12-02T07:00:00Z", "2026-12-02T07:00:00Z"},
		{"12:00", "13:30", "UTC", "2026-12-02T12:30:00Z", "2026-12-02T13:30:00Z"},
		{"12:00", "13:30", "UTC", "2026-12-02T13:30:00Z", "2026-12-02T13:30:00Z"},
		{"00:00", "00:00", "UTC", "2026-12-02T13:30:00Z", "2026-12-02T13:30:00Z"},
		{"22:00", "07:00", "Asia/Tokyo", "2026-12-01T15:00:00Z", "2026-12-01T22:00:00Z"},
		{"22:00", "07:00", "Europe/Berlin", "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"}, // an hour longer
		{"22:00", "07:00", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"}, // an hour shorter
		{"22:00", "02:30", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T01:30:00Z"}, // ends in the hour that does not exist
		{"22:00", "07:00", "No/Where", "2026-12-01T22:00:00Z", "2026-12-02T07:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		testkit.Must(t, err)
		channel := store.AlertChannel{QuietFrom: minutes(c.from), QuietTo: minutes(c.to), Zone: c.zone}
		testkit.Equal(t, audible(&channel, now).UTC().Format(time.RFC3339), c.want, "end of quiet hours %+v", c)
	}
	now := time.Now()
	testkit.Equal(t, audible(&store.AlertChannel{Zone: "UTC"}, now), now, "a channel without quiet hours")
}
