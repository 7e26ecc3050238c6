package clickhouse_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

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
