// Package clickhouse stores clicks in a ClickHouse server. It is the analytics.Store for more clicks than a file on one
// machine can hold.
//
// Rows are idempotent. The key of the table is the click's identity, and every read is FINAL. The server's own
// deduplication of inserts is off, because it can also swallow a repetition whose first attempt was lost. Replicated
// tables have settings for that. An insert with an unknown outcome is therefore simply repeated. A server that is killed
// during inserts loses nothing that it acknowledged, and shows nothing twice. Rows are inserted before their marks, so a
// mark never covers a click that is not stored.
//
// A batch within one calendar month (UTC) is stored as a whole or not at all, and becomes visible at once. For a batch
// across the end of a month the server stores several parts. Readers through the same Store wait for all of them. Other
// readers may see one part without the next for some milliseconds. After a failed Insert, some parts may stay visible
// until the insert is repeated.
//
// Reports read rollups: the figures of each quarter hour, rebuilt from the clicks some time after the last write to it
// (Run, Rebuild). Some quarter hours are read from the clicks instead, in the same statement: those with a write since
// their last build, and partial ones at the ends of a period. Answers are therefore exact, including distinct visitors
// up to Config.ExactVisitors. Beyond, they are estimated from the rollup of a sample. Without rebuilds, reports only become slower. While
// a batch of late clicks arrives, a report through
// another Store may count a part of it.
//
// With Config.Replicated, the servers of the service replicate the tables. Before Insert returns, rows and marks are on a
// majority of them. There should be two: the majority is then both, so a report has all clicks, whichever server it asks.
// Inserts wait while one is down. With three, the third may lag: a report from it lacks acknowledged clicks, and a
// rollup that was built on it with more than two minutes of lag lacks clicks until it is built again; the audit of clicks
// reports this as drift. Replication is not tested: tests use a single server and check the statements, the settings and the
// handling of a replica's errors. Times are exact from 1970 to 2261.
package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	conns "github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/metric"
)

