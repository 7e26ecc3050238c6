package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Figures are out of date while nobody stores a source, while a source is behind, and while clicks wait at an edge.
func TestOutOfDate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		says := func(want string) {
			t.Helper()
			reason, err := ingest.OutOfDate(t.Context(), s, ingest.Clicks, ingest.Conversions)
			testkit.Must(t, err)
			if (want == "") != (reason == "") || !strings.Contains(reason, want) {
				t.Errorf("%q, want %q", reason, want)
			}
		}
		says("No process stores clicks")
		var age time.Duration
		assigned := true
		one, two := ingest.NewProgress(s, nil), ingest.NewProgress(s, nil)
		one.Watch(ingest.Clicks, "", func() (time.Duration, bool) { return time.Second, true })
		two.Watch(ingest.Conversions, "", func() (time.Duration, bool) { return age, assigned })
		testkit.Must(t, one.Store(t.Context()))
		says("No process stores conversions")
		testkit.Must(t, two.Store(t.Context()))
		says("")

		age = time.Hour
		testkit.Must(t, two.Store(t.Context()))
		says("Some conversions have not been stored")
		age = 0
		testkit.Must(t, two.Store(t.Context()))
		says("")

		ago := func(d time.Duration) {
			t.Helper()
			testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE ingest_progress SET at = at - CAST(? AS BIGINT) WHERE source = ?`, d.Milliseconds(),
					ingest.Conversions)
				return err
			}))
		}
		assigned = false // another process should have it by now, but none tells
		ago(3 * time.Minute)
		testkit.Must(t, two.Store(t.Context()))
		says("No process stores conversions")
		assigned = true
		testkit.Must(t, two.Store(t.Context()))
		says("")

		report := func(waiting, seen time.Duration) {
			t.Helper()
			r := store.EdgeReport{Edge: "a", Run: "r", Status: fmt.Sprintf(`{"spool": {"oldestMs": %d}}`, waiting.Milliseconds()),
				SeenAt: time.Now().Add(-seen).UnixMilli()}
			testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error {
				_, _, err := tx.SaveEdgeReport(t.Context(), r, "", 0, nil)
				return err
			}))
		}
		report(time.Minute, 0)
		says("")
		report(time.Hour, 0)
		says("at an edge")
		report(time.Hour, time.Hour) // an edge that was switched off
		says("")
	})
}

// A region whose Kafka cannot be read keeps figures out of date, and what was last known of it is not forgotten. The clicks
// of other regions reach further.
func TestReaches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		tx := func(f func(tx *store.Tx) error) {
			t.Helper()
			testkit.Must(t, s.Tx(t.Context(), f))
		}
		reachable := true
		eu, us := ingest.NewProgress(s, nil), ingest.NewProgress(s, nil)
		// A region reaches as far as the earlier of its Kafka and its edges. Kafka is some minutes behind here, so that it
		// stays the earlier one when this test is slow.
		const behind = ingest.MaxBehind / 2
		for _, p := range []*ingest.Progress{eu, us} {
			p.Watch(ingest.Clicks, "eu", func() (time.Duration, bool) { return behind, p == eu })
			p.Watch(ingest.Clicks, "us", func() (time.Duration, bool) { return behind, p == us && reachable })
		}
		report := func(edge, region string, pending int, waits, seen time.Duration) {
			t.Helper()
			r := store.EdgeReport{Edge: edge, Run: "r",
				Status: fmt.Sprintf(`{"region": %q, "spool": {"pending": %d, "oldestMs": %d}}`, region,
					pending, waits.Milliseconds()), SeenAt: time.Now().Add(-seen).UnixMilli()}
			tx(func(tx *store.Tx) error {
				_, _, err := tx.SaveEdgeReport(t.Context(), r, "", 0, nil)
				return err
			})
		}
		reaches := func(want ...string) {
			t.Helper()
			list, err := ingest.Watermarks(t.Context(), s, time.Now().Add(-24*time.Hour).UnixMilli())
			testkit.Must(t, err)
			var got []string
			for _, r := range list {
				lag := "unknown"
				if r.Until != 0 {
					lag = time.Since(time.UnixMilli(r.Until)).Round(time.Hour).String()
				}
				got = append(got, fmt.Sprintf("%s %s behind at %q, %d of %d edges silent", r.Region, lag, r.At, r.Silent, r.Edges))
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		report("a", "eu", 0, 0, 0)
		reaches(`eu unknown behind at "", 0 of 1 edges silent`)
		testkit.Must(t, eu.Store(t.Context()))
		testkit.Must(t, us.Store(t.Context()))
		report("b", "us", 0, 0, 0)
		report("c", "us", 7, 0, 0)
		report("a2", "eu", 0, 0, 9*time.Hour) // stopped long ago, with nothing left
		reaches(`eu 0s behind at "kafka", 1 of 2 edges silent`, `us 0s behind at "kafka", 0 of 2 edges silent`)
		report("a2", "eu", 3, 0, 9*time.Hour) // stopped with clicks
		reaches(`eu 9h0m0s behind at "edge", 1 of 2 edges silent`, `us 0s behind at "kafka", 0 of 2 edges silent`)
		report("a2", "eu", 0, 0, 0)

		reachable = false // for three hours
		tx(func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE ingest_progress SET at = at - ?`, (3 * time.Hour).Milliseconds())
			return err
		})
		for range 2 {
			testkit.Must(t, us.Store(t.Context())) // knows nothing, and forgets nothing
			testkit.Must(t, eu.Store(t.Context()))
		}
		reaches(`eu 0s behind at "kafka", 0 of 2 edges silent`, `us 3h0m0s behind at "kafka", 0 of 2 edges silent`)
		if reason, err := ingest.OutOfDate(t.Context(), s, ingest.Clicks); err != nil || !strings.Contains(reason, "region us") {
			t.Errorf("%q, %v", reason, err)
		}
		report("b", "us", 5, 4*time.Hour, 0) // its clicks have waited longer
		reaches(`eu 0s behind at "kafka", 0 of 2 edges silent`, `us 4h0m0s behind at "edge", 0 of 2 edges silent`)
		report("b", "us", 0, 0, 0)

		alone := ingest.NewProgress(s, nil) // the region was removed from the settings
		alone.Watch(ingest.Clicks, "eu", func() (time.Duration, bool) { return behind, true })
		testkit.Must(t, alone.Store(t.Context()))
		if reason, err := ingest.OutOfDate(t.Context(), s, ingest.Clicks); err != nil || reason != "" {
			t.Errorf("%q, %v", reason, err)
		}
		reaches(`eu 0s behind at "kafka", 0 of 2 edges silent`, `us unknown behind at "", 0 of 2 edges silent`)
	})
}
