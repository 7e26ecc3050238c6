package main_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	destination = "https://example.com/destination"
	iPhone      = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
	laptop      = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	// attackKey is the ENCRYPTION_KEY of programs whose click ids a test makes or reads.
	attackKey = "a key that only the program and the test know"
)

// visitor has the headers of a browser, whose visits are counted.
var visitor = map[string]string{"User-Agent": laptop}

// binary returns the path of the program under test.
func binary(t testing.TB) string {
	t.Helper()
	path, err := testkit.Release("standalone")
	testkit.Must(t, err)
	return path
}

// common is the installation that tests share.
var common struct {
	sync.Mutex
	program *program
	users   int
}

func TestMain(m *testing.M) {
	code := m.Run()
	if p := common.program; p != nil {
		p.Kill()
		os.RemoveAll(p.Dir)
	}
	os.Exit(code)
}

// shared returns the installation that all tests share which neither need their own settings nor stop the program. The
// client is that of a new user, whose workspace is empty.
func shared(t testing.TB) (*program, *client) {
	t.Helper()
	common.Lock()
	defer common.Unlock()
	if common.program == nil {
		dir, err := os.MkdirTemp("", "shortline-standalone-")
		testkit.Must(t, err)
		p := newProgram(t, dir, "TRUSTED_PROXIES=127.0.0.0/8", "WEBHOOK_ALLOW_PRIVATE=true", "EXPERIMENT_EVERY=1s",
			"ENCRYPTION_KEY="+attackKey)
		common.program = p // TestMain removes it, even if it doesn't start
		p.Start()
		p.Password()
	}
	p := *common.program
	p.t = t
	t.Cleanup(p.logOutput)
	common.users++
	return &p, p.Login().user(fmt.Sprintf("user%d@example.com", common.users))
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

// start runs a new standalone and waits until it is ready. extra are additional NAME=value settings. The API has no rate
// limits, because tests poll it.
func start(t testing.TB, extra ...string) *program {
	t.Helper()
	p := prepare(t, extra...)
	p.Start()
	return p
}

// prepare returns a program that is not started yet.
func prepare(t testing.TB, extra ...string) *program {
	t.Helper()
	p := newProgram(t, t.TempDir(), extra...)
	t.Cleanup(func() {
		p.Kill()
		p.logOutput()
	})
	return p
}

func newProgram(t testing.TB, dir string, extra ...string) *program {
	t.Helper()
	p := &program{t: t, Dir: dir, Addr: testkit.FreeAddr(t), Ops: testkit.FreeAddr(t)}
	p.env = append(cleanEnv(), "LISTEN_ADDR="+p.Addr, "OPS_ADDR="+p.Ops, "DATA_DIR="+p.Dir)
	p.env = append(p.env, testkit.LongRequests...)
	for _, of := range []string{"DEFAULT", "ANALYTICS", "API_KEYS", "CONVERSIONS", "EXPORT", "ROUTING", "VARIANTS", "WEBHOOKS",
		"WEBHOOK_RETRY"} {
		p.env = append(p.env, "RATE_LIMIT_"+of+"=0")
	}
	p.env = append(p.env, extra...)
	return p
}

// logOutput logs the end of the program's output if the test has failed.
func (p *program) logOutput() {
	if p.t.Failed() && p.output != nil {
		p.t.Logf("output of standalone:\n%s", tail(p.output.String(), 60))
	}
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

// command returns a command of the program that works on the same data.
func (p *program) command(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(binary(p.t), args...)
	cmd.Env = append(cleanEnv(), "DATA_DIR="+p.Dir)
	return cmd
}

// launch starts the program again on the same data.
func (p *program) launch() {
	p.t.Helper()
	p.output = &testkit.Buffer{}
	p.cmd = p.command()
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, p.output, p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.Must(p.t, p.cmd.Start())
	p.exited = make(chan error, 1)
	go func() { p.exited <- p.cmd.Wait() }()
}

// Start is launch, and waits until the program is ready.
func (p *program) Start() {
	p.t.Helper()
	p.launch()
	testkit.Eventually(p.t, "standalone is ready", func() bool {
		select {
		case err := <-p.exited:
			p.exited <- nil
			p.t.Fatalf("standalone exited during startup: %v\n%s", err, p.output.String())
		default:
		}
		res, err := http.Get("http://" + p.Ops + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
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

// Stop stops the program. It fails the test unless the program exits without an error.
func (p *program) Stop() {
	p.t.Helper()
	testkit.Must(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	testkit.Eventually(p.t, "standalone ends after SIGTERM", func() bool {
		select {
		case err := <-p.exited:
			p.exited <- nil
			if err != nil {
				p.t.Fatalf("after SIGTERM: %v\n%s", err, tail(p.output.String(), 40))
			}
			return true
		default:
			return false
		}
	})
}

// client calls the API as a user, with the Go client. It sends each request once.
type client struct {
	*shortline.Client
	t           testing.TB
	base, token string
}

// newClient returns a client with the token of a session, or with an empty one. It uses the connections of one HTTP client, if given.
func newClient(t testing.TB, base, token string, of ...shortline.Option) *client {
	options := append([]shortline.Option{shortline.WithToken(token), shortline.WithRetry(shortline.NoRetry)}, of...)
	return &client{shortline.New(base, options...), t, base, token}
}

// signIn returns the client of a user.
func signIn(t testing.TB, base, email, password string) *client {
	t.Helper()
	session, err := newClient(t, base, "").Account.Login(t.Context(), shortline.SignIn{Email: email, Password: password})
	testkit.Must(t, err)
	return newClient(t, base, *session.AccessToken)
}

// Password returns the first admin's password, which the first start prints. The output may arrive after the program is
// ready.
func (p *program) Password() string {
	p.t.Helper()
	testkit.Eventually(p.t, "the first admin's password is printed", func() bool {
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
	return signIn(p.t, "http://"+p.Addr, "admin@example.com", p.Password())
}

// user creates a user and signs in.
func (c *client) user(email string) *client {
	c.t.Helper()
	const password = "correct horse battery staple"
	_, err := c.Users.Create(c.t.Context(), shortline.CreateUser{Email: email, Password: password})
	testkit.Must(c.t, err)
	return signIn(c.t, c.base, email, password)
}

// Do sends one request, with body as JSON, and decodes the answer into out.
func (c *client) Do(method, path string, body any, wantStatus int, out any) {
	c.t.Helper()
	testkit.Must(c.t, c.try(method, path, body, wantStatus, out))
}

// try is like Do, for goroutines.
func (c *client) try(method, path string, body any, wantStatus int, out any) error {
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	var answer shortline.Meta
	err = c.Client.Do(context.Background(), method, path, values, body, out, shortline.Into(&answer))
	var refused *shortline.APIError
	if errors.As(err, &refused) && refused.Status == wantStatus {
		if out == nil {
			return nil
		}
		return json.Unmarshal(refused.Body, out)
	}
	if err == nil && answer.Status != wantStatus {
		err = fmt.Errorf("%s %s: got %d, want %d", method, path, answer.Status, wantStatus)
	}
	return err
}

// link creates a link.
func (c *client) link(body shortline.CreateLink) *shortline.Link {
	c.t.Helper()
	u, err := c.Links.Create(c.t.Context(), body)
	testkit.Must(c.t, err)
	return u
}

// variant adds a destination to the A/B test of a link.
func (c *client) variant(link, target string, weight int) {
	c.t.Helper()
	_, err := c.Variants.Create(c.t.Context(), link, shortline.CreateVariant{Name: "v", TargetURL: target, Weight: shortline.Set(weight)})
	testkit.Must(c.t, err)
}

// now returns the present state of a link.
func (c *client) now(link string) *shortline.Link {
	c.t.Helper()
	u, err := c.Links.Get(c.t.Context(), link)
	testkit.Must(c.t, err)
	return u
}

// key returns a key that may send conversions.
func (c *client) key() string {
	c.t.Helper()
	key, err := c.Keys.Create(c.t.Context(), shortline.CreateAPIKey{Name: "shop",
		Scopes: shortline.Set([]shortline.Scope{shortline.ScopeConversionsWrite})})
	testkit.Must(c.t, err)
	return key.Key
}

// follow requests a link as a visitor and returns the status and Location. A header Host names another host.
func (p *program) follow(slug string, header map[string]string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequest("GET", "http://"+p.Addr+"/"+slug, nil)
	testkit.Must(p.t, err)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	req.Host = cmp.Or(header["Host"], p.Addr)
	res, err := http.DefaultTransport.RoundTrip(req)
	testkit.Must(p.t, err)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // only the status and Location matter
	return res.StatusCode, res.Header.Get("Location")
}

// metric returns the value of a metric without labels.
func (p *program) metric(name string) float64 {
	p.t.Helper()
	res, err := http.Get("http://" + p.Ops + "/metrics")
	testkit.Must(p.t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			testkit.Must(p.t, err)
			return v
		}
	}
	p.t.Fatalf("no metric %s", name)
	return 0
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