// Config has the settings of a Store. URL is required.
type Config struct {
	// URL of the server, with user, password and database: clickhouse://user:password@host:9000/database, or http:// or
	// https:// with the port of the HTTP interface. A missing database is created. The URL may have several hosts of one
	// service, separated by commas, which are tried in turn: see inTurn. Driver options (secure=true for TLS in the native protocol)
	// and server settings may follow as a query.
	URL string
	// Conns is the maximum number of concurrent statements; 0 means 16.
	Conns int
	// Replicated means that the servers of the service replicate the tables with Keeper; each of them has the macros
	// {cluster}, {shard} and {replica}. It is chosen before the first start and cannot be changed.
	Replicated bool
	// Every is the interval at which Run checks for slots to rebuild; 0 means 30 seconds.
	Every time.Duration
	// ExactVisitors is up to how many distinct visitors are counted exactly, see analytics.CountVisitors; 0 means
	// analytics.ExactVisitors.
	ExactVisitors int64
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// Store is a connection pool. It implements analytics.Store.
type Store struct {
	metric.Set // makes it a prometheus.Collector

	conn    conns.Conn
	writing conns.Conn // for inserts, see maxWriters
	dialect dialect
	several bool // addresses
	every   time.Duration
	limit   time.Duration // see limitOf
	exact   int64
	log     *slog.Logger
	stats   counts

	writer  uint64 // random, drawn by Open
	marking sync.Mutex
	marked  uint64 // marks written

	// whole is read-locked by statements that read. It is write-locked by inserts that the server stores in several
	// parts, which only happens at the end of a month.
	whole sync.RWMutex
}

type counts struct {
	rebuilt, failed atomic.Uint64
	replica         replicaErrors
	waiting         atomic.Int64
}

var _ analytics.Store = (*Store)(nil)

// settings apply to every statement, whatever the URL says.
var settings = driver.Settings{
	"insert_deduplicate": 0,
	"async_insert":       0,
	// A repetition is always in the partition of the first row, because it has the same time.
	"do_not_merge_across_partitions_select_final": 1,
	// A scope has the numbers of up to 100,000 links in the text of its statement, twice.
	"max_query_size": 8 << 20,
}

// replicated are settings of every statement on replicated tables, unless the URL has others.
//
// An insert is acknowledged to Kafka, so more than one server must have its rows. "auto" is a majority of the servers; of two, it is
// both. Two settings deliberately keep their defaults. With insert_quorum_parallel=0, the server refuses concurrent inserts into a
// table (286), and all processes that ingest share the tables. select_sequential_consistency needs that, and makes a server
// that lags answer 289. Without it, a server shows rows before the others have them: see docs/operators/clickhouse-cluster.md.
// A service that keeps its data in one place has no such problem, and operators can set select_sequential_consistency in the URL.
var replicated = driver.Settings{
	"insert_quorum": "auto",
	// Milliseconds. By default, a server that hangs holds up an insert for ten minutes.
	"insert_quorum_timeout": 60_000,
	// An ALTER, such as the one that adds a column, ends when all servers have done it. By default, the next statement could meet a
	// server without the column.
	"alter_sync": 2,
}

// maxWriters is the maximum number of concurrent inserts: those of ingest, of rollups and of a reclassification. A
// connection of the HTTP interface keeps buffers as large as its largest insert, and connections are used in rotation.
// With a shared pool, the connections of reports would grow to that size too.
const maxWriters = 3

// options makes the driver's options from the URL and the settings that every statement needs.
func options(cfg Config) (*driver.Options, error) {
	if cfg.Conns < 0 {
		return nil, fmt.Errorf("the number of connections must not be negative: %d", cfg.Conns)
	}
	opt, err := driver.ParseDSN(cfg.URL)
	if err != nil {
		return nil, err
	}
	if opt.Settings == nil {
		opt.Settings = driver.Settings{}
	}
	maps.Copy(opt.Settings, settings)
	if cfg.Replicated {
		for name, value := range replicated {
			if _, ok := opt.Settings[name]; !ok {
				opt.Settings[name] = value
			}
		}
	}
	if _, ok := opt.Settings["max_execution_time"]; !ok {
		opt.Settings["max_execution_time"] = patience
	}
	if opt.Compression == nil {
		opt.Compression = &driver.Compression{Method: driver.CompressionLZ4}
	}
	opt.DialTimeout = cmp.Or(opt.DialTimeout, 5*time.Second)
	if opt.Protocol == driver.HTTP && opt.ReadTimeout == 0 {
		// The server answers when the statement has ended, which may take hours. Deadlines of statements end the others.
		opt.ReadTimeout = unlimited
	}
	if len(opt.Addr) > 1 {
		opt.DialStrategy = new(inTurn).dial
	}
	opt.MaxOpenConns = cfg.Conns
	opt.MaxOpenConns = cmp.Or(opt.MaxOpenConns, 16)
	opt.MaxIdleConns = opt.MaxOpenConns
	opt.FreeBufOnConnRelease = true
	opt.ClientInfo.Products = append(opt.ClientInfo.Products, struct{ Name, Version string }{"shortline", ""})
	return opt, nil
}

// Open connects, and migrates the tables.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	opt, err := options(cfg)
	if err != nil {
		return nil, fmt.Errorf("open clicks: %w", err)
	}
	d := dialect{cfg.Replicated}
	conn, err := connect(ctx, opt, d)
	if err != nil {
		return nil, fmt.Errorf("open clicks: %w", err)
	}
	if err = fits(ctx, conn, d); err == nil {
		err = migrate(ctx, conn, d)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("open clicks: %w", err)
	}
	few := *opt
	few.MaxOpenConns, few.MaxIdleConns = maxWriters, maxWriters
	writing, err := driver.Open(&few)
	if err != nil {
		return nil, fmt.Errorf("open clicks: %w", errors.Join(err, conn.Close()))
	}
	s := &Store{conn: conn, writing: writing, dialect: d, several: len(opt.Addr) > 1,
		every: cfg.Every, limit: limitOf(opt.Settings), exact: cfg.ExactVisitors, log: cfg.Logger, writer: rand.Uint64()}
	s.Set = append(s.stats.metrics(), disks{s})
	if s.every <= 0 {
		s.every = 30 * time.Second
	}
	s.log = cmp.Or(s.log, slog.Default())
	return s, nil
}

// Ping implements analytics.Store.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return wrap("ping clicks", s.conn.Ping(ctx))
}

// Clock returns the time of the server.
func (s *Store) Clock(ctx context.Context) (time.Time, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var ms int64
	err := s.conn.QueryRow(ctx, `SELECT toUnixTimestamp64Milli(now64(3))`).Scan(&ms)
	return time.UnixMilli(ms), wrap("ask for the time", err)
}

// Close closes the connections. It is called once.
func (s *Store) Close() error { return errors.Join(s.conn.Close(), s.writing.Close()) }

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, mark(err))
}
