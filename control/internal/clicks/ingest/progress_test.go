package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// Figures are out of date while nobody stores a source, while a source is behind, and while clicks wait at an edge.
func TestOutOfDate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		says := func(want string) {
			t.Helper()
			reason, err := ingest.OutOfDate(t.Context(), s, ingest.Clicks, ingest.Conversions)
			must(err)
			if (want == "") != (reason == "") || !strings.Contains(reason, want) {
				t.Errorf("%q, want %q", reason, want)
			}
		}
		says("No process stores clicks")
		var age time.Duration
		assigned := true
		one, two := ingest.NewProgress(s, nil), ingest.NewProgress(s, nil)
		one.Watch(ingest.Clicks, func() (time.Duration, bool) { return time.Second, true })
		two.Watch(ingest.Conversions, func() (time.Duration, bool) { return age, assigned })
		must(one.Tell(t.Context()))
		says("No process stores conversions")
		must(two.Tell(t.Context()))
		says("")

		age = time.Hour
		must(two.Tell(t.Context()))
		says("Some conversions have not been stored")
		age = 0
		must(two.Tell(t.Context()))
		says("")

		ago := func(d time.Duration) {
			t.Helper()
			must(s.Tx(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE ingest_progress SET at = at - CAST(? AS BIGINT) WHERE source = ?`, d.Milliseconds(), ingest.Conversions)
				return err
			}))
		}
		assigned = false // another process should have it by now, but none tells
		ago(3 * time.Minute)
		must(two.Tell(t.Context()))
		says("No process stores conversions")
		assigned = true
		must(two.Tell(t.Context()))
		says("")

		report := func(waiting, seen time.Duration) {
			t.Helper()
			r := store.EdgeReport{Edge: "a", Run: "r", Status: fmt.Sprintf(`{"spool": {"oldestMs": %d}}`, waiting.Milliseconds()), SeenAt: time.Now().Add(-seen).UnixMilli()}
			must(s.Tx(t.Context(), func(tx *store.Tx) error {
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
