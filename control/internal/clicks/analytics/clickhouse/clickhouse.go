// Package clickhouse keeps clicks in a ClickHouse server: the analytics.Store for more clicks than one machine's file
// is for.
//
// Rows are idempotent: the key of the table is the click's identity, every read is FINAL, and the server's own
// deduplication of inserts is off, since what remembers an insert can also swallow a repeat whose first try was lost.
// So an insert whose outcome is unknown is made again, blindly, and a server that is killed in the middle of inserts
// loses nothing that was acknowledged and shows nothing twice. Rows go in before their marks, so a mark never says
// more than is stored.
//
// A batch within one calendar month (UTC) appears at once, to everybody, and is stored as a whole or not at all. A
// batch over a month's end is several parts to the server: readers through the same Store wait for all of them,
// others may for some milliseconds see one without the next, and after a failed Insert a part of it may stay visible
// until it is made again.
//
// Reports read rollups: what was clicked in each quarter hour, rebuilt whole from the clicks some time after it was
// last written to (Run, Rebuild). A quarter hour that was written to since its last build, and the edges of a period
// that is not of whole quarter hours, are read from the clicks themselves, in the same statement. So answers are exact
// at any time, distinct visitors too, and a process that rebuilds nothing makes reports slower and nothing else. While a
// batch of late clicks comes in, a report through another Store may count a part of it.
//
// On a cluster (Config.Cluster) tables are sharded by link, and rows and marks are on a majority of a shard's replicas
// before Insert returns. With two replicas that is both of them: inserts wait while one is away, so a shard wants three. A
// read may go to a replica that lags. Then a report lacks the newest clicks for as long as the replica does; a rollup
// that was built on a replica which lagged by more than two minutes lacks clicks until it is built again, which
// the audit of clicks reports as drift. We have not run a cluster: the tests have a single server, and know only the
// statements and what is done about a replica's errors. Times are kept exactly from 1970 to 2261.
package clickhouse

import (
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
)

// Config says where the server is.
type Config struct {
	// URL of the server with user, password and database: clickhouse://user:password@host:9000/database, or http:// or
	// https:// with the port of the HTTP interface. The database is made if it is missing. There may be several hosts,
	// with commas between: the first that answers is used. Options of the driver (secure=true for TLS in the native
	// protocol) and settings of the server may follow as a query.
	URL string
	// Conns bounds how many statements run at a time; 0 means 16.
	Conns int
	// Cluster is the name of the servers' cluster, with the macros {shard} and {replica} set on each; "" is a single
	// server. It is chosen once, before the first start.
	Cluster string
	// Every is how often Run looks for what to rebuild; 0 means 30 seconds.
	Every time.Duration
	// Logger nil means slog.Default().
	Logger *slog.Logger
}

// Store is the connection. It implements analytics.Store.
type Store struct {
	conn    conns.Conn
	writing conns.Conn // for inserts, see mostWriters
	dialect dialect
	every   time.Duration
	log     *slog.Logger
	stats   counts

	writer  uint64 // drawn at every Open
	marking sync.Mutex
	marked  uint64 // marks written

	// whole is held for reading while a statement reads, and for writing by inserts that the server stores in
	// several parts: rarely, at the end of months.
	whole sync.RWMutex
}

type counts struct {
	rebuilt, failed atomic.Uint64
	replica         replicaErrors
	waiting         atomic.Int64
	at              atomic.Int64 // the last success, Unix milliseconds
}

var _ analytics.Store = (*Store)(nil)

// settings go with every statement, whatever the URL says.
var settings = driver.Settings{
	"insert_deduplicate": 0,
	"async_insert":       0,
	// A repeat is always in the partition of its first, since its time is the same.
	"do_not_merge_across_partitions_select_final": 1,
}

// clustered go with every statement on a cluster. "auto" is a majority of a shard's replicas, so of two replicas both.
// Two settings are left as the server has them on purpose: insert_quorum_parallel=0 makes it refuse inserts into a table
// that come at the same time (286), and select_sequential_consistency makes a replica that lags answer 289.
var clustered = driver.Settings{
	"insert_quorum":                 "auto",
	"distributed_foreground_insert": 1,
}

// patience is for how many seconds the server works on a statement, unless the URL says otherwise.
const patience = 60

// mostWriters is how many inserts are sent at once: ingest's, those of rollups and of a reclassification. A connection
// of the HTTP interface keeps buffers as large as the largest insert it ever sent, and connections are used in turn,
// so that inserts would in time swell all that reports need.
const mostWriters = 3

// Open connects, and brings the tables up to date.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Conns < 0 {
		return nil, fmt.Errorf("open clicks: %d connections cannot be", cfg.Conns)
	}
	opt, err := driver.ParseDSN(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("open clicks: %w", err)
	}
	if opt.Settings == nil {
		opt.Settings = driver.Settings{}
	}
	maps.Copy(opt.Settings, settings)
	if cfg.Cluster != "" {
		maps.Copy(opt.Settings, clustered)
	}
	if _, ok := opt.Settings["max_execution_time"]; !ok {
		opt.Settings["max_execution_time"] = patience
	}
	if opt.Compression == nil {
		opt.Compression = &driver.Compression{Method: driver.CompressionLZ4}
	}
	if opt.DialTimeout == 0 {
		opt.DialTimeout = 5 * time.Second
	}
	opt.MaxOpenConns = cfg.Conns
	if opt.MaxOpenConns == 0 {
		opt.MaxOpenConns = 16
	}
	opt.MaxIdleConns = opt.MaxOpenConns
	opt.FreeBufOnConnRelease = true
	opt.ClientInfo.Products = append(opt.ClientInfo.Products, struct{ Name, Version string }{"shortline", ""})
	d := dialect{cfg.Cluster}
	conn, err := connect(ctx, opt, d)
	if err != nil {
		return nil, fmt.Errorf("open clicks: %w", err)
	}
	if err = migrate(ctx, conn, d); err == nil {
		err = noTTL(ctx, conn, d)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("open clicks: %w", err)
	}
	few := *opt
	few.MaxOpenConns, few.MaxIdleConns = mostWriters, mostWriters
	writing, err := driver.Open(&few)
	if err != nil {
		return nil, fmt.Errorf("open clicks: %w", errors.Join(err, conn.Close()))
	}
	s := &Store{conn: conn, writing: writing, dialect: d, every: cfg.Every, log: cfg.Logger, writer: rand.Uint64()}
	if s.every <= 0 {
		s.every = 30 * time.Second
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	return s, nil
}

// Ping implements analytics.Store.
func (s *Store) Ping(ctx context.Context) error { return wrap("ping clicks", s.conn.Ping(ctx)) }

// Close ends the connections. It is called once.
func (s *Store) Close() error { return errors.Join(s.conn.Close(), s.writing.Close()) }

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
