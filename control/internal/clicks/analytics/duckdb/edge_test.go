package duckdb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A file of the previous release has no columns for the edge. It opens, its clicks have no edge, and new clicks keep
// theirs.
func TestOps7_Clicks_keep_their_edge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks.duckdb")
	rows := analyticstest.Clicks(1, 4, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1)
	old := open(t, path)
	testkit.Must(t, old.Insert(t.Context(), analytics.Batch{Rows: rows[:2]}))
	testkit.Must(t, old.Close())
	db, err := sql.Open("duckdb", path)
	testkit.Must(t, err)
	for _, column := range []string{"edge_name", "edge_region", "language"} {
		if _, err := db.ExecContext(t.Context(), "ALTER TABLE clicks DROP COLUMN "+column); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Must(t, db.Close())

	s := open(t, path)
	rows[2].EdgeName, rows[2].EdgeRegion, rows[3].EdgeName, rows[3].EdgeRegion = "fra-1", "eu-central", "", ""
	rows[2].Language = "fr"
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows[2:]}))
	got, languages := map[uint64]string{}, map[uint64]string{}
	testkit.Must(t, s.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 10, func(r *analytics.Row) error {
		got[r.Seq] = strings.TrimSpace(r.EdgeName + " " + r.EdgeRegion)
		languages[r.Seq] = r.Language
		return nil
	}))
	if len(got) != 4 || got[1] != "" || got[2] != "" || got[3] != "fra-1 eu-central" || got[4] != "" {
		t.Errorf("edges of the clicks: %v", got)
	}
	if languages[1] != "" || languages[2] != "" || languages[3] != "fr" {
		t.Errorf("languages of the clicks: %v", languages)
	}
}
