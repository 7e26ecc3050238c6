package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shortline/shortline/shared/each"
)

// Dumped describes a dump of a PostgreSQL database.
type Dumped struct {
	Schema int64         `json:"schema"` // number of the newest applied migration
	Tables []DumpedTable `json:"tables"` // no row refers to a later table
	Links  int64         `json:"-"`
}

// DumpedTable is the content of a table in the text format of COPY.
type DumpedTable struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
}

// migrationsTable belongs to goose. Dump skips it, because Restore runs the migrations.
const migrationsTable = "goose_db_version"

// Dump writes one consistent snapshot of every table to the writers that open returns. It needs only the connection,
// not PostgreSQL's own tools.
func (s *Store) Dump(ctx context.Context, open func(table string) (io.WriteCloser, error)) (d Dumped, err error) {
	conn, err := s.patient(ctx)
	if err != nil {
		return d, fmt.Errorf("dump the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return d, fmt.Errorf("dump the database: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // read only
	if err := tx.QueryRow(ctx, `SELECT max(version_id) FROM `+migrationsTable+` WHERE is_applied`).Scan(&d.Schema); err != nil {
		return d, fmt.Errorf("dump the database: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> $1 GROUP BY c.oid, c.relname ORDER BY c.oid`,
		migrationsTable)
	if err != nil {
		return d, fmt.Errorf("dump the database: %w", err)
	}
	d.Tables, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t DumpedTable, err error) {
		return t, row.Scan(&t.Name, &t.Columns)
	})
	for i := 0; err == nil && i < len(d.Tables); i++ {
		t := &d.Tables[i]
		var to io.WriteCloser
		if to, err = open(t.Name); err != nil {
			break
		}
		tag, failed := conn.PgConn().CopyTo(ctx, to, "COPY "+t.list()+" TO STDOUT")
		t.Rows = tag.RowsAffected()
		err = errors.Join(failed, to.Close())
		if t.Name == "urls" {
			d.Links = t.Rows
		}
	}
	if err != nil {
		return d, fmt.Errorf("dump the database: %w", err)
	}
	return d, nil
}

// byReference orders tables so that a table follows the tables that its foreign keys refer to.
func byReference(ctx context.Context, tx pgx.Tx, tables []DumpedTable) ([]DumpedTable, error) {
	rows, err := tx.Query(ctx, `SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
		WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid ORDER BY 1, 2`)
	if err != nil {
		return nil, err
	}
	type reference struct{ From, To string }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[reference])
	if err != nil {
		return nil, err
	}
	refers := map[string][]string{}
	for _, r := range list {
		refers[r.From] = append(refers[r.From], r.To)
	}
	at := map[string]DumpedTable{}
	for _, t := range tables {
		at[t.Name] = t
	}
	var ordered []DumpedTable
	var place func(name string)
	place = func(name string) {
		t, waits := at[name]
		if !waits {
			return
		}
		delete(at, name) // before its references, so that a cycle ends
		for _, to := range refers[name] {
			place(to)
		}
		ordered = append(ordered, t)
	}
	for _, t := range tables {
		place(t.Name)
	}
	return ordered, nil
}

// list returns the table and its columns as COPY expects them.
func (t *DumpedTable) list() string {
	names := each.Of(t.Columns, func(c string) string { return pgx.Identifier{c}.Sanitize() })
	return pgx.Identifier{t.Name}.Sanitize() + " (" + strings.Join(names, ", ") + ")"
}

// patient returns a connection without a statement timeout.
func (s *Store) patient(ctx context.Context) (*pgx.Conn, error) {
	if !s.pg {
		return nil, errors.New("only a PostgreSQL database can be dumped; use standalone backup for SQLite")
	}
	cfg := s.pgConfig.Copy()
	cfg.RuntimeParams["statement_timeout"] = "0"
	return pgx.ConnectConfig(ctx, cfg)
}

// RestoreOptions controls Restore.
type RestoreOptions struct {
	// Force replaces existing data.
	Force bool
	// Numbers is the highest link number that any other store knows.
	Numbers uint64
}

// numberGap is the number of link and user numbers that Restore skips. Rows created after the backup are lost, but
// their clicks may still arrive and must not count for new links.
const numberGap = 1_000_000

