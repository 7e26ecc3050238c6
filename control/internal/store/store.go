// Package store keeps the control plane's records: users, links, rules, audit log. One implementation serves two
// dialects, Postgres and SQLite. The SQL is written once, in the common subset, and only this package handles the few
// differences.
//
// A mutation, its audit row, its events and its entry in the log of link changes commit together or not at all.
// Revisions of that log commit in order and without gaps. Validation and permissions belong to the use cases that call
// this package.
//
// Conventions of the schema: times are Unix milliseconds in BIGINT columns (NULL: none), ids are UUIDv7 text, and
// "num" columns are dense numbers that are never reused.
package store

import (
	"cmp"
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
	_ "modernc.org/sqlite" // driver of the SQLite dialect

	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/tracing"
)

// Config configures Open.
type Config struct {
	// URL is postgres://… or sqlite:PATH. A missing SQLite file is created.
	URL string
	// MaxConns limits the connections to Postgres; 0 means 20.
	MaxConns int
	// AuditKeys sign the rows of the audit log. The first key signs; empty means that rows carry no HMAC.
	AuditKeys [][]byte
	// Trash is how long deleted links can be restored; 0 means that they are deleted for good.
	Trash time.Duration
	// ListLinks is the highest number of links whose columns are kept in memory for lists, about 200 bytes each; 0 means
	// none. Lists of many links are slower without.
	ListLinks int
	// BaseURL is the public address of the service, such as "https://sho.rt", for the addresses of links in webhook events.
	BaseURL string
	// MaxLinks is the highest number of links; 0 means what edges can load (snapshot.MaxLinks).
	MaxLinks int
	// Logger is used by Run; nil means slog.Default().
	Logger *slog.Logger
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	metric.Set // makes it a prometheus.Collector
	job.Group  // keeps tables small

	Conn     // statements outside a transaction; read-only on SQLite
	write    *sql.DB
	read     *sql.DB
	log      *slog.Logger
	pgConfig *pgx.ConnConfig // nil for SQLite
	path     string          // SQLite file; "" for Postgres

	auditKeys [][]byte
	trash     time.Duration
	owners    Owners
	columns   *linkCache
	maxLinks  int
	room      room

	mu       sync.Mutex
	revision uint64
	changed  chan struct{} // closed and replaced when revision grows
	heard    []func(string)
}

// Open connects to the database and migrates the schema. It leaves a schema that is newer than this program unchanged.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := connect(cfg)
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
	s.Set = s.metrics()
	s.Group = job.Group{{Name: "journal_of_links", Every: time.Minute, Do: s.journalTrimmer(), Logger: s.log}}
	if s.pg {
		s.Group = append(s.Group, &job.Job{Name: "counts_of_links", Every: time.Minute, Do: s.FoldCounts, Logger: s.log})
	}
	return s, nil
}

