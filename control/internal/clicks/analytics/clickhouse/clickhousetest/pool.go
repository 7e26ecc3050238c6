package clickhousetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
)

// InDatabase returns the server that has the database at a URL over HTTP. Only Ask can be used. It runs statements in that
// database.
func InDatabase(database string) *Server {
	name := databaseOf(database)
	address, _, _ := strings.Cut(database, "?")
	return &Server{url: strings.TrimSuffix(address, "/"+name) + "?database=" + url.QueryEscape(name)}
}

// Pool is the databases that the tests of a package use in turn, because a click store needs some 30 statements to create its
// tables. A test finds the tables that an earlier test has left, without rows. Tests that change tables do not use a Pool. The
// zero value is ready.
type Pool struct {
	mu   sync.Mutex
	free []string // URLs
	all  []string
}

// Database returns the URL of a database without rows. The database is free again when the test ends. Everything that uses it must
// have ended by then.
func (p *Pool) Database(t testing.TB) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var database string
	if n := len(p.free); n > 0 {
		database, p.free = p.free[n-1], p.free[:n-1]
	} else {
		var err error
		if database, err = common(t).Database(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.all = append(p.all, database)
	}
	t.Cleanup(func() { p.giveBack(t, database) })
	return database
}

// NativeDatabase is like Database, with the URL of the native protocol.
func (p *Pool) NativeDatabase(t testing.TB) string {
	t.Helper()
	return common(t).NativeURL(databaseOf(p.Database(t))) + patient
}

// giveBack removes the rows of a database, which is free afterwards.
func (p *Pool) giveBack(t testing.TB, database string) {
	if err := empty(context.Background(), InDatabase(database)); err != nil {
		t.Errorf("empty the ClickHouse database: %v", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, database)
}

// Run runs the tests of TestMain, drops the databases, and ends the process.
func (p *Pool) Run(m *testing.M) {
	code := m.Run()
	for _, database := range p.all {
		if _, err := InDatabase(database).Ask(context.Background(), "DROP DATABASE IF EXISTS "+databaseOf(database)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// empty removes the rows of all tables in a database. It leaves the list of migrations, which says that the tables are there.
func empty(ctx context.Context, s *Server) error {
	tables, err := s.Ask(ctx,
		"SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0 AND name != 'migrations'")
	if err != nil {
		return fmt.Errorf("list the tables: %w", err)
	}
	for table := range strings.FieldsSeq(tables) {
		if _, err := s.Ask(ctx, "TRUNCATE TABLE "+table); err != nil {
			return fmt.Errorf("empty %s: %w", table, err)
		}
	}
	return nil
}
