package duckdb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
)

// A file of the previous release has no columns for the edge. It opens, its clicks have no edge, and new clicks keep
// theirs.
func TestOps7_Clicks_keep_their_edge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks.duckdb")
	rows := analyticstest.Clicks(1, 4, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1)
	old := open(t, path)
	if err := old.Insert(t.Context(), analytics.Batch{Rows: rows[:2]}); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"edge_name", "edge_region", "language"} {
		if _, err := db.ExecContext(t.Context(), "ALTER TABLE clicks DROP COLUMN "+column); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s := open(t, path)
	defer s.Close()
	rows[2].EdgeName, rows[2].EdgeRegion, rows[3].EdgeName, rows[3].EdgeRegion = "fra-1", "eu-central", "", ""
	rows[2].Language = "fr"
	if err := s.Insert(t.Context(), analytics.Batch{Rows: rows[2:]}); err != nil {
		t.Fatal(err)
	}
	got, languages := map[uint64]string{}, map[uint64]string{}
	if err := s.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 10, func(r *analytics.Row) error {
		got[r.Seq] = strings.TrimSpace(r.EdgeName + " " + r.EdgeRegion)
		languages[r.Seq] = r.Language
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[1] != "" || got[2] != "" || got[3] != "fra-1 eu-central" || got[4] != "" {
		t.Errorf("edges of the clicks: %v", got)
	}
	if languages[1] != "" || languages[2] != "" || languages[3] != "fr" {
		t.Errorf("languages of the clicks: %v", languages)
	}
}
