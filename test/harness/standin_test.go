package harness_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// standInLinks is the environment variable that makes the test binary a stand-in for Shlink. It has the number of links.
const standInLinks = "SHLINK_STAND_IN"

// shlink is a process that serves the pages of a Shlink. It is not the process of the test, so nothing but HTTP reaches it.
type shlink struct {
	t   *testing.T
	URL string
}

// newShlink starts a Shlink with links.
func newShlink(t *testing.T, links int) *shlink {
	t.Helper()
	_, out := startSelf(t, standInLinks+"="+strconv.Itoa(links))
	address, err := out.ReadString('\n')
	testkit.Must(t, err)
	return &shlink{t, "http://" + strings.TrimSpace(address)}
}

// startSelf starts the test binary as another process. The variables of the environment say what the process is: see TestMain. It is
// killed at the end of the test, if it still runs.
func startSelf(t *testing.T, variables ...string) (in io.Closer, out *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	testkit.Must(t, err)
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), variables...), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err = cmd.StdinPipe()
	testkit.Must(t, err)
	stdout, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // an error is the kill
	})
	return in, bufio.NewReader(stdout)
}

// tell sends a number to the stand-in.
func (s *shlink) tell(path string, n int) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, fmt.Sprint(s.URL, path, n), nil)
	testkit.Must(s.t, err)
	res, err := http.DefaultClient.Do(r)
	testkit.Must(s.t, err)
	testkit.Must(s.t, res.Body.Close())
	testkit.Equal(s.t, res.StatusCode, http.StatusNoContent, "%s%d", path, n)
}

// aim makes the stand-in kill a process after a number of pages. The process is named with fire, so it can be started in between: the
// stand-in keeps its request waiting until then.
func (s *shlink) aim(after int)      { s.t.Helper(); s.tell("/stand-in/after/", after) }
func (s *shlink) fire(cmd *exec.Cmd) { s.t.Helper(); s.tell("/stand-in/kill/", cmd.Process.Pid) }

// serveShlink is the stand-in. It writes its address to the standard output, and serves until it is killed.
func serveShlink(links string) {
	rows, err := strconv.Atoi(links)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr()) // the test reads it
	s := &shlinkServer{links: rows, left: -1, pid: make(chan int, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /stand-in/{what}/{n}", s.control)
	mux.HandleFunc("/", s.page)
	_ = http.Serve(l, mux) //nolint:gosec // for tests only
	os.Exit(1)
}

type shlinkServer struct {
	links int
	pid   chan int // of the process to kill

	mu   sync.Mutex
	left int // pages before the kill; -1: no kill
}

func (s *shlinkServer) control(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.PathValue("what") == "kill" {
		s.pid <- n
	} else {
		s.mu.Lock()
		s.left = n
		s.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// killsNow counts a page, and reports whether it is the one at which the process is killed.
func (s *shlinkServer) killsNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left < 0 {
		return false
	}
	s.left--
	return s.left < 0
}

func (s *shlinkServer) page(w http.ResponseWriter, r *http.Request) {
	const size = 100
	if s.killsNow() {
		if err := syscall.Kill(<-s.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			fmt.Fprintln(os.Stderr, "kill an import:", err)
		}
		return // nobody reads an answer
	}
	number, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || r.Header.Get("X-Api-Key") != "token" {
		http.Error(w, `{"status":401}`, http.StatusUnauthorized)
		return
	}
	data := []map[string]any{}
	for i := (number - 1) * size; i < min(s.links, number*size); i++ {
		code := fmt.Sprint("shlink", i)
		data = append(data, map[string]any{"shortCode": code, "shortUrl": "https://old.example/" + code,
			"longUrl": fmt.Sprint("https://example.com/", i), "dateCreated": "2016-08-21T20:34:16+02:00", "tags": []string{"moved"},
			"visitsSummary": map[string]int{"total": i}, "meta": map[string]any{}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"shortUrls": map[string]any{"data": data, // a killed process reads no answer
		"pagination": map[string]int{"currentPage": number, "pagesCount": (s.links + size - 1) / size, "totalItems": s.links}}})
}
