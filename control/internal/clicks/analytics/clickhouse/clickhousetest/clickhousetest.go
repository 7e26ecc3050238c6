// Package clickhousetest starts ClickHouse for tests: the real engine behind its HTTP and native interfaces, in the
// program test/chd. The engine is a library that deploy/dev/parts downloads. CHDB_LIB names another one. Without the
// library, tests fail with a message.
package clickhousetest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/testing/testserver"
)

// library is where deploy/dev/parts puts the engine, below the user's cache folder.
const library = "shortline/chdb-26.5.3/libchdb.so"

// Server is a running server. It ends with the test's process at the latest.
type Server struct {
	dir, lib    string
	url, native string // without a database name
	log         string // path of a shared server's log, which names statements that take long

	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{}
}

// Start runs a server with the tables in dir, which is created if it is missing, until the test ends or Kill is called.
func Start(t testing.TB, dir string) *Server {
	t.Helper()
	// Restart listens on the same addresses again. On ports that the system had chosen, another process could have an outgoing
	// connection by then.
	s := &Server{dir: dir, lib: lookFor(t), url: "http://" + testkit.FreeAddr(t), native: "clickhouse://" + testkit.FreeAddr(t)}
	testkit.Must(t, s.start())
	t.Cleanup(s.Kill)
	return s
}

// At returns a server that another process has started. Only Ask can be used.
func At(url string) *Server { return &Server{url: url} }

// Kill kills the server as kill -9 does, and waits until it has ended.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended already
	<-s.ended
}

// Pause stops the server without ending it: connections stay open, and nothing answers. Resume lets it go on.
func (s *Server) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on. An error means that the process has ended, and is ignored.
func (s *Server) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// Processor returns the processor time that the server has used since its start.
func (s *Server) Processor(t testing.TB) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	testkit.Must(t, err)
	// The fields 14 and 15 of proc(5), in hundredths of a second. The name of the program, which may contain spaces, is the second field.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	testkit.Must(t, errors.Join(err1, err2))
	return time.Duration(user+system) * 10 * time.Millisecond
}

// Restart starts the server again after Kill, with the same tables and address.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	testkit.Must(t, s.start())
}

// Ask runs a statement and returns the result as tab-separated text.
func (s *Server) Ask(ctx context.Context, statement string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(statement))
	if err != nil {
		return "", err
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = errors.New(string(text))
	}
	return strings.TrimSpace(string(text)), err
}

// Database creates an empty database and returns its URL.
func (s *Server) Database(ctx context.Context) (string, error) {
	name := "t_" + strings.ToLower(rand.Text())
	_, err := s.Ask(ctx, "CREATE DATABASE "+name)
	return s.URL(name) + patient, err
}

// patient replaces the store's own limits in the URL of a database on the shared server, where many tests wait for the same
// processors: on the time of a statement, and on that of opening a connection, in which the driver also asks for the server's version.
// A statement that hangs fails before its test gives up, so that the test names it, or repeats it.
var patient = fmt.Sprintf("?max_execution_time=%d&dial_timeout=%s", int(testkit.Patience.Seconds())/2, testkit.Patience/2)

// URL returns the URL of a database over HTTP; NativeURL returns the URL over the native protocol.
func (s *Server) URL(database string) string { return s.url + "/" + database }

// NativeURL is like URL, for the native protocol.
func (s *Server) NativeURL(database string) string { return s.native + "/" + database }

// Database creates an empty database on a server that all test processes share (package testserver), and returns its URL. The
// database is dropped after the test.
func Database(t testing.TB) string {
	t.Helper()
	s := common(t)
	url, err := s.Database(context.Background())
	testkit.Must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			text, err := os.ReadFile(s.log)
			t.Logf("the server's log ends with (%v):\n%s", err, testkit.LastLines(string(text), 5))
		}
		if _, err := s.Ask(context.Background(), "DROP DATABASE IF EXISTS "+databaseOf(url)); err != nil {
			t.Logf("drop the ClickHouse database: %v", err)
		}
	})
	return url
}

// NativeDatabase is like Database, with the URL of the native protocol.
func NativeDatabase(t testing.TB) string {
	t.Helper()
	return common(t).NativeURL(databaseOf(Database(t))) + patient
}

func databaseOf(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url[strings.LastIndexByte(url, '/')+1:]
}

// common returns the server that all test processes share. Tests must neither kill nor pause it.
func common(t testing.TB) *Server {
	t.Helper()
	lookFor(t)
	s, err := shared()
	testkit.Must(t, err)
	return s
}

var shared = sync.OnceValues(func() (*Server, error) {
	program, err := testkit.Program("test/chd")
	if err != nil {
		return nil, err
	}
	dir, err := testserver.Server{
		Name: "clickhouse-" + filepath.Base(filepath.Dir(path())) + "-" + filepath.Base(filepath.Dir(program)), // both versions
		Prepare: func(dir string) (testserver.Command, error) {
			args := []string{"-listen", "127.0.0.1:0", "-native", "127.0.0.1:0", "-data", filepath.Join(dir, "data"), "-lib", path()}
			return testserver.Command{Path: program, Args: args}, nil
		},
		Ready: func(dir string) error {
			s, err := running(dir)
			if err == nil {
				_, err = s.Ask(context.Background(), "SELECT 1")
			}
			return err
		},
	}.Use()
	if err != nil {
		return nil, err
	}
	return running(dir)
})

var (
	httpURL   = regexp.MustCompile(`(?m)^http://\S+$`)
	nativeURL = regexp.MustCompile(`(?m)^clickhouse://\S+$`)
)

// running reads the addresses that a shared server has printed.
func running(dir string) (*Server, error) {
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	s := &Server{log: filepath.Join(dir, "log"), url: string(httpURL.Find(text)), native: string(nativeURL.Find(text))}
	if s.url == "" || s.native == "" {
		return nil, errors.New("ClickHouse has not printed its addresses yet")
	}
	return s, nil
}

// lookFor returns the path of the engine.
func lookFor(t testing.TB) string {
	t.Helper()
	p := path()
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("the ClickHouse engine is missing (%v): deploy/dev/parts downloads it", err)
	}
	return p
}

func path() string {
	if lib := os.Getenv("CHDB_LIB"); lib != "" {
		return lib
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return library
	}
	return filepath.Join(cache, library)
}

func (s *Server) start() error {
	program, err := testkit.Program("test/chd")
	if err != nil {
		return err
	}
	address, native := "127.0.0.1:0", "127.0.0.1:0"
	if s.url != "" {
		address, native = strings.TrimPrefix(s.url, "http://"), strings.TrimPrefix(s.native, "clickhouse://")
	}
	cmd := exec.Command(program, "-listen", address, "-native", native, "-data", s.dir, "-lib", s.lib)
	cmd.Stderr = os.Stderr
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ClickHouse: %w", err)
	}
	var urls [2]string
	for i, in := 0, bufio.NewReader(out); i < len(urls) && err == nil; i++ {
		urls[i], err = in.ReadString('\n')
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it was killed
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
	if err != nil {
		s.Kill()
		return fmt.Errorf("start ClickHouse: it ended before it was ready: %w", err)
	}
	s.url, s.native = strings.TrimSpace(urls[0]), strings.TrimSpace(urls[1])
	return nil
}
