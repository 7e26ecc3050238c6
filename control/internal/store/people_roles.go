package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Grant creates the role of a Postgres address, if it does not exist, and grants it only what programs need at run
// time. The role owns nothing; it can read and add audit rows but not change them. owner is the address of the role
// that owns the tables. If both addresses name one role, Grant does nothing. Grant may be repeated.
func Grant(ctx context.Context, owner, runtime string) error {
	own, err := pgx.ParseConfig(owner)
	if stray(owner, own) {
		return errors.New("parse the Postgres address of the owner: it contains more than one @; write @ in a password as %40")
	}
	if err != nil {
		return fmt.Errorf("parse the Postgres address of the owner: %w", redact(err, owner))
	}
	use, err := pgx.ParseConfig(runtime)
	if stray(runtime, use) {
		return errors.New("parse the Postgres address: it contains more than one @; write @ in a password as %40")
	}
	if err != nil {
		return fmt.Errorf("parse the Postgres address: %w", redact(err, runtime))
	}
	if own.User == use.User {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, own)
	if err != nil {
		return fmt.Errorf("connect as the owner: %w", redact(err, owner))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Serialize concurrent migrations.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(7305519643)`); err != nil {
			return err
		}
		if err := makeRole(ctx, tx, use.User, use.Password); err != nil {
			return err
		}
		return grant(ctx, tx, use.User)
	}); err != nil {
		return fmt.Errorf("grant rights to the role %q: %w", use.User, err)
	}
	return nil
}

func makeRole(ctx context.Context, tx pgx.Tx, role, password string) error {
	var exists bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`, role).Scan(&exists); err != nil || exists {
		return err
	}
	// A role belongs to all databases of the server, but the lock of Grant to one. Another database's Grant may create the
	// role first. A savepoint keeps the transaction usable after that.
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if password == "" {
			return tell(ctx, tx, `CREATE ROLE %I LOGIN`, role)
		}
		return tell(ctx, tx, `CREATE ROLE %I LOGIN PASSWORD %L`, role, password)
	})
	var pg *pgconn.PgError // duplicate_object or unique_violation
	if errors.As(err, &pg) && (pg.Code == "42710" || pg.Code == "23505") {
		return nil
	}
	return err
}

// grant grants the rights. Default privileges cover the tables of later migrations; the Grant of the next migration
// revokes what must stay read-only.
func grant(ctx context.Context, tx pgx.Tx, role string) error {
	var schema string
	if err := tx.QueryRow(ctx, `SELECT current_schema()`).Scan(&schema); err != nil {
		return err
	}
	var super, owns bool
	if err := tx.QueryRow(ctx,
		`SELECT r.rolsuper, EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('audit_logs') AND pg_has_role(r.oid, c.relowner, `+
			`'MEMBER')) FROM pg_roles r WHERE rolname = $1`,
		role).Scan(&super, &owns); err != nil {
		return err
	}
	if super || owns {
		return errors.New(
			"it is a superuser or a member of the role that owns the tables, so its rights cannot be limited; use another role")
	}
	for _, statement := range []string{
		`GRANT USAGE ON SCHEMA %2$I TO %1$I`,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %2$I TO %1$I`,
		`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %2$I TO %1$I`,
		`ALTER DEFAULT PRIVILEGES IN SCHEMA %2$I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %1$I`,
		`ALTER DEFAULT PRIVILEGES IN SCHEMA %2$I GRANT USAGE, SELECT ON SEQUENCES TO %1$I`,
		`REVOKE ALL ON audit_logs, goose_db_version, schema_support FROM %1$I`,
		`GRANT SELECT ON goose_db_version, schema_support TO %1$I`,
		`GRANT SELECT, INSERT ON audit_logs TO %1$I`,
	} {
		if err := tell(ctx, tx, statement, role, schema); err != nil {
			return err
		}
	}
	return nil
}

// tell runs a statement whose identifiers and literals were quoted by the database.
func tell(ctx context.Context, tx pgx.Tx, format string, args ...string) error {
	var statement string
	if err := tx.QueryRow(ctx, `SELECT format($1, VARIADIC $2::text[])`, format, args).Scan(&statement); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, statement)
	return err
}

// OwnsAudit reports whether the role of this connection could change the audit log, because it owns the table or is a
// superuser. It is false for SQLite, where anybody with access to the file can change it.
func (s *Store) OwnsAudit(ctx context.Context) (owns bool, err error) {
	if !s.pg {
		return false, nil
	}
	err = s.Row(ctx, `SELECT has_table_privilege('audit_logs', 'UPDATE') OR has_table_privilege('audit_logs', 'DELETE')
		OR has_table_privilege('audit_logs', 'TRUNCATE')
		OR EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('audit_logs') AND pg_has_role(c.relowner, 'MEMBER'))`).Scan(&owns)
	return owns, err
}
