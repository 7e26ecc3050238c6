package duckdb_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/shortline/shortline/control/internal/analytics"
	"github.com/shortline/shortline/control/internal/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/analytics/duckdb"
)

func open(t testing.TB, path string) *duckdb.Store {
	t.Helper()
	s, err := duckdb.Open(context.Background(), duckdb.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	analyticstest.Run(t, func(t *testing.T) analytics.Store { return open(t, filepath.Join(t.TempDir(), "clicks.duckdb")) })
}