// Restorable checks that a database can accept a dump: it is empty or force is set, and its schema is not newer than
// the dump's. It changes nothing.
func Restorable(ctx context.Context, cfg Config, d Dumped, force bool) error {
	if err := supported("the backup has", d.Schema); err != nil {
		return fmt.Errorf("%w; restore the backup with that build and make another one", err)
	}
	s, err := connectOnly(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	have, used, err := s.state(ctx)
	if err == nil {
		err = supported("the database has", have)
	}
	switch {
	case err != nil:
		return err
	case used && !force:
		return errors.New("the database already holds users or links; -force replaces them")
	case have > d.Schema:
		return fmt.Errorf("the database has schema %d and the backup has %d: restore into an empty database, which is migrated afterwards",
			have, d.Schema)
	}
	return nil
}

func connectOnly(cfg Config) (*Store, error) {
	if !isPostgres(cfg.URL) {
		return nil, errors.New("only a PostgreSQL database can be restored")
	}
	return connect(cfg)
}

// state returns the schema number of a database, 0 if it has none, and whether it holds users or links.
func (s *Store) state(ctx context.Context) (schema int64, used bool, err error) {
	var there bool
	if err := s.write.QueryRowContext(ctx, `SELECT to_regclass('`+migrationsTable+`') IS NOT NULL AND to_regclass('urls') IS NOT NULL`).
		Scan(&there); err != nil || !there {
		return 0, false, err
	}
	err = s.write.QueryRowContext(ctx, `SELECT (SELECT max(version_id) FROM `+migrationsTable+
		` WHERE is_applied), EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM urls)`).Scan(&schema, &used)
	return schema, used, err
}

// Restore fills a PostgreSQL database from a dump. It creates the dump's schema, copies the tables in one transaction,
// gives the log of link changes a new incarnation, and migrates the schema to the newest version.
func Restore(ctx context.Context, cfg Config, d Dumped, opt RestoreOptions, open func(table string) (io.ReadCloser, error)) error {
	if err := Restorable(ctx, cfg, d, opt.Force); err != nil {
		return err
	}
	s, err := connectOnly(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.migrateTo(ctx, d.Schema); err != nil {
		return err
	}
	conn, err := s.patient(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after a commit
	if err := fill(ctx, tx, d, open); err != nil {
		return fmt.Errorf("restore the database: %w", err)
	}
	if err := renumber(ctx, tx, opt.Numbers); err != nil {
		return fmt.Errorf("restore the database: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("restore the database: %w", err)
	}
	now, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	return now.Close()
}

// migrateTo brings an older schema up to a version.
func (s *Store) migrateTo(ctx context.Context, schema int64) error {
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := s.newMigrations(stdlib.OpenDB(*s.pgConfig))
	if err != nil {
		return err
	}
	defer p.Close()
	if sources := p.ListSources(); sources[len(sources)-1].Version < schema {
		return fmt.Errorf("the backup has schema %d, which this program does not know: restore with the release that made it", schema)
	}
	if _, err := p.UpTo(ctx, schema); err != nil {
		return fmt.Errorf("create schema %d: %w", schema, err)
	}
	return nil
}

// fill replaces the rows of all tables. A dump has them in the order of their creation, which differs between
// databases, so fill orders them by their references. It disables triggers for the transaction, because a trigger protects
// the audit log against changes.
func fill(ctx context.Context, tx pgx.Tx, d Dumped, open func(table string) (io.ReadCloser, error)) error {
	tables, err := byReference(ctx, tx, d.Tables)
	if err != nil {
		return err
	}
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = pgx.Identifier{t.Name}.Sanitize()
		if _, err := tx.Exec(ctx, "ALTER TABLE "+names[i]+" DISABLE TRIGGER USER"); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil {
		return err
	}
	for i, t := range tables {
		from, err := open(t.Name)
		if err != nil {
			return err
		}
		tag, err := tx.Conn().PgConn().CopyFrom(ctx, from, "COPY "+t.list()+" FROM STDIN")
		if err = errors.Join(err, from.Close()); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		if tag.RowsAffected() != t.Rows {
			return fmt.Errorf("table %s: %d rows instead of %d", t.Name, tag.RowsAffected(), t.Rows)
		}
		if _, err := tx.Exec(ctx, "ALTER TABLE "+names[i]+" ENABLE TRIGGER USER"); err != nil {
			return err
		}
	}
	return nil
}

// renumber moves sequences past the highest number in use. It also gives the log of changes a new incarnation, because
// edges reject older revisions of an incarnation that they know.
func renumber(ctx context.Context, tx pgx.Tx, known uint64) error {
	rows, err := tx.Query(ctx,
		`SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity `+
			`= 'YES'`)
	if err != nil {
		return err
	}
	type column struct{ Table, Name string }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	if err != nil {
		return err
	}
	var trashed, workspaces uint64 // workspaces take their numbers from the sequence of users
	if err := tx.QueryRow(ctx, `SELECT (SELECT coalesce(max(num), 0) FROM link_trash), (SELECT coalesce(max(num), 0) FROM workspaces)`).
		Scan(&trashed, &workspaces); err != nil {
		return err
	}
	for _, c := range list {
		least := map[string]uint64{"urls": max(known, trashed), "users": workspaces}[c.Table]
		name := pgx.Identifier{c.Name}.Sanitize()
		if _, err := tx.Exec(ctx,
			fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%s', '%s'), greatest((SELECT coalesce(max(%s), 0) FROM %s), %d) + %d)`,
				c.Table, c.Name, name, pgx.Identifier{c.Table}.Sanitize(), least, numberGap)); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE config_head SET incarnation = $1 WHERE id = 1`, rand.Int64N(1<<62)+1)
	return err
}
