// Package storetest opens stores for tests: a new, empty one each time, in either dialect.
//
// All test processes share one Postgres server (package testserver), in which each test has a database of its own. Roles
// belong to the whole server, so a test that creates one gives it a name of its own and drops it. Without the server's
// programs these tests are skipped with the reason, or fail if the environment has CI=true.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Open opens an empty SQLite store in a temporary folder.
func Open(t testing.TB) *store.Store {
	t.Helper()
	return open(t, store.Config{URL: SQLiteURL(t)})
}

// SQLiteURL creates a SQLite file with the current schema in a temporary folder and returns its address.
func SQLiteURL(t testing.TB) string {
	t.Helper()
	schema, err := sqliteTemplate()
	testkit.Must(t, err)
	path := filepath.Join(t.TempDir(), "store.db")
	testkit.Must(t, os.WriteFile(path, schema, 0o600))
	return "sqlite:" + path
}

// sqliteTemplate returns an empty SQLite file with the current schema. Copying it is faster than migrating.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "shortline-template-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "store.db")
	if err := prepare("sqlite:" + path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// prepare migrates an empty database that others are copied from. It deletes the row of config_head, which identifies a
// database. Each copy then gets a row of its own when a store opens it.
func prepare(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	st, err := store.Open(ctx, store.Config{URL: url, MaxConns: 2})
	if err != nil {
		return err
	}
	err = st.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM config_head`)
		return err
	})
	if err := errors.Join(err, st.Close()); err != nil {
		return fmt.Errorf("prepare the template: %w", err)
	}
	return nil
}

// OpenPostgres opens an empty Postgres store as the run-time role, which owns nothing.
func OpenPostgres(t testing.TB) *store.Store {
	t.Helper()
	return open(t, store.Config{URL: RuntimeURL(t, PostgresURL(t)), MaxConns: 8})
}

// RuntimeURL grants the run-time role its rights in a database and returns the role's address of it.
func RuntimeURL(t testing.TB, owner string) string {
	t.Helper()
	runtime := strings.Replace(owner, "postgres://postgres@", "postgres://runtime@", 1)
	testkit.Must(t, store.Grant(t.Context(), owner, runtime))
	return runtime
}

// EachOwner is Each as the role that owns the tables, for tests that need an owner.
func EachOwner(t *testing.T, f func(t *testing.T, s *store.Store)) {
	each(t, f, func(t testing.TB) *store.Store {
		return open(t, store.Config{URL: PostgresURL(t), MaxConns: 8})
	})
}

// PostgresURL creates a database with the current schema and returns its address for the owner. Use it to open more
// than one store on one database.
func PostgresURL(t testing.TB) string { return database(t, (*postgres).create) }

// EmptyPostgresURL creates a database without a schema and returns its address for the owner.
func EmptyPostgresURL(t testing.TB) string { return database(t, (*postgres).createEmpty) }

func database(t testing.TB, create func(*postgres, context.Context) (name string, err error)) string {
	t.Helper()
	s, err := server()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("Postgres is required in CI: %v", err)
		}
		t.Skipf("needs Postgres: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	name, err := create(s, ctx)
	if err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		if err := s.exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Logf("drop database: %v", err)
		}
	})
	return s.url(name)
}

// Each runs f on an empty store of each dialect, as parallel subtests.
func Each(t *testing.T, f func(t *testing.T, s *store.Store)) { each(t, f, OpenPostgres) }

// EachInProof runs f on an SQLite store, and in make proof also on a Postgres one. The tests of package store compare the dialects.
func EachInProof(t *testing.T, f func(t *testing.T, s *store.Store)) {
	t.Helper()
	if testkit.Size(true, false) {
		f(t, Open(t))
		return
	}
	Each(t, f)
}

func each(t *testing.T, f func(t *testing.T, s *store.Store), postgres func(testing.TB) *store.Store) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, Open(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, postgres(t))
	})
}

func open(t testing.TB, cfg store.Config) *store.Store {
	cfg.BaseURL = "https://sho.rt"
	cfg.Trash = 30 * 24 * time.Hour
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	s, err := store.Open(ctx, cfg)
	testkit.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Logf("close the store: %v", err)
		}
	})
	return s
}
