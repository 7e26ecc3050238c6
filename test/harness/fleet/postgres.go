package fleet

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// database is one PostgreSQL server.
type database struct {
	*Process
	bin  string              // the folder of its programs
	dir  string              // holds data and the sockets
	data string              // PGDATA
	addr string              // host:port
	who  *syscall.Credential // user to run as; nil: the current user
}

// DatabaseURL returns the URL of the server, or of both servers: clients then connect to the one that accepts writes.
func (f *Fleet) DatabaseURL() string {
	if f.cfg.Standby {
		return "postgres://postgres@" + f.primary.addr + "," + f.standby.addr + "/postgres?sslmode=disable&target_session_attrs=read-write"
	}
	return "postgres://postgres@" + f.primary.addr + "/postgres?sslmode=disable"
}

func (f *Fleet) launchPostgres() {
	f.t.Helper()
	f.primary = f.database("postgres")
	f.Postgres = f.primary.Process
	template, err := emptyCluster(f.primary)
	if err != nil {
		f.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", template, f.primary.data).CombinedOutput(); err != nil {
		f.t.Fatalf("copy an empty cluster: %v: %s", err, out)
	}
	if f.cfg.Standby {
		// In the file, since pg_rewind starts the server without the arguments and would then delete the WAL that it needs.
		if err := os.WriteFile(filepath.Join(f.primary.data, "postgresql.conf"), []byte("wal_keep_size = '1GB'\n"), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	f.launch(f.Postgres)
}

func (f *Fleet) startStandby() {
	f.t.Helper()
	f.standby = f.database("postgres2")
	if _, err := f.Follow(); err != nil {
		f.t.Fatal(err)
	}
}

var template struct {
	sync.Mutex
	dir string
}

// emptyCluster returns the folder of a cluster that no server uses, for copies. The first call of a process makes it, as the
// user of a server. It stays until the process ends.
func emptyCluster(d *database) (string, error) {
	template.Lock()
	defer template.Unlock()
	if template.dir != "" {
		return template.dir, nil
	}
	dir, err := os.MkdirTemp("", "shortline-fleet-template-")
	if err != nil {
		return "", err
	}
	if d.who != nil {
		if err := os.Chown(dir, int(d.who.Uid), int(d.who.Gid)); err != nil {
			return "", err
		}
	}
	data := filepath.Join(dir, "data")
	// Not durable across a power failure, which no experiment simulates. A killed server loses nothing. pg_rewind requires
	// checksums.
	args := []string{"-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N", "--data-checksums"}
	if err := d.run("initdb", args...); err != nil {
		return "", err
	}
	template.dir = data
	return data, nil
}

// RemoveTemplate removes what fleets were copied from. TestMain calls it after all tests.
func RemoveTemplate() {
	template.Lock()
	defer template.Unlock()
	if template.dir != "" {
		_ = os.RemoveAll(filepath.Dir(template.dir)) // a failure leaves files in the temporary folder only
	}
}

// database prepares a server without data.
func (f *Fleet) database(name string) *database {
	f.t.Helper()
	bin, err := postgres()
	if err != nil {
		f.t.Fatal(err)
	}
	// Not in the test's folder, which only root can enter.
	dir, err := os.MkdirTemp("", "shortline-fleet-pg-")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &database{bin: bin, dir: dir, data: filepath.Join(dir, "data"), addr: testkit.FreeAddr(f.t)}
	if os.Getuid() == 0 { // the server refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		if err != nil {
			f.t.Fatal("neither user exists to run PostgreSQL as: postgres, nobody")
		}
		uid, _ := strconv.Atoi(u.Uid) // user IDs are numbers on Linux
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			f.t.Fatal(err)
		}
		d.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	host, port, err := net.SplitHostPort(d.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	args := []string{"-D", d.data, "-k", dir, "-h", host, "-p", port, "-c", "fsync=off", "-c", "max_connections=200",
		"-c", "shared_buffers=32MB", "-c", "dynamic_shared_memory_type=mmap"} // which leaves nothing in /dev/shm after a kill
	if f.cfg.Standby { // pg_rewind requires full page writes
		args = append(args, "-c", "full_page_writes=on")
	} else {
		args = append(args, "-c", "full_page_writes=off")
	}
	d.Process = process(f.t, f.Dir, name, filepath.Join(bin, "postgres"), args, []string{"LC_ALL=C.UTF-8"}, nil)
	d.Process.user = d.who
	d.Process.end = syscall.SIGINT // SIGTERM would wait until all clients have disconnected
	d.Process.gone = d.abandoned
	d.Process.ready = func() error { return d.run("pg_isready", "-h", host, "-p", port) }
	return d
}

// abandoned reports whether all processes of the server have ended. Its children notice with a delay that it was killed,
// and a new server does not start before that.
func (d *database) abandoned() bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is valid
	for _, link := range all {
		if dir, err := os.Readlink(link); err == nil && dir == d.data {
			return false
		}
	}
	return true
}

// run runs a PostgreSQL program as the server's user.
func (d *database) run(program string, args ...string) error {
	_, err := d.output(program, args...)
	return err
}

func (d *database) output(program string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(d.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = d.dir, &syscall.SysProcAttr{Credential: d.who}
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PGCONNECT_TIMEOUT=20")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return strings.TrimSpace(string(out)), nil
}

// ask runs a statement on this server and returns the output of psql.
func (d *database) ask(statement string) (string, error) {
	return d.output("psql", "-X", "-A", "-t", "-q", "-d", d.from("postgres"), "-c", statement)
}

// from returns the connection string for other programs.
func (d *database) from(name string) string {
	host, port, _ := net.SplitHostPort(d.addr) // Fleet built this address
	return "host=" + host + " port=" + port + " user=postgres dbname=" + name
}

// Ask runs a statement on the primary.
func (f *Fleet) Ask(statement string) (string, error) { return f.primary.ask(statement) }
