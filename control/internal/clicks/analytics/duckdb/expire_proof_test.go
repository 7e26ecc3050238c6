//go:build proof

package duckdb_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// full fills a store with clicks and by statements, and opens it again with little memory. Nine million rows cannot be deleted in one
// transaction with that.
func full(t *testing.T, clicks []analytics.Row, statements ...string) *duckdb.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clicks")
	s := open(t, path)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: clicks}))
	for _, text := range statements {
		testkit.Must(t, s.Run(t.Context(), text))
	}
	testkit.Must(t, s.Close())
	s, err := duckdb.Open(t.Context(), duckdb.Config{Path: path, Memory: 40})
	testkit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

var january = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Deleting more clicks at once than fit into the memory fails, and the engine may refuse everything afterwards.
func TestExpire_needs_memory_for_one_day(t *testing.T) {
	t.Parallel()
	kept := analyticstest.Clicks(3, 10, january.AddDate(0, 0, 30), 1)
	days := january.UnixMilli() / (24 * 60 * 60 * 1000)
	s := full(t, kept,
		fmt.Sprintf(`INSERT INTO rollup_values SELECT %d + i // 300000, 1, i, 1, false, '', 1, 0 FROM range(9000000) AS numbers(i)`, days),
		fmt.Sprintf(
			`INSERT INTO clicks BY NAME SELECT * EXCLUDE (i) REPLACE (CAST(9000 + i AS UBIGINT) AS edge, %d + i * 86400000 AS ts) FROM (SELECT * `+
				`FROM clicks LIMIT 1), range(30) AS numbers(i)`, january.UnixMilli()))
	testkit.Must(t, s.Expire(t.Context(), january.AddDate(0, 0, 30)))
	lines, err := s.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
	if err != nil || lines[0].Clicks != int64(len(kept)) {
		t.Errorf("%v clicks are left, want %d (%v)", lines, len(kept), err)
	}
}

// A late click invalidates the visitors of all later days.
func TestRebuild_needs_memory_for_one_day_of_visitors(t *testing.T) {
	t.Parallel()
	clicks := analyticstest.Clicks(3, 3000, january, 30)
	days := january.UnixMilli() / (24 * 60 * 60 * 1000)
	s := full(t, clicks, fmt.Sprintf(`INSERT INTO rollup_visit_days SELECT %d + i, 1, 0 FROM range(30) AS numbers(i)`, days),
		fmt.Sprintf(`INSERT INTO rollup_visits SELECT %d + i // 3125, i, 1, false, -1, 1, 1 FROM range(9000000) AS numbers(i)`, days*96))
	testkit.Must(t, s.Rebuild(t.Context(), distant))
	q := analytics.Query{Visitors: true}
	got, err := s.Lines(t.Context(), q)
	testkit.Must(t, err)
	want, err := s.RawLines(t.Context(), q)
	if err != nil || got[0].Visitors != want[0].Visitors || want[0].Visitors == 0 {
		t.Errorf("%+v, want %+v (%v)", got, want, err)
	}
}
