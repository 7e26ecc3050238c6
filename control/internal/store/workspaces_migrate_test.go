package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// schemaWithoutWorkspaces is the schema of the last release that knew only users.
const schemaWithoutWorkspaces = 19

// links returns the number of links of a test, which LINKS sets.
func links(t *testing.T, usual int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("LINKS"))
	if err != nil {
		return usual
	}
	return n
}

// filled are the statements that fill a database of schema 19 with links of some users, and with what else users own.
// %d are the numbers of users and of links. Each row is different.
var filled = []string{
	`INSERT INTO users (id, email, email_key, role, created_at, updated_at) SELECT 'user-' || n, 'u' || n || '@example.com', 'u' || n || '@example.com', 'USER', 1000 + n, 1000 + n FROM (%[1]s) AS numbers`,
	`INSERT INTO urls (id, user_id, slug, original_url, title, click_count, created_at, updated_at, revision)
		SELECT 'url-' || n, 'user-' || (1 + n %% %[3]d), 's' || n, 'https://example.com/' || n, 'Title ' || n, n %% 13, 5000 + n, 5000 + n, n FROM (%[2]s) AS numbers`,
	`INSERT INTO bundles (id, user_id, name, color, icon, search_text, created_at, updated_at) SELECT 'bundle-' || n, 'user-' || n, 'B' || n, '#fff', 'x', '', n, n FROM (%[1]s) AS numbers`,
	`INSERT INTO bundle_urls (bundle_id, url_id, position) SELECT 'bundle-' || (1 + n %% %[3]d), 'url-' || n, n FROM (%[1]s) AS numbers`,
	`INSERT INTO webhooks (id, user_id, name, url, events, search_text, created_at, updated_at) SELECT 'hook-' || n, 'user-' || n, 'W' || n, 'https://example.com/', 'url.created', '', n, n FROM (%[1]s) AS numbers`,
	`INSERT INTO api_keys (id, user_id, name, prefix, lookup, hash, created_at) SELECT 'key-' || n, 'user-' || n, 'K' || n, 'sl_' || n, 'sl_' || n, 'hash', n FROM (%[1]s) AS numbers`,
	`INSERT INTO audit_logs (seq, id, user_id, action, entity_type, entity_id, metadata, created_at, hash)
		SELECT n, 'log-' || n, 'user-' || (1 + n %% %[3]d), 'URL_CREATED', 'url', 'url-' || n, '{}', 5000 + n, 'hash' FROM (%[2]s) AS numbers`,
}

// owners are the tables whose rows move to workspaces, with what identifies a row.
var owners = map[string]string{"urls": "num", "bundles": "num", "webhooks": "id", "api_keys": "id"}

// rowsOf returns the number and a hash of the rows of a table of schema 19. It ignores the columns and links that the
// test changes meanwhile.
func rowsOf(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	columns, where := "*", ""
	switch table {
	case "urls":
		columns, where = "id, num, user_id, slug, original_url, title, click_count, revision, active, created_at", "WHERE num % 97 <> 0 AND id LIKE 'url-%'"
	case "bundles", "webhooks":
		columns = "id, user_id, name, search_text, created_at, updated_at"
	case "api_keys":
		columns = "id, user_id, name, prefix, lookup, hash, created_at"
	case "audit_logs":
		columns, where = "seq, id, user_id, action, entity_type, entity_id, metadata, created_at, hash", "WHERE id LIKE 'log-%'"
	}
	rows, err := db.QueryContext(t.Context(), "SELECT "+columns+" FROM "+table+" "+where+" ORDER BY 1")
	testkit.Must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	testkit.Must(t, err)
	values, at := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		at[i] = &values[i]
	}
	n, sum := 0, sha256.New()
	for rows.Next() {
		testkit.Must(t, rows.Scan(at...))
		fmt.Fprintf(sum, "%v\n", values)
		n++
	}
	testkit.Must(t, rows.Err())
	return fmt.Sprintf("%d rows, %x", n, sum.Sum(nil))
}

