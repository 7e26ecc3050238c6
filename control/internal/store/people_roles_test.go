package store_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The run-time role cannot change the audit log or the trigger that protects it, and it owns nothing. All other tests
// of this package show what the role can do, because storetest.Each uses it.
func TestM9_RuntimeRoleCannotChangeTheAuditLog(t *testing.T) {
	t.Parallel()
	owner := storetest.PostgresURL(t)
	s, err := store.Open(t.Context(), store.Config{URL: storetest.RuntimeURL(t, owner), MaxConns: 2})
	testkit.Must(t, err)
	defer s.Close()
	row := store.AuditRow{Seq: 1, ID: store.NewID(), Action: "URL_CREATED", EntityType: "url", Metadata: "{}", Hash: "h"}
	inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertAudit(ctx, row) })
	for _, statement := range []string{
		`UPDATE audit_logs SET action = 'x'`,
		`DELETE FROM audit_logs`,
		`TRUNCATE audit_logs`,
		`ALTER TABLE audit_logs DISABLE TRIGGER ALL`,
		`ALTER TABLE audit_logs DISABLE TRIGGER audit_logs_append_only`,
		`DROP TRIGGER audit_logs_append_only ON audit_logs`,
		`CREATE OR REPLACE FUNCTION audit_logs_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
		`ALTER TABLE audit_logs RENAME TO gone`,
		`ALTER TABLE audit_logs OWNER TO runtime`,
		`DROP TABLE audit_logs`,
		`CREATE RULE harmless AS ON INSERT TO audit_logs DO INSTEAD NOTHING`,
		`SET session_replication_role = replica`,
		`SET ROLE postgres`,
		`UPDATE schema_support SET oldest = 1`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`,
		`CREATE ROLE another SUPERUSER`,
		`DROP TABLE urls`,
	} {
		_, err := s.Exec(t.Context(), statement)
		if err == nil || !strings.Contains(err.Error(), "permission denied") && !strings.Contains(err.Error(), "must be ") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	var owned, rows int
	testkit.Must(t, s.Row(t.Context(), `SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = current_user`).Scan(&owned))
	testkit.Must(t, s.Row(t.Context(), `SELECT count(*) FROM audit_logs WHERE action = 'URL_CREATED'`).Scan(&rows))
	if owned != 0 || rows != 1 {
		t.Errorf("the role owns %d things, and %d rows are as they were", owned, rows)
	}
	if owns, err := s.OwnsAudit(t.Context()); owns || err != nil {
		t.Errorf("the role is said to be able to change the log: %v %v", owns, err)
	}
	o, err := store.Open(t.Context(), store.Config{URL: owner, MaxConns: 2})
	testkit.Must(t, err)
	defer o.Close()
	if owns, err := o.OwnsAudit(t.Context()); !owns || err != nil {
		t.Errorf("the owner is said to be unable to change the log: %v %v", owns, err)
	}
}

// Databases of one server share their roles. Programs that start together on several of them create the role at once.
func TestGrant_creates_one_role_for_many_databases_at_once(t *testing.T) {
	var owners []string
	for range testkit.Size(3, 6) {
		owners = append(owners, storetest.PostgresURL(t))
	}
	suffix := strings.ToLower(rand.Text()) // roles belong to the whole server, which other processes use, too
	for round := range testkit.Size(2, 5) {
		var g errgroup.Group
		for _, owner := range owners {
			runtime := strings.Replace(owner, "postgres://postgres@", fmt.Sprintf("postgres://together_%d_%s@", round, suffix), 1)
			g.Go(func() error { return store.Grant(t.Context(), owner, runtime) })
		}
		testkit.Must(t, g.Wait())
	}
}

// The run-time role can use the tables of later migrations without further grants. The owner of the tables is not
// accepted as a run-time role.
func TestM9_GrantCoversLaterTables(t *testing.T) {
	t.Parallel()
	owner := storetest.PostgresURL(t)
	runtime := storetest.RuntimeURL(t, owner)
	o, err := store.Open(t.Context(), store.Config{URL: owner, MaxConns: 2})
	testkit.Must(t, err)
	defer o.Close()
	_, err = o.Exec(t.Context(), `CREATE TABLE later (id BIGINT GENERATED ALWAYS AS IDENTITY, text TEXT)`)
	testkit.Must(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: runtime, MaxConns: 2})
	testkit.Must(t, err)
	defer s.Close()
	for _, statement := range []string{`INSERT INTO later (text) VALUES ('a')`, `UPDATE later SET text = 'b'`, `DELETE FROM later`} {
		if n, err := s.Exec(t.Context(), statement); err != nil || n != 1 {
			t.Errorf("%s: %d %v", statement, n, err)
		}
	}
	if err := store.Grant(t.Context(), owner, owner); err != nil {
		t.Errorf("one role for both, as it was before: %v", err)
	}
	// Roles belong to the whole server, which other processes use, too.
	super := "a \"super\" role " + rand.Text()
	_, err = o.Exec(t.Context(), "CREATE ROLE "+pgx.Identifier{super}.Sanitize()+" LOGIN SUPERUSER")
	testkit.Must(t, err)
	defer func() {
		_, err := o.Exec(t.Context(), "DROP ROLE "+pgx.Identifier{super}.Sanitize())
		testkit.Must(t, err)
	}()
	err = store.Grant(t.Context(), owner, strings.Replace(owner, "postgres://postgres@", "postgres://"+url.PathEscape(super)+"@", 1))
	if err == nil || !strings.Contains(err.Error(), "superuser") {
		t.Errorf("a superuser as the role at run time: %v", err)
	}
}
