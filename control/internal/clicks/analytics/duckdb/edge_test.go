package duckdb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A file that lacks columns is refused and stays as it is. The message names the build that adds them.
func TestS11_a_file_from_before_the_first_release(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks.duckdb")
	testkit.Must(t, open(t, path).Close())
	do := func(statements ...string) (tables int) {
		t.Helper()
		db, err := sql.Open("duckdb", path)
		testkit.Must(t, err)
		defer db.Close()
		for _, statement := range statements {
			_, err := db.ExecContext(t.Context(), statement)
			testkit.Must(t, err)
		}
		testkit.Must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM duckdb_tables()").Scan(&tables))
		return tables
	}
	before := do("ALTER TABLE clicks DROP COLUMN participant", "DROP TABLE conversions")
	s, err := duckdb.Open(t.Context(), duckdb.Config{Path: path})
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "a build of commit a1c3869c") {
		t.Errorf("a file without a column: %v", err)
	}
	if after := do(); after != before {
		t.Errorf("%d tables after the refusal, before %d", after, before)
	}
}

// Clicks keep the name and the region of their edge, and their language.
func TestOps7_Clicks_keep_their_edge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks.duckdb")
	rows := analyticstest.Clicks(1, 4, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1)
	for i := range rows {
		rows[i].EdgeName, rows[i].EdgeRegion, rows[i].Language = "", "", ""
	}
	s := open(t, path)
	rows[2].EdgeName, rows[2].EdgeRegion, rows[2].Language = "fra-1", "eu-central", "fr"
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
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