// oldDatabase returns the address of a database of schema 19 with rows, and a connection that does not migrate.
func oldDatabase(t *testing.T, dialect, url string, count int) *sql.DB {
	t.Helper()
	testkit.Must(t, store.CreateAt(t.Context(), store.Config{URL: url}, schemaWithoutWorkspaces))
	db := connectTo(t, dialect, url)
	users := min(1000, count/10)
	numbers := func(n int) string {
		if dialect == "sqlite" {
			return fmt.Sprintf("WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c", n)
		}
		return fmt.Sprintf("SELECT n FROM generate_series(1, %d) AS n", n)
	}
	for _, statement := range filled {
		query := fmt.Sprintf(statement+"%.0[1]s%.0[2]s%.0[3]d", numbers(users), numbers(count), users)
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	return db
}

// connectTo returns a connection that does not migrate.
func connectTo(t *testing.T, dialect, url string) *sql.DB {
	t.Helper()
	driver, address := "pgx", url
	if dialect == "sqlite" {
		driver, address = "sqlite", "file:"+strings.TrimPrefix(url, "sqlite:")+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)"
	}
	db, err := sql.Open(driver, address)
	testkit.Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// previous is a program of the previous release. It creates users and links, changes links, and deletes some, without
// knowing workspaces.
type previous struct {
	t       *testing.T
	db      *sql.DB
	stop    chan struct{}
	done    sync.WaitGroup
	made    int            // links
	titles  map[int]string // by number of the link
	longest time.Duration
}

func (p *previous) run() {
	p.titles, p.stop = map[int]string{}, make(chan struct{})
	p.done.Go(func() {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for n := 1; ; n++ {
			select {
			case <-p.stop:
				return
			default:
			}
			began := time.Now()
			tx, err := p.db.Begin()
			if err != nil {
				p.t.Error(err)
				return
			}
			for _, statement := range []string{
				fmt.Sprintf(`INSERT INTO users (id, email, email_key, role, created_at, updated_at) VALUES ('late-%[1]d', 'late%[1]d', 'late%[1]d', 'USER', 1, 1)`, n),
				fmt.Sprintf(`INSERT INTO urls (id, user_id, slug, original_url, created_at, updated_at) VALUES ('late-%[1]d', 'late-%[1]d', 'late%[1]d', 'https://example.com/', 1, 1)`, n),
				fmt.Sprintf(`INSERT INTO urls (id, user_id, slug, original_url, created_at, updated_at) VALUES ('brief-%[1]d', 'late-%[1]d', 'brief%[1]d', 'https://example.com/', 1, 1)`, n),
				fmt.Sprintf(`DELETE FROM urls WHERE id = 'brief-%d'`, n),
				fmt.Sprintf(`UPDATE urls SET title = 'changed %d' WHERE num = %d`, n, n%100*97),
				`SELECT pg_advisory_xact_lock(7305519642)`, // orders the rows of the audit log
				fmt.Sprintf(`INSERT INTO audit_logs (seq, id, action, entity_type, metadata, created_at, hash) SELECT max(seq) + 1, 'late-%d', 'URL_CREATED', 'url', '{}', 1, '' FROM audit_logs`, n),
			} {
				if _, err := tx.Exec(statement); err != nil {
					p.t.Errorf("the previous release after %v: %s: %v", time.Since(began), statement, errors.Join(err, tx.Rollback()))
					return
				}
			}
			if err := tx.Commit(); err != nil {
				p.t.Error(err)
				return
			}
			p.made, p.titles[n%100*97], p.longest = n, fmt.Sprintf("changed %d", n), max(p.longest, time.Since(began))
			<-pace.C
		}
	})
}

// The migration to workspaces puts everything into the personal workspace of its user and changes nothing else. It can
// be interrupted. On PostgreSQL, two programs may migrate at the same time. In make proof, there are more links, the previous
// release works meanwhile, and a backup reads the tables. LINKS is the number of links.
func TestWorkspaces_of_the_previous_release(t *testing.T) {
	count := links(t, testkit.Size(1000, 25_000))
	for dialect, url := range map[string]string{"sqlite": "sqlite:" + t.TempDir() + "/a.db", "postgres": storetest.EmptyPostgresURL(t)} {
		t.Run(dialect, func(t *testing.T) {
			db := oldDatabase(t, dialect, url, count)
			before := map[string]string{}
			for table := range owners {
				before[table] = rowsOf(t, db, table)
			}
			before["audit_logs"] = rowsOf(t, db, "audit_logs")
			if dialect == "postgres" { // an index whose construction was interrupted
				if _, err := db.Exec(`CREATE UNIQUE INDEX CONCURRENTLY urls_workspace_slug ON urls ((1))`); err == nil {
					t.Fatal("the index is valid")
				}
			}
			old := &previous{t: t, db: db}
			began := time.Now()
			meanwhile := dialect == "postgres" && testkit.Size(false, true)
			if meanwhile {
				old.run()
				reader := readForAWhile(t, url)
				interrupted(t, url, db)
				reader.Wait()
			}
			began2 := time.Now()
			var opened sync.WaitGroup
			for range map[string]int{"sqlite": 1, "postgres": 2}[dialect] {
				opened.Go(func() {
					s, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 3})
					if err != nil {
						t.Error(err)
						return
					}
					testkit.Must(t, s.Close())
				})
			}
			opened.Wait()
			t.Logf("%d links in %v, of which %v after the interruption", count, time.Since(began), time.Since(began2))
			if meanwhile {
				late := func() (n int) {
					testkit.Must(t, db.QueryRow("SELECT count(*) FROM users WHERE id LIKE 'late-%'").Scan(&n))
					return n
				}
				migrated := late()
				testkit.Eventually(t, "the previous release works on the new schema", func() bool { return late() > migrated+5 })
				close(old.stop)
				old.done.Wait()
				t.Logf("the previous release: %d rounds, longest %v", old.made, old.longest)
				if old.longest > 9*time.Second { // statements have 10 s
					t.Errorf("a change by the previous release took %v", old.longest)
				}
				if old.made < 10 {
					t.Errorf("the previous release made only %d links", old.made)
				}
			}
			moved(t, db, dialect, before, old, count)
		})
	}
}

