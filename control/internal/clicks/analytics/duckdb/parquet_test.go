package duckdb_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/parquet"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Another program reads the files of package parquet as they were written: any number of rows, several row groups, any text.
func TestParquet_is_read_by_DuckDB(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("duckdb", "")
	testkit.Must(t, err)
	defer db.Close()
	for _, rows := range []int{0, 1, 7, 8, 9, 1000, 40_000} {
		path := filepath.Join(t.TempDir(), "rows.parquet")
		f, err := os.Create(path)
		testkit.Must(t, err)
		w := parquet.NewWriter(f, []parquet.Column{{Name: "n", Kind: parquet.Integer}, {Name: "text", Kind: parquet.Text},
			{Name: "moment", Kind: parquet.Time}, {Name: "even", Kind: parquet.Boolean}})
		for i := range int64(rows) {
			testkit.Must(t, w.Write(i-500, text(i), 1_700_000_000_000+i, i%2 == 0))
		}
		testkit.Must(t, w.Close())
		testkit.Must(t, f.Close())
		var count int64
		testkit.Must(t, db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT count(*) FROM '%s'`, path)).Scan(&count))
		if count != int64(rows) {
			t.Errorf("%d rows, want %d", count, rows)
		}
		got, err := db.QueryContext(t.Context(), fmt.Sprintf(`SELECT n, text, epoch_ms(moment), even FROM '%s' ORDER BY n`, path))
		testkit.Must(t, err)
		for i := int64(0); got.Next(); i++ {
			var n, at int64
			var s string
			var even bool
			testkit.Must(t, got.Scan(&n, &s, &at, &even))
			if n != i-500 || s != text(i) || at != 1_700_000_000_000+i || even != (i%2 == 0) {
				t.Fatalf("row %d of %d: %d %.20q %d %t", i, rows, n, s, at, even)
			}
		}
		testkit.Must(t, got.Err())
	}
}

// text returns a text of up to a thousand bytes.
func text(i int64) string { return strings.Repeat("ä,\"\n", int(i%200)) }
