package clickhouse_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testkit.Must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s differs (%v); if that is meant, run the test with -update and read the difference. Got:\n%s", path, err, got)
	}
}

// Tables that lack some migrations from before the baseline are refused and stay as they are. The message names the build that has these
// migrations. Tables that had all of them need none.
func TestS11_tables_from_before_the_first_release(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	state := func() string {
		t.Helper()
		out, err := server.Ask(t.Context(),
			"SELECT (SELECT groupArray(version) FROM (SELECT version FROM migrations ORDER BY version)), groupArray(name)"+
				" FROM (SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name)")
		testkit.Must(t, err)
		return out
	}
	testkit.Must(t, open(t, clickhouse.Config{URL: url}).Close())
	fresh := state()
	if !strings.HasPrefix(fresh, "[13]\t") {
		t.Errorf("migrations of new tables: %s", fresh)
	}

	for _, statement := range []string{"TRUNCATE TABLE migrations", "INSERT INTO migrations (version, name) VALUES (11, ''), (12, '')",
		"DROP VIEW rollup_owner_counted"} {
		ask(t, server, statement)
	}
	old := state()
	s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: url})
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the tables have schema 12") ||
		!strings.Contains(err.Error(), "a build of commit a1c3869c") {
		t.Errorf("tables with schema 12: %v", err)
	}
	if is := state(); is != old {
		t.Errorf("after the refusal: %s\nbefore: %s", is, old)
	}

	ask(t, server, "INSERT INTO migrations (version, name) VALUES (13, '')")
	all := state()
	testkit.Must(t, open(t, clickhouse.Config{URL: url}).Close())
	if is := state(); is != all {
		t.Errorf("after opening tables that had all migrations: %s\nbefore: %s", is, all)
	}
}