// moved checks the result of the migration.
func moved(t *testing.T, db *sql.DB, dialect string, before map[string]string, old *previous, count int) {
	t.Helper()
	number := func(query string) (n int) {
		t.Helper()
		testkit.Must(t, db.QueryRowContext(t.Context(), query).Scan(&n))
		return n
	}
	for table, was := range before {
		if is := rowsOf(t, db, table); is != was {
			t.Errorf("%s: %s, before the migration %s", table, is, was)
		}
		if owners[table] == "" {
			continue
		}
		if n := number("SELECT count(*) FROM " + table + " AS o JOIN users AS u ON u.id = o.user_id WHERE o.workspace_num IS NULL OR o.workspace_num <> u.num"); n != 0 {
			t.Errorf("%d rows of %s are not in the personal workspace of their users", n, table)
		}
	}
	equal(t, number("SELECT count(*) FROM urls"), count+old.made, "links")
	for num, title := range old.titles {
		if n := number(fmt.Sprintf("SELECT count(*) FROM urls WHERE num = %d AND title = '%s'", num, title)); num > 0 && n != 1 {
			t.Errorf("link %d lost its title %q", num, title)
		}
	}
	users := number("SELECT count(*) FROM users")
	if n := number("SELECT count(*) FROM workspaces AS w JOIN users AS u ON w.num = u.num AND w.id = u.id AND w.personal_of = u.id"); n != users {
		t.Errorf("%d of %d users have a personal workspace", n, users)
	}
	if n := number("SELECT count(*) FROM workspace_members AS m JOIN users AS u ON u.id = m.user_id AND u.num = m.workspace_num WHERE m.role = 'OWNER'"); n != users {
		t.Errorf("%d of %d users own their personal workspace", n, users)
	}
	if dialect != "postgres" {
		return
	}
	equal(t, number("SELECT count(*) FROM pg_index WHERE NOT indisvalid"), 0, "invalid indexes")
	if n := number("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'urls_workspace_%' AND indexdef LIKE 'CREATE INDEX % (workspace_num, %'"); n != 6 {
		t.Errorf("%d indexes of workspaces", n)
	}
	equal(t, number("SELECT count(*) FROM pg_constraint WHERE NOT convalidated"), 0, "constraints that were not validated")
	if n := number("SELECT count(*) FROM pg_proc WHERE proname = 'migrate_patiently'"); n != 0 {
		t.Error("the procedure of the migration was not removed")
	}
}

// readForAWhile reads the links in a transaction of one and a half seconds, as a backup does.
func readForAWhile(t *testing.T, url string) *sync.WaitGroup {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	testkit.Must(t, err)
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	testkit.Must(t, err)
	var n int
	testkit.Must(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM urls").Scan(&n))
	var reader sync.WaitGroup
	reader.Go(func() {
		<-time.NewTimer(1500 * time.Millisecond).C // how long a backup takes
		testkit.Must(t, tx.Rollback(t.Context()))
		testkit.Must(t, conn.Close(t.Context()))
	})
	return &reader
}

// interrupted starts the migration and ends it when it has moved some links.
func interrupted(t *testing.T, url string, db *sql.DB) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		s, err := store.Open(ctx, store.Config{URL: url, MaxConns: 3})
		if err == nil {
			err = errors.Join(errors.New("the migration was not interrupted"), s.Close())
		}
		failed <- err
	}()
	testkit.Eventually(t, "the migration has moved some links", func() bool {
		var there bool
		testkit.Must(t, db.QueryRow("SELECT EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'urls' AND column_name = 'workspace_num')").Scan(&there))
		if there {
			testkit.Must(t, db.QueryRow("SELECT EXISTS (SELECT FROM urls WHERE workspace_num IS NOT NULL AND id LIKE 'url-%')").Scan(&there))
		}
		select {
		case err := <-failed:
			t.Fatalf("the migration ended early: %v", err)
		default:
		}
		return there
	})
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) && !strings.Contains(fmt.Sprint(err), "cancel") {
		t.Fatalf("the interrupted migration: %v", err)
	}
}
