package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgres is the running server. It listens only on a socket in its own folder.
type postgres struct {
	dir   string
	stdin io.Closer // its end stops the server, even if this process crashes

	mu          sync.Mutex
	made, empty int // databases
}

var server = sync.OnceValues(start)

func (s *postgres) url(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// supervise runs the server until its standard input ends, then removes all files.
const supervise = `cd "$1" || exit 1
"$2/initdb" -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >log 2>&1 || { echo initdb failed >>log; read -r _; rm -rf "$1"; exit 1; }
"$2/postgres" -D data -k "$1" -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200 -c shared_buffers=32MB >>log 2>&1 &
pid=$!
read -r _
kill -QUIT $pid
wait $pid
cd / && rm -rf "$1"
`

func start() (*postgres, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "shortline-pg-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", supervise, "sh", dir, bin)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		uid, gid, err := unprivileged()
		if err != nil {
			return nil, err
		}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	s := &postgres{dir: dir}
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start Postgres: %w", err)
	}
	go func() { _ = cmd.Wait() }() // it ends after this process, or its log explains an early exit
	return s, s.ready()
}

// ready waits until the server accepts connections.
func (s *postgres) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.stdin.Close()
			return fmt.Errorf("start Postgres: %w; its log: %s", err, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
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
