//go:build proof

package clickhouse_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Two processes that rebuild the same backlog share the work.
func TestRebuild_two_processes_share_a_backlog(t *testing.T) {
	t.Parallel()
	server, url := database(t)
	first := open(t, clickhouse.Config{URL: url})
	second := open(t, clickhouse.Config{URL: url})
	testkit.Must(t,
		first.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(20, 40_000, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 10)}))
	var both sync.WaitGroup
	for _, s := range []*clickhouse.Store{first, second} {
		both.Go(func() {
			if err := s.Rebuild(t.Context(), distant); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	var slots, builds float64
	text, err := server.Ask(t.Context(), "SELECT uniqExact(slot), count() FROM rollup_builds FORMAT TSV")
	if err == nil {
		_, err = fmt.Sscan(text, &slots, &builds)
	}
	if err != nil || slots < 500 || builds > 1.5*slots {
		t.Errorf("%.0f builds for %.0f slots, %v; want at most 1.5 for each", builds, slots, err)
	}
}
