package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/cli/clitest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const edgeToken = "a-token-of-an-edge"

func call(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := controlProgram.Command(args, &out, &out)
	return code, out.String()
}

func TestCheck_lists_every_problem_of_the_roles(t *testing.T) {
	for k, v := range map[string]string{
		"BASE_URL": "sho.rt", "DATABASE_URL": "mysql://secret-host", "CLICKHOUSE_URL": "ftp://secret-host", "EDGE_TOKENS": "short",
		"JWT_SECRET": "", "ENCRYPTION_KEY": "", "KAFKA_BROKERS": "",
	} {
		t.Setenv(k, v)
	}
	code, out := call(t, "-check")
	for _, name := range []string{"BASE_URL", "DATABASE_URL", "CLICKHOUSE_URL", "EDGE_TOKENS", "JWT_SECRET", "ENCRYPTION_KEY",
		"KAFKA_BROKERS"} {
		if !strings.Contains(out, name) {
			t.Errorf("%s is not named in\n%s", name, out)
		}
	}
	if code != 1 || strings.Contains(out, "secret-host") {
		t.Errorf("%d\n%s", code, out)
	}

	t.Setenv("BASE_URL", "https://sho.rt")
	t.Setenv("DATABASE_URL", "postgres://db/shortline")
	t.Setenv("EDGE_TOKENS", "a-token-of-an-edge,and-another-one-here")
	t.Setenv("ROLES", "publish")
	if code, out := call(t, "-check"); code != 0 {
		t.Errorf("publish needs neither keys, Kafka nor ClickHouse: %d\n%s", code, out)
	}
	t.Setenv("ROLES", "publish,everything")
	if code, out := call(t, "-check"); code != 1 || !strings.Contains(out, `"everything"`) {
		t.Errorf("an unknown role: %d\n%s", code, out)
	}
}

func TestSettings_page(t *testing.T) {
	_, table := call(t, "-settings")
	clitest.Settings(t, testkit.Source(t, "docs/operators/settings.md"), "control", table)
}

func TestCommands(t *testing.T) {
	t.Setenv("DATABASE_URL", "sqlite:"+t.TempDir()+"/shortline.db")
	t.Setenv("CLICKHOUSE_URL", clickhousetest.Database(t))
	code, out := call(t, "migrate")
	if code != 0 || !strings.Contains(out, "schema of the database") || !strings.Contains(out, "schema of ClickHouse") {
		t.Errorf("migrate: %d\n%s", code, out)
	}
	if code, out := call(t, "create-admin"); code != 2 || !strings.Contains(out, "usage: control create-admin EMAIL") {
		t.Errorf("without an argument: %d\n%s", code, out)
	}
	if code, out := call(t, "create-admin", "second@example.com"); code != 0 || !strings.Contains(out, "with the password") {
		t.Errorf("create-admin: %d\n%s", code, out)
	}
	if code, out := call(t, "verify-audit"); code != 0 || !strings.Contains(out, "1 rows, none changed") {
		t.Errorf("verify-audit: %d\n%s", code, out)
	}
	if code, out := call(t, "verify-clicks"); code != 0 || !strings.Contains(out, "0 clicks are missing") {
		t.Errorf("verify-clicks: %d\n%s", code, out)
	}
	if code, out := call(t, "reclassify", "-since", "2026-01-01", "-dry-run"); code != 0 ||
		!strings.Contains(out, "0 clicks were stored again") {
		t.Errorf("reclassify: %d\n%s", code, out)
	}
	if code, out := call(t, "reclassify", "-since", "yesterday"); code != 1 || !strings.Contains(out, "2026-01-31") {
		t.Errorf("reclassify since no day: %d\n%s", code, out)
	}
	if code, _ := call(t, "explode"); code != 2 {
		t.Errorf("an unknown command: %d", code)
	}
}

// process is a control plane that runs in the test.
type process struct {
	api, ops string
	token    string // access token of a session
	output   *testkit.Buffer
	end      func() // ends it; the test does so in any case
}

// start runs a process with the given settings and defaults.
func start(t *testing.T, env map[string]string) *process {
	t.Helper()
	p := &process{api: testkit.FreeAddr(t), ops: testkit.FreeAddr(t), output: &testkit.Buffer{}}
	all := map[string]string{
		"LISTEN_ADDR": p.api, "OPS_ADDR": p.ops, "DATA_DIR": t.TempDir(), "BASE_URL": "http://" + p.api,
		"JWT_SECRET": strings.Repeat("j", 32), "ENCRYPTION_KEY": strings.Repeat("e", 32), "ADMIN_PASSWORD": "correct horse",
		"EDGE_TOKENS": edgeToken, "KAFKA_BROKERS": "127.0.0.1:1", "RATE_LIMIT_ANALYTICS": "0", "RATE_LIMIT_DEFAULT": "0",
	}
	for k, v := range env {
		all[k] = v
	}
	s := new(settings)
	testkit.Must(t, config.LoadFrom(s, all))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx, s, p.output, p.output) }()
	p.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v\n%s", err, p.output)
		}
	})
	t.Cleanup(p.end)
	return p
}

