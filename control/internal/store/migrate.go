package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the schema up to date. It leaves a newer schema alone if that schema supports this program. So a
// control plane that crashes during an upgrade can restart, and a release can be rolled back.
func (s *Store) migrate(ctx context.Context) error {
	dialect, dir := goose.DialectSQLite3, "migrations/sqlite"
	if s.pg {
		dialect, dir = goose.DialectPostgres, "migrations/postgres"
	}
	files, err := fs.Sub(migrations, dir)
	if err != nil {
		return err
	}
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := goose.NewProvider(dialect, s.write, files)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	sources := p.ListSources()
	newest := sources[len(sources)-1].Version
	if have > newest {
		oldest := have
		err := s.write.QueryRowContext(ctx, `SELECT oldest FROM schema_support WHERE id = 1`).Scan(&oldest)
		if err != nil || oldest > newest {
			return fmt.Errorf("the database has schema %d, this program knows only up to %d: it was used by a newer release, which works with programs that know %d", have, newest, oldest)
		}
		s.log.Warn("database schema is newer than this release", "schema", have, "known", newest)
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the schema: %w", err)
	}
	_, err = s.write.ExecContext(ctx, Conn{pg: s.pg}.rebind(
		`INSERT INTO config_head (id, incarnation, revision) VALUES (1, ?, 0) ON CONFLICT DO NOTHING`), rand.Int64N(1<<62)+1)
	return err
}

// lockMigrations serializes the migrations of replicas that start together.
func (s *Store) lockMigrations(ctx context.Context) (unlock func(), err error) {
	if !s.pg {
		return func() {}, nil
	}
	const key = 7_305_519_641 // arbitrary, but must stay constant
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(key)); err != nil {
		conn.Close()
		return nil, fmt.Errorf("wait for another migration: %w", err)
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(key))
		conn.Close()
	}, nil
}
