package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"

	"github.com/shortline/shortline/shared/backoff"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the schema up to date. It leaves a newer schema alone if that schema supports this program. So a
// control plane that crashes during an upgrade can restart, and a release can be rolled back.
func (s *Store) migrate(ctx context.Context) error {
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := s.newMigrations(s.write)
	if err != nil {
		return err
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if err := supported("the database has", have); err != nil {
		return fmt.Errorf("%w; run control migrate of that build, or start its standalone", err)
	}
	sources := p.ListSources()
	newest := sources[len(sources)-1].Version
	if have > newest {
		oldest := have
		err := s.write.QueryRowContext(ctx, `SELECT oldest FROM schema_support WHERE id = 1`).Scan(&oldest)
		if err != nil || oldest > newest {
			return fmt.Errorf(
				"the database has schema %d, this program knows only up to %d: it was used by a newer release, which works with programs that know %d",
				have, newest, oldest)
		}
		s.log.Warn("database schema is newer than this release", "schema", have, "known", newest)
		return nil
	}
	if err := upPatiently(ctx, p); err != nil {
		return fmt.Errorf("migrate the schema: %w", err)
	}
	_, err = s.write.ExecContext(ctx, Conn{pg: s.pg}.rebind(
		`INSERT INTO config_head (id, incarnation, revision) VALUES (1, ?, 0) ON CONFLICT DO NOTHING`), rand.Int64N(1<<62)+1)
	return err
}

// The first migration has the number of the last one of those that it replaced. Databases that lack some of these need the last build
// that had them.
const (
	baseline      = 51
	beforeRelease = "a1c3869c"
)

// supported returns an error if migrations to a schema are missing here. Schema 0 is an empty database.
func supported(what string, schema int64) error {
	if schema == 0 || schema >= baseline {
		return nil
	}
	return fmt.Errorf(
		"%s schema %d of before the first release, and this program knows only %d and later: upgrade first to schema %d, with a build of "+
			"commit %s",
		what, schema, baseline, baseline, beforeRelease)
}

// upPatiently runs the missing migrations. A migration that had to give way to other programs starts again: its
// transaction was rolled back, or its statements can be repeated.
func upPatiently(ctx context.Context, p *goose.Provider) error {
	for {
		_, err := p.Up(ctx)
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != lockNotAvailable && pe.Code != deadlockDetected {
			return err
		}
		if !backoff.Sleep(ctx, 500*time.Millisecond) {
			return err
		}
	}
}

// Codes of PostgreSQL's errors.
const (
	lockNotAvailable = "55P03"
	deadlockDetected = "40P01"
)

// Advisory locks. Their numbers must stay constant, and differ from those of the audit log (…642) and of roles (…643).
const (
	migrationsLock int64 = 7_305_519_641 // held by the program that migrates
	statementLock  int64 = 7_305_519_644 // held by the connection that executes the migrations, see sessionLock
)

// lockMigrations serializes the migrations of replicas that start together.
func (s *Store) lockMigrations(ctx context.Context) (unlock func(), err error) {
	if !s.pg {
		return func() {}, nil
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := takeLock(ctx, conn, migrationsLock); err != nil {
		conn.Close()
		return nil, err
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationsLock)
		conn.Close()
	}, nil
}

// MigrationsChecksum returns a checksum of all migrations of a dialect, sqlite or postgres, in hexadecimal digits. Databases
// that were migrated by sources with equal checksums have the same schema.
func MigrationsChecksum(dialect string) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(migrations, "migrations/"+dialect, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := migrations.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n", path, len(text))
		h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// newMigrations returns the provider of the migrations.
func (s *Store) newMigrations(db *sql.DB) (*goose.Provider, error) {
	var options []goose.ProviderOption
	dialect, dir := goose.DialectSQLite3, "migrations/sqlite"
	if s.pg {
		dialect, dir = goose.DialectPostgres, "migrations/postgres"
		options = append(options, goose.WithSessionLocker(sessionLock{}))
	}
	files, err := fs.Sub(migrations, dir)
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(dialect, db, files, options...)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// sessionLock locks the connection that executes the statements. PostgreSQL completes the statement of a program that
// was killed. The lock makes the next program wait for the end of that statement.
//
// On this connection, statements wait at most 400 ms for a lock. That is less than deadlock_timeout, so that in a
// deadlock the migration gives way, and never a program of the previous release.
type sessionLock struct{}

func (sessionLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := takeLock(ctx, conn, statementLock); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, `SET lock_timeout = '400ms'`)
	return err
}

func (sessionLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, reset := conn.ExecContext(ctx, `RESET lock_timeout`)
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, statementLock)
	return errors.Join(reset, err)
}

// takeLock waits for an advisory lock. It asks again and again, because a statement that waits would hold a snapshot,
// and CREATE INDEX CONCURRENTLY waits for the end of all older snapshots. It would also run into the statement timeout.
func takeLock(ctx context.Context, conn *sql.Conn, lock int64) error {
	for {
		var taken bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, lock).Scan(&taken); err != nil || taken {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another migration: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