// connect returns a store whose schema was neither checked nor migrated.
func connect(cfg Config) (*Store, error) {
	s := &Store{log: cfg.Logger, auditKeys: cfg.AuditKeys, trash: cfg.Trash, changed: make(chan struct{})}
	s.log = cmp.Or(s.log, slog.Default())
	s.maxLinks = cmp.Or(cfg.MaxLinks, snapshot.MaxLinks)
	s.owners.store = s
	s.columns = newLinkCache(s, cfg.ListLinks)
	switch {
	case isPostgres(cfg.URL):
		return s, s.openPostgres(cfg)
	case strings.HasPrefix(cfg.URL, "sqlite:"):
		return s, s.openSQLite(strings.TrimPrefix(cfg.URL, "sqlite:"), cfg.BaseURL)
	default:
		return nil, errors.New("the address must begin with postgres:// or sqlite: and a path")
	}
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

func (s *Store) openPostgres(cfg Config) error {
	pc, err := pgx.ParseConfig(cfg.URL)
	if stray(cfg.URL, pc) {
		return errors.New("parse the Postgres address: it contains more than one @; write @ in a password as %40")
	}
	if err != nil {
		return fmt.Errorf("parse the Postgres address: %w", redact(err, cfg.URL))
	}
	pc.ConnectTimeout = cmp.Or(pc.ConnectTimeout, 2*time.Second)
	if pc.RuntimeParams["statement_timeout"] == "" {
		pc.RuntimeParams["statement_timeout"] = "10000"
	}
	pc.RuntimeParams["application_name"] = "shortline"
	// A plan that PostgreSQL keeps can be older than most rows of a table that an import fills. It then read all of urls for each
	// thousand links, which cost a third of the import.
	pc.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	db := stdlib.OpenDB(*pc)
	n := cfg.MaxConns
	n = cmp.Or(n, 20)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	db.SetConnMaxIdleTime(5 * time.Minute)
	s.write, s.read, s.pgConfig = db, db, pc
	s.Conn = Conn{db: db, pg: true, base: cfg.BaseURL}
	return nil
}

func (s *Store) openSQLite(path, base string) error {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16000)"},
		"_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err != nil {
		return err
	}
	// SQLite accepts one writer at a time. Waiting for the connection is fairer than SQLite's busy loop.
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
	s.Conn = Conn{db: read, base: base}
	return nil
}

// stray reports whether the password of an address contains an unescaped @. The text after that @ would be parsed as
// the host and appear in errors. pc is nil if the address cannot be parsed.
func stray(address string, pc *pgx.ConnConfig) bool {
	if pc == nil {
		return strings.Count(address, "@") > 1
	}
	return strings.Contains(pc.Host, "@") || slices.ContainsFunc(pc.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return strings.Contains(f.Host, "@")
	})
}

// redact removes a connection string, which may contain a password, from the text of an error.
func redact(err error, secret string) error {
	return errors.New(strings.ReplaceAll(err.Error(), secret, "(address)"))
}

// Close closes every connection.
func (s *Store) Close() error {
	s.columns.stop()
	err := s.write.Close()
	if s.read != s.write {
		err = errors.Join(err, s.read.Close())
	}
	return err
}

// Ping returns an error unless the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.Row(ctx, `SELECT 1`).Scan(&one)
}

// Shared reports whether other processes may use the same database: true for Postgres, false for SQLite.
func (s *Store) Shared() bool { return s.pg }

// NewID returns a new UUIDv7. Ids sort by creation time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Now returns the current time in Unix milliseconds, the unit of the schema.
func Now() int64 { return time.Now().UnixMilli() }

// Conn runs statements. Placeholders are ? in both dialects; a literal question mark must be bound.
type Conn struct {
	db interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}
	pg   bool
	base string // address of the service
}

// Exec runs a statement and returns the number of affected rows.
func (c Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, end := tracing.Statement(ctx, c.system(), query)
	res, err := c.db.ExecContext(ctx, c.rebind(query), args...)
	end(err)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Do runs a statement.
func (c Conn) Do(ctx context.Context, query string, args ...any) error {
	_, err := c.Exec(ctx, query, args...)
	return err
}

// Changes runs a statement, and reports whether it has changed a row.
func (c Conn) Changes(ctx context.Context, query string, args ...any) (bool, error) {
	n, err := c.Exec(ctx, query, args...)
	return n > 0, err
}

// change runs a statement, and returns ErrNotFound if it has changed no row.
func (c Conn) change(ctx context.Context, query string, args ...any) error {
	changed, err := c.Changes(ctx, query, args...)
	if err == nil && !changed {
		err = ErrNotFound
	}
	return err
}

// first returns the first of the rows of a query, or ErrNotFound.
func first[T any](list []T, err error) (v T, _ error) {
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return v, err
	}
	return list[0], nil
}

