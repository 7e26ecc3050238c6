package clickhouse_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Builds of the release before the sample have the sample after the upgrade, except for one that is being written. A
// sample that lacks rows is detected and not used.
func TestStore_samples_the_builds_of_an_earlier_release(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	ask := func(statement string) string {
		t.Helper()
		out, err := server.Ask(t.Context(), statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return out
	}
	cfg := clickhouse.Config{URL: url, ExactVisitors: 100}
	s := open(t, cfg)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	err := errors.Join(s.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(20, 1500, start, 3)}), s.Rebuild(t.Context(), distant))
	testkit.Must(t, err)
	visitors := func() []analytics.Line {
		t.Helper()
		lines, err := s.Lines(t.Context(), analytics.Query{Every: analytics.Days, Visitors: true})
		if err != nil || len(lines) != 3 || !lines[0].Estimated {
			t.Fatalf("Lines = %+v, %v", lines, err)
		}
		return lines
	}
	want := visitors()

	// The earlier release leaves a finished build of each slot, and is writing another one.
	ask("DROP VIEW rollup_sampled")
	ask("DROP TABLE rollup_sample")
	ask("ALTER TABLE migrations DELETE WHERE version >= 9 SETTINGS mutations_sync = 2")
	const last = "18446744073709551615" // of two builds with the same marks, the higher one counts
	slot := ask("SELECT max(slot) FROM rollup_builds")
	ask("INSERT INTO rollup_begun (slot, build) VALUES (" + slot + ", " + last + ")")
	testkit.Must(t, s.Close())
	s = open(t, cfg)
	const sampled = "SELECT count() FROM rollup_visits WHERE visitor < -8070450532247928832"
	if got, all := ask("SELECT count() FROM rollup_sample"), ask(sampled); got != all || got == "0" {
		t.Errorf("the sample has %s rows, want %s", got, all)
	}
	if got := visitors(); !reflect.DeepEqual(got, want) {
		t.Errorf("after the upgrade\n got %+v\nwant %+v", got, want)
	}
	// The unfinished build is finished now, without a sample. It was begun when the slot had one mark.
	ask("INSERT INTO rollup_visits SELECT * REPLACE (" + last + " AS build) FROM rollup_visits WHERE slot = " + slot)
	ask("ALTER TABLE rollup_sample DELETE WHERE build = " + last + " SETTINGS mutations_sync = 2")
	ask("INSERT INTO rollup_builds SELECT slot, marks, " + last + " FROM rollup_builds WHERE slot = " + slot)
	if got := visitors(); !reflect.DeepEqual(got, want) {
		t.Errorf("a build without a sample counts:\n got %+v\nwant %+v", got, want)
	}

	testkit.Must(t, s.Rebuild(t.Context(), distant))
	end := start.AddDate(0, 0, 4)
	if drift, err := s.Drift(t.Context(), start, end); err != nil || len(drift.Hours) != 0 {
		t.Errorf("Drift = %+v, %v", drift, err)
	}
	ask("ALTER TABLE rollup_sample DELETE WHERE slot % 2 = 0 SETTINGS mutations_sync = 2")
	if reflect.DeepEqual(visitors(), want) {
		t.Fatal("the sample is not read")
	}
	if drift, err := s.Drift(t.Context(), start, end); err != nil || len(drift.Hours) == 0 {
		t.Errorf("Drift of an incomplete sample = %+v, %v", drift, err)
	}
	if got := visitors(); !reflect.DeepEqual(got, want) {
		t.Errorf("an incomplete sample counts:\n got %+v\nwant %+v", got, want)
	}
}
