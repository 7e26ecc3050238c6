package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/testing/testserver"
)

// postgres is a running server. It listens only on a socket in its own folder.
type postgres struct {
	dir  string
	made atomic.Int64 // databases
}

// server is the server that all test processes share.
var server = sync.OnceValues(func() (*postgres, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := testserver.Server{
		Name:    "postgres-" + filepath.Base(filepath.Dir(bin)),
		Prepare: func(dir string) (testserver.Command, error) { return prepareServer(bin, dir) },
		Ready: func(dir string) error {
			return (&postgres{dir: dir}).exec(context.Background(), "SELECT 1")
		},
	}.Use()
	if err != nil {
		return nil, err
	}
	s := &postgres{dir: dir}
	return s, s.dropAbandoned()
})

// url returns the address of a database. Connecting and statements may take minutes, instead of the two and ten seconds that the
// store allows: other tests share the processors.
func (s *postgres) url(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s&connect_timeout=%d&statement_timeout=%d",
		database, url.QueryEscape(s.dir), int(testkit.Patience.Seconds()), testkit.Patience.Milliseconds())
}

// prepareServer creates the server's data. A power failure may lose it, which is faster. Its shared memory is in files there, because a
// server that is killed leaves its files in /dev/shm.
func prepareServer(bin, dir string) (testserver.Command, error) {
	run := testserver.Command{
		Path: filepath.Join(bin, "postgres"),
		Args: []string{
			"-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c",
			"full_page_writes=off",
			"-c", "max_connections=500", "-c", "shared_buffers=64MB", "-c", "max_wal_size=4GB", "-c", "checkpoint_timeout=1h", "-c",
			"autovacuum_naptime=5min", "-c", "dynamic_shared_memory_type=mmap",
		},
		Env: []string{"LC_ALL=C.UTF-8"},
	}
	create := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C.UTF-8", "-N")
	create.Env = append(os.Environ(), run.Env...)
	create.Dir = dir
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		var err error
		if run.UID, run.GID, err = unprivileged(); err != nil {
			return run, err
		}
		if err := os.Chown(dir, run.UID, run.GID); err != nil {
			return run, err
		}
		create.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(run.UID), Gid: uint32(run.GID)}}
	}
	if out, err := create.CombinedOutput(); err != nil {
		return run, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return run, nil
}

func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("its server programs (initdb, postgres) are not installed")
}

func unprivileged() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ = strconv.Atoi(u.Uid)
		gid, _ = strconv.Atoi(u.Gid)
		return uid, gid, nil
	}
	return 0, 0, errors.New("there is no user (postgres, nobody) to run the server as")
}

// template is the name of the database that others are copied from. Sources with other migrations have another template.
var template = sync.OnceValues(func() (string, error) {
	sum, err := store.MigrationsChecksum("postgres")
	return "template_" + sum[:16], err
})

// create copies the template, which is much faster than migrating.
func (s *postgres) create(ctx context.Context) (string, error) {
	from, err := s.template(ctx)
	if err != nil {
		return "", err
	}
	name := s.newName("test")
	return name, s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+from+" STRATEGY FILE_COPY")
}

// template returns the name of the template, and creates the template unless another process has done so.
func (s *postgres) template(ctx context.Context) (string, error) {
	name, err := template()
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx) // releases the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('template'))"); err != nil {
		return "", err
	}
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil || exists {
		return name, err
	}
	// Under another name first, because a process that is killed here would leave half a template.
	unfinished := s.newName("test")
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+unfinished); err != nil {
		return "", err
	}
	if err := prepare(s.url(unfinished)); err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return name, err
}

func (s *postgres) createEmpty(ctx context.Context) (string, error) {
	name := s.newName("test_empty")
	return name, s.exec(ctx, "CREATE DATABASE "+name)
}

// newName returns the name of a new database. It has the process ID, so that later processes find abandoned databases.
func (s *postgres) newName(kind string) string {
	return fmt.Sprintf("%s_%d_%d", kind, os.Getpid(), s.made.Add(1))
}

var ofProcess = regexp.MustCompile(`^test(?:_empty)?_(\d+)_\d+$`)

// dropAbandoned drops the databases of processes that were killed before they could drop them.
func (s *postgres) dropAbandoned() error {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT datname FROM pg_database WHERE datname LIKE 'test%'")
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		m := ofProcess.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		pid, err := strconv.Atoi(m[1])
		if err != nil || pid == os.Getpid() || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		// Another process may be dropping it at the same time.
		if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil &&
			!strings.Contains(err.Error(), "concurrently") {
			return err
		}
	}
	return nil
}

func (s *postgres) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
