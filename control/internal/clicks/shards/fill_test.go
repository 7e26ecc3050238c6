package shards_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/shards"
)

// A server that fails again and again stays out for longer each time, because each attempt to fill it delays clicks.
func TestFiller_rests_longer_after_failures(t *testing.T) {
	f := shards.NewFiller(nil, "main", nil, nil, nil)
	now := time.Now()
	for _, c := range []struct {
		failures int
		tried    time.Time
		rest     time.Duration
	}{
		{0, now, 10 * time.Second}, {1, now, 20 * time.Second}, {3, now, 80 * time.Second}, {6, now, 10 * time.Minute}, {100, now, 10 * time.Minute},
		{100, now.Add(-21 * time.Minute), 10 * time.Second}, // it succeeded for long
	} {
		if !f.Rests(c.failures, c.tried, c.rest-time.Second) || f.Rests(c.failures, c.tried, c.rest) {
			t.Errorf("after %d failures, the last one at %v, a server does not rest for %v", c.failures, c.tried.Sub(now), c.rest)
		}
	}
}
