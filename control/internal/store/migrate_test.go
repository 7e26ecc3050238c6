package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// addresses returns the address of one empty database per dialect.
func addresses(t *testing.T) map[string]string {
	return map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "postgres": storetest.PostgresURL(t)}
}

// The program leaves the schema of a newer release unchanged and works with it, if that schema supports this program.
func TestOpen_a_database_from_the_future(t *testing.T) {
	t.Parallel()
	for name, url := range addresses(t) {
		t.Run(name, func(t *testing.T) {
			change := func(statement string, args ...any) {
				t.Helper()
				s, err := store.Open(t.Context(), store.Config{URL: url})
				testkit.Must(t, err)
				inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
					_, err := tx.Exec(ctx, statement, args...)
					return err
				})
				testkit.Must(t, s.Close())
			}
			refused := func(why string) {
				t.Helper()
				if s, err := store.Open(t.Context(), store.Config{URL: url}); err == nil {
					s.Close()
					t.Fatalf("a schema was taken that %s", why)
				} else if !strings.Contains(err.Error(), "schema 9999") || !strings.Contains(err.Error(), "newer release") {
					t.Errorf("the refusal does not say why: %v", err)
				}
			}
			change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, ?)`, true)
			change(`UPDATE schema_support SET oldest = 9999`) // only newer releases are supported
			refused("only newer programs can work with")
		})
	}
	t.Run("without saying so", func(t *testing.T) {
		url := addresses(t)["sqlite"]
		s, err := store.Open(t.Context(), store.Config{URL: url})
		testkit.Must(t, err)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, ?)`, true); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `DROP TABLE schema_support`)
			return err
		})
		testkit.Must(t, s.Close())
		if s, err := store.Open(t.Context(), store.Config{URL: url}); err == nil {
			s.Close()
			t.Error("a schema was taken that doesn't say who may work with it")
		}
	})
}

