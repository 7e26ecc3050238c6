// Package duckdb stores clicks in a DuckDB file. It is the analytics.Store of a single machine without database
// servers.
//
// The rows, losses and lane marks of a batch commit in one transaction and are on disk before Insert returns. A killed
// process therefore loses nothing that it acknowledged, and nothing is stored twice. There is one writer; readers run
// concurrently on committed data. The file is locked: a second process cannot open it. The package needs cgo.
//
// Figures of days that have ended come from a rollup where possible. Distinct visitors are counted exactly up to
// Config.ExactVisitors, and estimated from a sample beyond.
package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
)

// Config has the path of the file and the limits of the engine.
type Config struct {
	// Path of the file, which is created if it is missing. Its folder must exist. The engine also uses a file PATH.wal.
	Path string
	// Memory limits the engine's own memory, in MiB; 0 means 256. Larger intermediate results go to PATH.tmp.
	Memory int
	// Threads limits how many cores one query uses; 0 means all, but at most 4.
	Threads int
	// ExactVisitors is up to how many distinct visitors are counted exactly, see analytics.CountVisitors; 0 means
	// analytics.ExactVisitors.
	ExactVisitors int64
}

// Store is an open file. It implements analytics.Store.
type Store struct {
	db    *sql.DB
	path  string
	exact int64

	asked  sync.RWMutex // read-locked during a query
	mu     sync.Mutex   // held while writing
	write  *sql.Conn
	marks  map[click.Lane]uint64 // committed marks; nil if unknown
	closed bool

	rollup   rollup
	building sync.Mutex // held while days are built; before mu
}

var _ analytics.Store = (*Store)(nil)

// walLimit is the size of the write-ahead log at which the engine moves it into the file. After a kill, reading the log
// is most of the time that opening takes.
const walLimit = "16MB"

// walMax is the size of the log at which queries are blocked until it is moved. The engine moves it only while no
// query runs, and a busy store might never have such a moment.
const walMax = 20 << 20

const schema = `
CREATE TABLE IF NOT EXISTS clicks (
	edge UBIGINT NOT NULL, epoch UINTEGER NOT NULL, lane UTINYINT NOT NULL, seq UBIGINT NOT NULL,
	ts BIGINT NOT NULL, link BIGINT NOT NULL, owner BIGINT NOT NULL, variant VARCHAR NOT NULL, rule VARCHAR NOT NULL,
	ip VARCHAR NOT NULL, visitor BIGINT NOT NULL,
	country VARCHAR NOT NULL, region VARCHAR NOT NULL, city VARCHAR NOT NULL,
	device VARCHAR NOT NULL, os VARCHAR NOT NULL, browser VARCHAR NOT NULL,
	referer VARCHAR NOT NULL, user_agent VARCHAR NOT NULL, bot BOOLEAN NOT NULL, bot_name VARCHAR NOT NULL,
	utm_source VARCHAR NOT NULL, utm_medium VARCHAR NOT NULL, utm_campaign VARCHAR NOT NULL, utm_term VARCHAR NOT NULL,
	utm_content VARCHAR NOT NULL, utm_id VARCHAR NOT NULL, utm_source_platform VARCHAR NOT NULL,
	geo_version VARCHAR NOT NULL, bot_list VARCHAR DEFAULT '',
	edge_name VARCHAR DEFAULT '', edge_region VARCHAR DEFAULT '', language VARCHAR DEFAULT '', participant UBIGINT DEFAULT 0
);
CREATE TABLE IF NOT EXISTS lane_marks (
	edge UBIGINT NOT NULL, epoch UINTEGER NOT NULL, lane UTINYINT NOT NULL, seq UBIGINT NOT NULL,
	PRIMARY KEY (edge, epoch, lane)
);
CREATE TABLE IF NOT EXISTS losses (
	edge UBIGINT NOT NULL, epoch UINTEGER NOT NULL, lane UTINYINT NOT NULL, seq UBIGINT NOT NULL,
	ts BIGINT NOT NULL, lost_from UBIGINT NOT NULL, lost_to UBIGINT NOT NULL,
	PRIMARY KEY (edge, epoch, lane, seq)
);
CREATE TABLE IF NOT EXISTS link_moves (
	log BIGINT NOT NULL, workspace BIGINT NOT NULL, link BIGINT NOT NULL, revision BIGINT NOT NULL, inside UTINYINT NOT NULL
);
CREATE TABLE IF NOT EXISTS stamp (id UTINYINT PRIMARY KEY, folder UINTEGER NOT NULL, start UINTEGER NOT NULL);`

// macros define the functions that the port's SQL uses and DuckDB lacks. ts is a plain number of milliseconds: no
// report needs the engine's calendar, and converting times is the most expensive part of a report by days.
var macros = []string{
	`CREATE OR REPLACE TEMP MACRO toUnixTimestamp64Milli(ts) AS ts`,
	`CREATE OR REPLACE TEMP MACRO fromUnixTimestamp64Milli(ms) AS CAST(ms AS BIGINT)`,
	`CREATE OR REPLACE TEMP MACRO intDiv(a, b) AS a // b`,
	`CREATE OR REPLACE TEMP MACRO uniqExact(x) AS count(DISTINCT x)`,
	`CREATE OR REPLACE TEMP MACRO transform(x, known, names, otherwise) AS coalesce(names[list_position(known, x)], otherwise)`,
}

// Open opens the file, and creates missing tables.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Path == "" || strings.ContainsAny(cfg.Path, "?#") {
		return nil, fmt.Errorf("open clicks: the path %q is empty or has a ? or #", cfg.Path)
	}
	cfg.Memory = cmp.Or(cfg.Memory, 256)
	cfg.Threads = cmp.Or(cfg.Threads, min(runtime.NumCPU(), 4))
	dsn := fmt.Sprintf(
		"%s?threads=%d&memory_limit=%dMiB&checkpoint_threshold=%s&autoinstall_known_extensions=false&autoload_known_extensions=false",
		cfg.Path, cfg.Threads, cfg.Memory, walLimit)
	connector, err := duck.NewConnector(dsn, func(conn driver.ExecerContext) error {
		for _, m := range macros {
			if _, err := conn.ExecContext(context.Background(), m, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open clicks %s: %w", cfg.Path, err)
	}
	s := &Store{db: sql.OpenDB(connector), path: cfg.Path, exact: cfg.ExactVisitors, rollup: rollup{dirty: map[int64]dirty{}}}
	s.db.SetMaxOpenConns(10) // the writer, the builder and eight concurrent queries
	s.db.SetMaxIdleConns(10)
	if err = s.create(ctx); err == nil {
		if s.write, err = s.db.Conn(ctx); err == nil {
			err = s.loadMarks(ctx)
		}
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open clicks %s: %w", cfg.Path, err)
	}
	return s, nil
}

// create makes missing tables. It refuses a file whose clicks lack columns, which only builds from before the first release make.
func (s *Store) create(ctx context.Context) error {
	var columns int
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM duckdb_columns() WHERE table_name = 'clicks'`).Scan(&columns); err != nil {
		return err
	}
	if columns > 0 && columns < len(rowColumns) {
		return errors.New(
			"a build from before the first release made the file: first start standalone of a build of commit a1c3869c, which adds what is missing")
	}
	_, err := s.db.ExecContext(ctx, schema+conversionSchema+rollupSchema+visitsSchema)
	return err
}

// Close moves the log into the file, so that the next Open is fast, and closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.write != nil {
		_, err := s.write.ExecContext(context.Background(), `CHECKPOINT`)
		errs = append(errs, err, s.write.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// Ping implements analytics.Store.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.db.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
}