func (p *process) ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	testkit.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	token := p.token
	if strings.Contains(url, "/edge/") {
		token = edgeToken
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// until polls readiness until the response has the status.
func (p *process) until(t *testing.T, status int, says string) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("readiness is %d %q", status, says), func() bool {
		code, text := p.ask(t, "GET", "http://"+p.ops+"/readyz", "")
		return code == status && strings.Contains(text, says)
	})
}

// signIn signs in, and uses the session from now on.
func (p *process) signIn(t *testing.T, email, password string) {
	t.Helper()
	code, text := p.ask(t, "POST", "http://"+p.api+"/api/auth/login", fmt.Sprintf(`{"email":%q,"password":%q}`, email, password))
	var login struct{ AccessToken string }
	if err := json.Unmarshal([]byte(text), &login); err != nil || code != 200 || login.AccessToken == "" {
		t.Fatalf("login: %d %s", code, text)
	}
	p.token = login.AccessToken
}

func TestRoles_are_split_over_processes(t *testing.T) {
	t.Parallel()
	db, clicks := storetest.PostgresURL(t), clickhousetest.Database(t)
	api := start(t, map[string]string{"ROLES": "api", "DATABASE_URL": db, "CLICKHOUSE_URL": clicks})
	publish := start(t, map[string]string{"ROLES": "publish", "DATABASE_URL": db})
	api.until(t, 200, "")
	publish.until(t, 200, "")

	if code, _ := api.ask(t, "GET", "http://"+api.api+"/edge/v1/snapshot", ""); code != 404 {
		t.Errorf("a process without the role publish answers edges with %d", code)
	}
	if code, _ := publish.ask(t, "POST", "http://"+publish.api+"/api/auth/login", `{}`); code != 404 {
		t.Errorf("a process without the role api answers a login with %d", code)
	}
	api.signIn(t, "admin@example.com", "correct horse")
	if code, doc := publish.ask(t, "GET", "http://"+publish.api+"/edge/v1/snapshot", ""); code != 200 || len(doc) == 0 {
		t.Errorf("a snapshot: %d, %d bytes", code, len(doc))
	}
	if strings.Contains(api.output.String(), "correct horse") {
		t.Error("the password given is in the output")
	}
}

// Without the click store, users can manage links and edges get them. Reports work as soon as it is available.
func TestStart_without_ClickHouse(t *testing.T) {
	t.Parallel()
	server := clickhousetest.Start(t, t.TempDir())
	url, err := server.Database(t.Context())
	testkit.Must(t, err)
	server.Kill()
	p := start(t, map[string]string{"DATABASE_URL": storetest.PostgresURL(t), "CLICKHOUSE_URL": url})
	p.until(t, 200, "")
	p.signIn(t, "admin@example.com", "correct horse")
	if code, text := p.ask(t, "POST", "http://"+p.api+"/api/urls", `{"originalUrl":"https://example.com/"}`); code != 201 {
		t.Errorf("a link: %d %s", code, text)
	}
	if code, _ := p.ask(t, "GET", "http://"+p.api+"/edge/v1/snapshot", ""); code != 200 {
		t.Errorf("a snapshot: %d", code)
	}
	report := "http://" + p.api + "/api/analytics/overview"
	if code, text := p.ask(t, "GET", report, ""); code != 503 || !strings.Contains(text, "click store") {
		t.Errorf("a report: %d %s", code, text)
	}
	server.Restart(t)
	testkit.Eventually(t, "a report", func() bool { code, _ := p.ask(t, "GET", report, ""); return code == 200 })
}

func TestStart_ends_while_it_waits(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none?sslmode=disable&connect_timeout=1",
		"CLICKHOUSE_URL": "http://127.0.0.1:1/none"})
	p.until(t, 503, "waiting for the database") // the cleanup stops the process
}

// says repeats a command until it ends with the exit code want and a text in its output. Backups and restores are not repeated.
func says(t *testing.T, want int, text string, args ...string) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("%s: %d %q", strings.Join(args, " "), want, text), func() bool {
		code, out := call(t, args...)
		ok := code == want && strings.Contains(out, text)
		if !ok && (args[0] == "backup" || args[0] == "restore") {
			t.Fatalf("%s: %d\n%s", strings.Join(args, " "), code, out)
		}
		return ok
	})
}

// noon returns the middle of the UTC day that is some days after today. Clicks of six days from there have dates of seven days, at
// whatever time the test runs.
func noon(days int) time.Time {
	return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, days).Add(12 * time.Hour)
}
