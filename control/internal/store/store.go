// Package store keeps the control plane's records: users, links, rules, audit. One implementation serves two
// dialects, Postgres and SQLite: the SQL is written once, in what both understand, and the few differences
// stand in this package and nowhere else.
//
// It promises that a mutation, its audit row, its events and its place in the log of link changes commit
// together or not at all, and that revisions of that log commit in order and without gaps. Rules of meaning
// and permission are left to the use cases above it.
//
// Conventions of the schema: times are Unix milliseconds in BIGINT columns (NULL: none), ids are UUIDv7 text,
// and "num" columns are dense numbers that are never reused.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver of the embedded dialect

	"github.com/shortline/shortline/shared/tracing"
)

// Config says where the records are.
type Config struct {
	// URL is postgres://… or sqlite:PATH (a file that is made if missing).
	URL string
	// MaxConns bounds the connections to Postgres; 0 means 20.
	MaxConns int
	// AuditKeys sign rows of the audit log; the first one signs. None: rows carry no HMAC.
	AuditKeys [][]byte
	// Logger receives what Run has to say; nil means slog.Default().
	Logger *slog.Logger
}

// Store is the open database. It is safe for concurrent use.
type Store struct {
	Conn     // statements outside a transaction; on SQLite these only read
	write    *sql.DB
	read     *sql.DB
	log      *slog.Logger
	pgConfig *pgx.ConnConfig // nil for SQLite
	path     string          // of the file; "" for Postgres

	auditKeys [][]byte

	mu       sync.Mutex
	revision uint64
	changed  chan struct{} // closed and replaced when revision grows
	heard    []func(string)
}

// Open connects and, unless the schema is newer than this program, brings the schema up to date.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{log: cfg.Logger, auditKeys: cfg.AuditKeys, changed: make(chan struct{})}
	if s.log == nil {
		s.log = slog.Default()
	}
	var err error
	switch {
	case strings.HasPrefix(cfg.URL, "postgres://"), strings.HasPrefix(cfg.URL, "postgresql://"):
		err = s.openPostgres(cfg)
	case strings.HasPrefix(cfg.URL, "sqlite:"):
		err = s.openSQLite(strings.TrimPrefix(cfg.URL, "sqlite:"))
	default:
		return nil, fmt.Errorf("open store: the address must begin with postgres:// or sqlite: and a path")
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := s.migrate(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	if s.revision, err = s.Revision(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

func (s *Store) openPostgres(cfg Config) error {
	pc, err := pgx.ParseConfig(cfg.URL)
	if stray(cfg.URL, pc) {
		return errors.New("parse the Postgres address: it has more than one @; in a password it is written as %40")
	}
	if err != nil {
		return fmt.Errorf("parse the Postgres address: %w", redact(err, cfg.URL))
	}
	if pc.ConnectTimeout == 0 {
		pc.ConnectTimeout = 2 * time.Second
	}
	if pc.RuntimeParams["statement_timeout"] == "" {
		pc.RuntimeParams["statement_timeout"] = "10000"
	}
	pc.RuntimeParams["application_name"] = "shortline"
	db := stdlib.OpenDB(*pc)
	n := cfg.MaxConns
	if n == 0 {
		n = 20
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	db.SetConnMaxIdleTime(5 * time.Minute)
	s.write, s.read, s.pgConfig = db, db, pc
	s.Conn = Conn{db: db, pg: true}
	return nil
}

func (s *Store) openSQLite(path string) error {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16000)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err != nil {
		return err
	}
	// SQLite takes one writer at a time; waiting for the connection here is fairer than its busy loop.
	db.SetMaxOpenConns(1)
	q.Set("_txlock", "deferred")
	q.Add("_pragma", "query_only(1)")
	read, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err != nil {
		db.Close()
		return err
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	s.write, s.read, s.path = db, read, path
	s.Conn = Conn{db: read}
	return nil
}

// stray tells of an address whose password has an @ as it is: what follows it is taken for the host, and so would be in
// the text of every error. pc is nil for an address that can't be read.
func stray(address string, pc *pgx.ConnConfig) bool {
	if pc == nil {
		return strings.Count(address, "@") > 1
	}
	return strings.Contains(pc.Host, "@") || slices.ContainsFunc(pc.Fallbacks, func(f *pgconn.FallbackConfig) bool { return strings.Contains(f.Host, "@") })
}

// redact keeps a connection string, which may hold a password, out of an error's text.
func redact(err error, secret string) error {
	return errors.New(strings.ReplaceAll(err.Error(), secret, "(address)"))
}

// Close closes every connection.
func (s *Store) Close() error {
	err := s.write.Close()
	if s.read != s.write {
		err = errors.Join(err, s.read.Close())
	}
	return err
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.Row(ctx, `SELECT 1`).Scan(&one)
}

// Shared reports whether other processes may use the same database, which is true of Postgres and false of SQLite.
func (s *Store) Shared() bool { return s.pg }

// NewID makes an id: a UUIDv7, so ids sort by the time they were made.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Now is the time in the schema's unit, Unix milliseconds.
func Now() int64 { return time.Now().UnixMilli() }

// Conn runs statements. Placeholders are ? in both dialects; a literal question mark must be bound.
type Conn struct {
	db interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}
	pg bool
}

// Exec runs a statement and returns how many rows it changed.
func (c Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, end := tracing.Statement(ctx, c.system(), query)
	res, err := c.db.ExecContext(ctx, c.rebind(query), args...)
	end(err)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query runs a query; the caller closes the rows and checks their Err, or uses All.
func (c Conn) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx, end := tracing.Statement(ctx, c.system(), query)
	rows, err := c.db.QueryContext(ctx, c.rebind(query), args...)
	end(err)
	return rows, err
}

// Row runs a query for one row. Scan returns sql.ErrNoRows where there is none.
func (c Conn) Row(ctx context.Context, query string, args ...any) *sql.Row {
	ctx, end := tracing.Statement(ctx, c.system(), query)
	row := c.db.QueryRowContext(ctx, c.rebind(query), args...)
	end(row.Err())
	return row
}

// system is the database's name in traces.
func (c Conn) system() string {
	if c.pg {
		return "postgresql"
	}
	return "sqlite"
}

// All runs a query and collects what scan makes of each row. The result is empty, never nil.
func All[T any](ctx context.Context, c Conn, scan func(row interface{ Scan(...any) error }) (T, error), query string, args ...any) ([]T, error) {
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// rebind turns ? into $1, $2, … for Postgres.
func (c Conn) rebind(q string) string {
	if !c.pg || !strings.Contains(q, "?") {
		return q
	}
	var b strings.Builder
	b.Grow(len(q) + 16)
	n := 0
	for i := 0; i < len(q); i++ {
		if q[i] != '?' {
			b.WriteByte(q[i])
			continue
		}
		n++
		fmt.Fprintf(&b, "$%d", n)
	}
	return b.String()
}

// In writes n placeholders for an IN list: In(3) is "?,?,?".
func In(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Args turns a list into arguments for an In.
func Args[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// LikeContains is the LIKE pattern (with ESCAPE '\') that finds text, in lower case, anywhere.
func LikeContains(text string) string { return "%" + likeLiteral(text) + "%" }

// LikePrefix is the LIKE pattern (with ESCAPE '\') that finds text, in lower case, at the start.
func LikePrefix(text string) string { return likeLiteral(text) + "%" }

func likeLiteral(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text))
}
