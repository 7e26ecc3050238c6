package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// binary is the path of the program under test, built once for all tests of the package.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "shortline-e2e")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "standalone")
		build := exec.Command("go", "build", "-o", binary, ".")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build standalone:", err)
			return 1
		}
		return m.Run()
	}())
}

// program is a running standalone.
type program struct {
	t        testing.TB
	Dir      string // its DATA_DIR
	Addr     string // host:port of the public address
	Ops      string
	env      []string
	cmd      *exec.Cmd
	output   *testkit.Buffer
	exited   chan error
	password string
}

// start runs a new standalone and waits until it is ready. extra are additional NAME=value settings. Reports have no
// rate limit, because tests poll them.
func start(t testing.TB, extra ...string) *program {
	t.Helper()
	p := prepare(t, extra...)
	p.Start()
	return p
}

// prepare returns a program that is not started yet.
func prepare(t testing.TB, extra ...string) *program {
	t.Helper()
	p := &program{t: t, Dir: t.TempDir(), Addr: testkit.FreeAddr(t), Ops: testkit.FreeAddr(t)}
	p.env = append(cleanEnv(), "LISTEN_ADDR="+p.Addr, "OPS_ADDR="+p.Ops, "DATA_DIR="+p.Dir, "RATE_LIMIT_ANALYTICS=0")
	p.env = append(p.env, extra...)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() && p.output != nil {
			t.Logf("output of standalone:\n%s", tail(p.output.String(), 60))
		}
	})
	return p
}

// cleanEnv returns this process's environment without settings of the program.
func cleanEnv() []string {
	var out []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "TMPDIR", "LANG", "TZ":
			out = append(out, kv)
		}
	}
	return out
}

// Start starts the program again on the same data and waits until it is ready.
func (p *program) Start() {
	p.t.Helper()
	p.output = &testkit.Buffer{}
	p.cmd = exec.Command(binary)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, p.output, p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.exited = make(chan error, 1)
	go func() { p.exited <- p.cmd.Wait() }()
	const most = 2 * time.Minute // generous for a busy machine; benchmarks measure the start time
	deadline := time.Now().Add(most)
	for {
		res, err := http.Get("http://" + p.Ops + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		select {
		case err := <-p.exited:
			p.t.Fatalf("standalone exited during startup: %v\n%s", err, p.output.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			_ = p.cmd.Process.Signal(syscall.SIGQUIT) // prints the stacks of all goroutines
			<-p.exited
			p.exited <- nil
			p.t.Fatalf("standalone is not ready after %s\n%s", most, tail(p.output.String(), 2000))
		}
	}
}

var printedPassword = regexp.MustCompile(`(?m)password[: ]+(\S+)\s*$`)

// Kill ends the program with SIGKILL.
func (p *program) Kill() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // it may have exited already
		<-p.exited
		p.exited <- nil
	}
}

// Stop stops the program. It fails the test unless the program exits without an error within 10 s.
func (p *program) Stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case err := <-p.exited:
		p.exited <- nil
		if err != nil {
			p.t.Fatalf("after SIGTERM: %v\n%s", err, tail(p.output.String(), 40))
		}
	case <-time.After(10 * time.Second):
		p.t.Fatalf("still running 10 s after SIGTERM\n%s", tail(p.output.String(), 40))
	}
}

// client calls the API as the first admin.
type client struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client // nil: the default
}

// Password returns the first admin's password, which the first start prints. The output may arrive after the program is
// ready.
func (p *program) Password() string {
	p.t.Helper()
	testkit.Within(p.t, 10*time.Second, "the first admin's password is printed", func() bool {
		if m := printedPassword.FindStringSubmatch(p.output.String()); p.password == "" && m != nil {
			p.password = m[1]
		}
		return p.password != ""
	})
	return p.password
}

// Login signs in as the first admin.
func (p *program) Login() *client {
	p.t.Helper()
	return p.LoginAt("http://"+p.Addr, http.DefaultClient)
}

// LoginAt signs in as the first admin at an address, with another HTTP client.
func (p *program) LoginAt(base string, with *http.Client) *client {
	p.t.Helper()
	c := &client{t: p.t, base: base, http: with}
	var out struct{ AccessToken string }
	c.Do("POST", "/api/auth/login", map[string]any{"email": "admin@example.com", "password": p.Password()}, 200, &out)
	c.token = out.AccessToken
	return c
}

// Do sends one request and decodes the response into out, unless out is nil.
func (c *client) Do(method, path string, body any, wantStatus int, out any) {
	c.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.base+path, in)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := cmp.Or(c.http, http.DefaultClient).Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != wantStatus {
		c.t.Fatalf("%s %s: got %d, want %d: %s", method, path, res.StatusCode, wantStatus, b)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			c.t.Fatalf("%s %s: %v in %s", method, path, err, b)
		}
	}
}

// created holds the fields of a new link that tests use.
type created struct{ ID, Slug, ShortURL string }

// CreateURL creates a link; more holds additional fields.
func (c *client) CreateURL(target string, more map[string]any) (u created) {
	c.t.Helper()
	body := map[string]any{"originalUrl": target}
	for k, v := range more {
		body[k] = v
	}
	c.Do("POST", "/api/urls", body, 201, &u)
	return u
}

// follow requests a link as a visitor and returns the status and Location.
func (p *program) follow(slug string, header map[string]string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequest("GET", "http://"+p.Addr+"/"+slug, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header.Get("Location")
}

// published waits at most one second until the edge serves a new link. It sends HEAD requests, which do not count as
// clicks.
func (p *program) published(slug string) {
	p.t.Helper()
	testkit.Within(p.t, time.Second, "the edge knows /"+slug, func() bool {
		req, err := http.NewRequest("HEAD", "http://"+p.Addr+"/"+slug, nil)
		if err != nil {
			p.t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			p.t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusFound
	})
}

func tail(s string, lines int) string {
	var all []string
	sc := bufio.NewScanner(strings.NewReader(s))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		all = append(all, sc.Text())
	}
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
