package clickhousetest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// InDatabase returns the server that has the database at a URL over HTTP. Only Ask can be used. It runs statements in that
// database.
func InDatabase(database string) *Server {
	at, name := split(database)
	return &Server{url: at + "?database=" + url.QueryEscape(name)}
}

// split divides the URL of a database into the URL of its server and the name of the database.
func split(database string) (server, name string) {
	at := strings.LastIndexByte(database, '/')
	return database[:at], database[at+1:]
}

// Pool is a few databases that the subtests of a test use in turn. A click store creates its tables with some 75 statements,
// which take a second. A subtest that gets a database after another one finds the tables, without rows.
type Pool struct {
	free   chan string
	native string // the server over the native protocol
}

// NewPool creates n databases for the subtests of t. At most n of them have a database at the same time.
func NewPool(t testing.TB, n int) *Pool {
	t.Helper()
	p := &Pool{free: make(chan string, n)}
	p.native, _ = split(NativeDatabase(t))
	for range n {
		p.free <- Database(t)
	}
	return p
}

// Database returns the URL of a database without rows. It waits until one is free. The database is free again when the test ends.
// Everything that uses the database must have ended by then.
func (p *Pool) Database(t testing.TB) string {
	t.Helper()
	database := <-p.free
	t.Cleanup(func() { p.free <- database })
	if err := empty(t.Context(), InDatabase(database)); err != nil {
		t.Fatal(err)
	}
	return database
}

// NativeDatabase is like Database, with the URL of the native protocol.
func (p *Pool) NativeDatabase(t testing.TB) string {
	t.Helper()
	_, name := split(p.Database(t))
	return p.native + "/" + name
}

// empty removes the rows of all tables in a database. It leaves the list of migrations, which says that the tables are there.
func empty(ctx context.Context, s *Server) error {
	tables, err := s.Ask(ctx, "SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0 AND name != 'migrations'")
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
