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

// A sample that lacks rows is detected and not used.
func TestStore_detects_an_incomplete_sample(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	s := open(t, clickhouse.Config{URL: url, ExactVisitors: 100})
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	err := errors.Join(s.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(20, 1500, start, 3)}),
		s.Rebuild(t.Context(), distant))
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

	end := start.AddDate(0, 0, 4)
	if drift, err := s.Drift(t.Context(), start, end); err != nil || len(drift.Hours) != 0 {
		t.Errorf("Drift = %+v, %v", drift, err)
	}
	ask(t, server, "ALTER TABLE rollup_sample DELETE WHERE slot % 2 = 0 SETTINGS mutations_sync = 2")
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
