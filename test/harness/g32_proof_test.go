//go:build proof

package harness_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG32 deletes N rows from ClickHouse directly. The audit must find the gap and request the clicks from the edge
// that still has them. In the end each click must be there once.
func TestG32_rows_that_vanish_are_shipped_again(t *testing.T) {
	t.Parallel()
	n, perSecond := count(t, 100_000), rate(t, 5000)
	c := startSpread(t, spread(t, fleet.Config{Edges: 2, Controls: 1}), 10)
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: float64(perSecond)}, func() {
		crowd.more(3 * n)
	})
	stored(t, c.Fleet, crowd, r.Acked)
	all := c.Everything()
	lanes, err := c.Store.Ask(t.Context(), "SELECT edge, epoch, lane FROM clicks GROUP BY edge, epoch, lane")
	testkit.Must(t, err)
	last := 100 + n/len(lanes)
	for _, s := range all {
		if _, err := s.Ask(t.Context(), fmt.Sprintf("ALTER TABLE clicks DELETE WHERE seq BETWEEN 100 AND %d SETTINGS mutations_sync = 2",
			last)); err != nil {
			t.Fatal(err)
		}
	}
	left, err := all.Clicks(t.Context())
	testkit.Must(t, err)
	t.Logf("%d of %d clicks remain after the deletion", left, r.Acked)
	if r.Acked-int64(left) < int64(n)*9/10 {
		t.Fatalf("%d rows were deleted, want %d", r.Acked-int64(left), n)
	}
	began := time.Now()
	fleet.Hold(time.Minute) // the audit waits until a gap is two minutes old
	reaches(t, "the deleted clicks are back", int(r.Acked), func() int { return clicks(t, all) })
	t.Logf("the deleted clicks were back after %s", time.Since(began).Round(time.Second))
	stored(t, c.Fleet, crowd, r.Acked)
}
