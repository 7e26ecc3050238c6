package deploy_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// database is a PostgreSQL server of the test, on a socket in its folder.
type database struct {
	t        *testing.T
	bin, dir string
}

// The supervisor stops the server and removes its folder when its standard input is closed, at the latest when the test
// process ends.
const supervise = `cd "$1" || exit 1
"$2/initdb" -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >log 2>&1 &&
  { "$2/postgres" -D data -k "$1" -c listen_addresses= -c fsync=off -c shared_buffers=16MB >>log 2>&1 & pid=$!; }
read -r _
[ -z "$pid" ] || { kill -QUIT $pid; wait $pid; }
cd / && rm -rf "$1"
`

func startDatabase(t *testing.T) database {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		t.Fatal("PostgreSQL server programs not found; deploy/dev/tools installs them")
	}
	slices.Sort(found)
	d := database{t: t, bin: filepath.Dir(found[len(found)-1])}
	// Not t.TempDir: another user must be able to enter the folder.
	if d.dir, err = os.MkdirTemp("", "shortline-pg-"); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("/bin/sh", "-c", supervise, "sh", d.dir, d.bin)
	if os.Getuid() == 0 { // the server refuses to run as root
		u, err := user.Lookup("postgres")
		testkit.Must(t, err)
		uid, _ := strconv.Atoi(u.Uid) // user IDs are numbers on Linux
		gid, _ := strconv.Atoi(u.Gid)
		testkit.Must(t, os.Chown(d.dir, uid, gid))
		run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	end, err := run.StdinPipe()
	testkit.Must(t, err)
	testkit.Must(t, run.Start())
	t.Cleanup(func() {
		end.Close()
		_ = run.Wait() // the supervisor kills the server, so the exit status is an error
	})
	t.Cleanup(func() {
		if text, err := os.ReadFile(filepath.Join(d.dir, "log")); t.Failed() && err == nil {
			t.Logf("PostgreSQL:\n%s", text)
		}
	})
	testkit.Eventually(t, "PostgreSQL is ready", func() bool { _, err := d.query("postgres", "SELECT 1"); return err == nil })
	return d
}

func (d database) url() string { return "postgres://postgres@/postgres?host=" + d.dir }

// tool runs a PostgreSQL program as a role of the database.
func (d database) tool(role string, stdin io.Reader, name string, args ...string) (string, error) {
	run := exec.Command(filepath.Join(d.bin, name), append([]string{"--host", d.dir, "--username", role, "--dbname", "postgres"},
		args...)...)
	run.Stdin = stdin
	text, err := run.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return strings.TrimSpace(string(text)), err
}

func (d database) query(role, sql string, args ...string) (string, error) {
	return d.tool(role, strings.NewReader(sql), "psql",
		append([]string{"--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"}, args...)...)
}

func (d database) must(sql string, args ...string) string {
	d.t.Helper()
	text, err := d.query("postgres", sql, args...)
	testkit.Must(d.t, err)
	return text
}

// control runs a command of the control program on the database.
func (d database) control(args ...string) string {
	d.t.Helper()
	return d.controlAs([]string{"DATABASE_URL=" + d.url()}, args...)
}

// controlAs is control with other settings.
func (d database) controlAs(env []string, args ...string) string {
	d.t.Helper()
	run := exec.Command(program(d.t, "control"), args...)
	run.Env = append(env, "ENCRYPTION_KEY="+strings.Repeat("k", 32))
	text, err := run.CombinedOutput()
	if err != nil {
		d.t.Fatalf("control %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return string(text)
}

func (d database) links(slugs ...string) {
	d.t.Helper()
	for _, slug := range slugs {
		d.must("INSERT INTO urls (id, user_id, slug, original_url, title, password_hash, created_at, updated_at) VALUES ('" + slug +
			"', 'u', '" +
			slug + "', 'https://example.com', 'A title', 'hash', 1, 1)")
	}
}

// The backup procedure of docs/operators/operations.md on a real database: dump, make changes, restore the dump, and
// set the incarnation, which the dump cannot contain.
func TestOperations_database_is_restored(t *testing.T) {
	t.Parallel()
	d := startDatabase(t)
	d.control("migrate")
	d.control("migrate") // a Helm hook may run twice
	d.must("INSERT INTO users (id, email, email_key, role, created_at, updated_at) VALUES ('u', 'a@example.com', 'a@example.com', " +
		"'USER', 1, 1)")
	d.links("one", "two")
	dump := filepath.Join(t.TempDir(), "shortline.dump")
	if _, err := d.tool("postgres", nil, "pg_dump", "--format", "custom", "--file", dump); err != nil {
		t.Fatal(err)
	}
	history := d.must("SELECT incarnation FROM config_head")
	d.links("three", "four", "five")
	highest := d.must("SELECT max(num) FROM urls") // ClickHouse still has clicks with this number

	if text, err := d.tool("postgres", nil, "pg_restore", "--clean", "--if-exists", "--no-owner", dump); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if n := d.must("SELECT count(*) FROM urls"); n != "2" {
		t.Fatalf("%s links after the restore, want 2", n)
	}
	blocks := fenced(t, "docs/operators/operations.md", "sql")
	if len(blocks) != 2 {
		t.Fatalf("docs/operators/operations.md has an unexpected number of SQL blocks: %d", len(blocks))
	}
	for _, sql := range blocks {
		d.must(sql, "--set", "highest="+highest)
	}
	if now := d.must("SELECT incarnation FROM config_head WHERE incarnation > 0"); now == history || now == "" {
		t.Errorf("the incarnation must change, or edges would keep links from before the restore: %q", now)
	}
	d.links("six")
	if n := d.must("SELECT num FROM urls WHERE slug = 'six'"); len(n) < len(highest) || n <= highest {
		t.Errorf("a new link has the number %s, which a link had before the restore", n)
	}
	d.control("migrate")
	d.control("verify-audit")
	if said := d.control("create-admin", "ops@example.com"); !strings.Contains(said, "ops@example.com is an administrator") {
		t.Error(said)
	}
	if said := d.control("rotate-keys"); !strings.Contains(said, "encrypted again") {
		t.Error(said)
	}
}

// The dashboards' role can read names. It cannot read secrets or anything else, and it cannot write.
func TestCompose_dashboards_may_only_read_names(t *testing.T) {
	t.Parallel()
	d := startDatabase(t)
	d.control("migrate")
	for range 2 {
		if text, err := d.query("postgres", read(t, "deploy/postgres/grafana.sql"), "--set", "password=it's secret"); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for sql, allowed := range map[string]bool{
		"SELECT num, slug, title FROM urls":        true,
		"SELECT id, name FROM variants":            true,
		"SELECT id, name FROM routing_rules":       true,
		"SELECT password_hash FROM urls":           false,
		"SELECT original_url FROM urls":            false,
		"SELECT email FROM users":                  false,
		"SELECT secret FROM webhooks":              false,
		"SELECT * FROM audit_logs":                 false,
		"SELECT client_secret FROM oidc_providers": false,
		"UPDATE urls SET title = 'x'":              false,
		"CREATE TABLE mine (x int)":                false,
	} {
		if _, err := d.query("grafana", sql); (err == nil) != allowed {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
