package report_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A report about many visitors says that they are estimated, and how well. Both stores make the same report.
func TestReports_say_that_visitors_are_estimated(t *testing.T) {
	t.Parallel()
	duck, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), ExactVisitors: 300})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = duck.Close() })
	house, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t), ExactVisitors: 300})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = house.Close() })
	rows := analyticstest.Clicks(5, 3000, time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC), 3)
	st := grouped(t)
	root := auth.Principal{UserID: "root", Role: auth.Admin}
	ask := report.Ask{Range: report.Range{Start: "2026-07-28", End: "2026-08-02", Zone: "America/New_York"}}
	var answers, files [2]string
	for i, clicks := range []analytics.Store{duck, house} {
		testkit.Must(t, load(t.Context(), clicks, rows))
		s := report.New(st, clicks, func() time.Time { return time.Date(2026, 8, 9, 0, 0, 0, 0, time.UTC) })
		all, err := s.Overview(t.Context(), root, ask)
		testkit.Must(t, err)
		if o := all.Overview; o.Exact || o.Error != analytics.EstimateError(o.UniqueVisitors) || o.UniqueVisitors < 400 ||
			o.UniqueVisitors > 1000 || all.Distinct != o.Distinct {
			t.Errorf("%T: visitors of everything: %+v and %+v, want an estimate of 650", clicks, o.Distinct, all.Distinct)
		}
		for _, d := range all.TimeSeries {
			if d.Exact != (d.Clicks == 0) || d.Exact != (d.Error == 0) {
				t.Errorf("%T: an estimated series has %+v", clicks, d)
			}
		}
		one, _, err := s.Link(t.Context(), root, linkID(20), ask)
		testkit.Must(t, err)
		if !one.Exact || one.Error != 0 || one.UniqueVisitors == 0 || !one.TimeSeries[0].Exact {
			t.Errorf("%T: visitors of a link with few clicks: %+v", clicks, one.Distinct)
		}
		groups, err := s.Groups(t.Context(), root, "tag", ask)
		testkit.Must(t, err)
		tests, err := s.Tests(t.Context(), root, ask)
		testkit.Must(t, err)
		text, err := json.Marshal([]any{all, one, groups, tests})
		testkit.Must(t, err)
		answers[i] = string(text)
		e, err := s.Export(t.Context(), root, "", ask, false)
		testkit.Must(t, err)
		var file bytes.Buffer
		testkit.Must(t, e.WriteCSV(t.Context(), &file))
		_, files[i], _ = strings.Cut(file.String(), "Overview")
		if !strings.Contains(files[i], "Unique Visitors Standard Error (%)") {
			t.Errorf("%T: the file does not say that visitors are estimated", clicks)
		}
	}
	if answers[0] != answers[1] || files[0] != files[1] {
		t.Errorf("the stores differ:\n%s\n%s", answers[0], answers[1])
	}
	if !strings.Contains(answers[0], `"uniqueVisitorsIsExact":false,"error":`) {
		t.Errorf("the report lacks the members: %s", answers[0])
	}
}