// connectTo returns a connection that does not migrate.
func connectTo(t *testing.T, dialect, url string) *sql.DB {
	t.Helper()
	driver, address := "pgx", url
	if dialect == "sqlite" {
		driver, address = "sqlite", "file:"+strings.TrimPrefix(url, "sqlite:")
	}
	db, err := sql.Open(driver, address)
	testkit.Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// age gives a database the schema of the baseline, and makes it look as if its newest migration were the one before.
func age(t *testing.T, dialect string, db *sql.DB) {
	t.Helper()
	for _, trigger := range []string{"inserted", "start", "end", "exhaustion"} {
		undo := `DROP TRIGGER urls_due_` + trigger
		if dialect == "postgres" {
			undo = `DROP FUNCTION urls_due_` + trigger + ` CASCADE`
		}
		_, err := db.Exec(undo)
		testkit.Must(t, err)
	}
	if dialect == "postgres" {
		_, err := db.Exec(`DROP FUNCTION unix_ms`)
		testkit.Must(t, err)
	}
	for _, undo := range []string{
		`ALTER TABLE webhooks DROP COLUMN pause_reason`,
		`ALTER TABLE webhooks DROP COLUMN old_secret`,
		`ALTER TABLE webhooks DROP COLUMN old_secret_until`,
		`ALTER TABLE webhooks DROP COLUMN long_retries`,
		`DROP TABLE idempotent_requests`,
		`DROP TABLE pairings`,
		`DROP TABLE mail_report_asked`,
		`DROP TABLE mail_report_runs`,
		`DROP TABLE mail_report_recipients`,
		`DROP TABLE mail_reports`,
		`DROP INDEX urls_limited`,
		`DROP TABLE alert_watches`,
		`DROP TABLE alert_messages`,
		`DROP TABLE alerts`,
		`DROP TABLE alert_rules`,
		`DROP TABLE alert_channels`,
		`DROP TABLE shared_reports`,
		`ALTER TABLE urls DROP COLUMN baseline_count`,
		`ALTER TABLE urls DROP COLUMN baseline_until`,
		`ALTER TABLE urls DROP COLUMN baseline_source`,
		`ALTER TABLE urls DROP COLUMN forward_path`,
		`DROP INDEX urls_folded`,
		`ALTER TABLE urls DROP COLUMN folded`,
		`ALTER TABLE domains DROP COLUMN case_sensitive`,
		`ALTER TABLE domains DROP COLUMN extended_slugs`,
		`ALTER TABLE domains DROP COLUMN min_slug_length`,
		`DROP TABLE base_host`,
		`ALTER TABLE workspaces DROP COLUMN hides_previews`,
		`DROP INDEX suspended_slugs_folded`,
		`ALTER TABLE oidc_providers DROP COLUMN trust_email`,
		`DROP TABLE link_edit_links`,
		`DROP TABLE link_edits`,
		`DROP TABLE link_health`,
		`DROP TABLE link_destinations`,
		`DROP TABLE destination_hosts`,
		`DROP TABLE destinations`,
		`DROP TABLE link_due`,
		`DROP TABLE segments`,
		`DROP TABLE annotations`,
		`DELETE FROM goose_db_version WHERE version_id > 51`,
		`UPDATE goose_db_version SET version_id = 50 WHERE version_id = 51`,
	} {
		_, err := db.Exec(undo)
		testkit.Must(t, err)
	}
}

// A database that lacks some migrations from before the baseline is refused and stays as it is. The message names the build that has
// these migrations. A database that has all of them gets only those after the baseline.
func TestS11_a_database_from_before_the_first_release(t *testing.T) {
	t.Parallel()
	for name, url := range addresses(t) {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), store.Config{URL: url})
			testkit.Must(t, err)
			testkit.Must(t, s.Close())
			db := connectTo(t, name, url)
			versions := func() (list string) {
				t.Helper()
				rows, err := db.Query(`SELECT version_id FROM goose_db_version ORDER BY id`)
				testkit.Must(t, err)
				defer rows.Close()
				for rows.Next() {
					var v int64
					testkit.Must(t, rows.Scan(&v))
					list += fmt.Sprint(v, " ")
				}
				testkit.Must(t, rows.Err())
				return list
			}
			testkit.Equal(t, versions(), "0 51 52 53 54 55 56 58 59 60 61 62 63 64 120 ", "migrations of a new database")

			age(t, name, db)
			_, err = db.Exec(`DROP TABLE config_head`) // neither a migration nor the start may write to the database
			testkit.Must(t, err)
			_, err = store.Open(t.Context(), store.Config{URL: url})
			if err == nil || !strings.Contains(err.Error(), "the database has schema 50") ||
				!strings.Contains(err.Error(), "with a build of commit a1c3869c") {
				t.Fatalf("a database with schema 50: %v", err)
			}
			testkit.Equal(t, versions(), "0 50 ", "migrations after the refusal")

			_, err = db.Exec(`CREATE TABLE config_head (id INTEGER PRIMARY KEY, incarnation BIGINT, revision BIGINT)`)
			testkit.Must(t, err)
			_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (51, TRUE)`)
			testkit.Must(t, err)
			s, err = store.Open(t.Context(), store.Config{URL: url})
			testkit.Must(t, err)
			testkit.Must(t, s.Close())
			testkit.Equal(t, versions(), "0 50 51 52 53 54 55 56 58 59 60 61 62 63 64 120 ", "migrations of a database that had them one by one")
		})
	}
}

// Replicas that start together on an empty database wait for each other. All of them start, with one incarnation.
func TestOpen_by_many_at_once(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[uint64]bool{}
	for range 4 {
		wg.Go(func() {
			s, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 3})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			n, err := s.Incarnation(t.Context())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[n] = true
		})
	}
	wg.Wait()
	if len(seen) != 1 || seen[0] {
		t.Errorf("incarnations %v", seen)
	}
}

func TestOpen_names_an_address_it_does_not_know(t *testing.T) {
	t.Parallel()
	if _, err := store.Open(t.Context(), store.Config{URL: "mysql://root:canary@localhost/x"}); err == nil ||
		strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}