// pageOf reads one page of the rows of a clause FROM in an order, and counts all of them.
func pageOf[T any](ctx context.Context, c Conn, scan func(row interface{ Scan(...any) error }) (T, error), columns, from, order string,
	args []any, limit, offset int) (list []T, total int, err error) {
	if err := c.Row(ctx, `SELECT count(*) FROM `+from, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = All(ctx, c, scan, `SELECT `+columns+` FROM `+from+` ORDER BY `+order+` LIMIT ? OFFSET ?`,
		append(slices.Clone(args), limit, offset)...)
	return list, total, err
}

// conditions is a clause WHERE with its arguments. The zero value holds for all rows.
type conditions struct {
	texts []string
	args  []any
}

// and adds a condition if it is needed.
func (w *conditions) and(needed bool, text string, args ...any) {
	if needed {
		w.texts, w.args = append(w.texts, text), append(w.args, args...)
	}
}

// String returns the clause, or nothing without a condition.
func (w *conditions) String() string {
	if len(w.texts) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(w.texts, " AND ")
}

// Query runs a query. The caller closes the rows and checks Err, or uses All.
func (c Conn) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx, end := tracing.Statement(ctx, c.system(), query)
	rows, err := c.db.QueryContext(ctx, c.rebind(query), args...)
	end(err)
	return rows, err
}

// Row runs a query for one row. Scan returns sql.ErrNoRows if there is none.
func (c Conn) Row(ctx context.Context, query string, args ...any) *sql.Row {
	ctx, end := tracing.Statement(ctx, c.system(), query)
	row := c.db.QueryRowContext(ctx, c.rebind(query), args...)
	end(row.Err())
	return row
}

// system returns the database's name in traces.
func (c Conn) system() string {
	if c.pg {
		return "postgresql"
	}
	return "sqlite"
}

// column reads a row of one column, for All.
func column[T any](row interface{ Scan(...any) error }) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// All runs a query and scans every row. The result may be empty but is never nil.
func All[T any](ctx context.Context, c Conn, scan func(row interface{ Scan(...any) error }) (T, error), query string,
	args ...any) ([]T, error) {
	out := []T{}
	err := c.each(ctx, func(rows *sql.Rows) error {
		v, err := scan(rows)
		out = append(out, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// rowsIn runs a query for keys, a batch at a time, and returns all rows. The query has (keys) in the place of the list; before are
// the arguments before it.
func rowsIn[K, T any](ctx context.Context, c Conn, scan func(row interface{ Scan(...any) error }) (T, error), query string, keys []K,
	before ...any) (out []T, err error) {
	for part := range slices.Chunk(keys, batch) {
		list, err := All(ctx, c, scan, strings.Replace(query, `(keys)`, `(`+In(len(part))+`)`, 1),
			append(slices.Clone(before), Args(part)...)...)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// found is rowsIn, and returns the rows by key.
func found[K comparable, T any](ctx context.Context, c Conn, scan func(row interface{ Scan(...any) error }) (T, error), query string,
	keys []K, keyOf func(*T) K, before ...any) (map[K]T, error) {
	list, err := rowsIn(ctx, c, scan, query, keys, before...)
	if err != nil {
		return nil, err
	}
	out := make(map[K]T, len(list))
	for i := range list {
		out[keyOf(&list[i])] = list[i]
	}
	return out, nil
}

// each runs a query and calls f with every row until f returns an error. It holds one row in memory at a time.
func (c Conn) each(ctx context.Context, f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rebind replaces ? by $1, $2, … for Postgres.
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

// In returns n placeholders for an IN list: In(3) is "?,?,?".
func In(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Args converts a list to arguments for In.
func Args[T any](list []T) []any {
	return each.Of(list, func(v T) any { return v })
}

// Distinct removes duplicates and keeps the order.
func Distinct[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	out := make([]T, 0, len(list))
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// LikeContains returns a LIKE pattern (with ESCAPE '\') that matches lower-case text anywhere.
func LikeContains(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
