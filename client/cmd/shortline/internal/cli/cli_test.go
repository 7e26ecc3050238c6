package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files")

// secretKey is the key of all runs. It must be in no output.
const secretKey = "sl_TopSecret8901234567890123456789012345678901234567890123456789"

// now is the time of all runs.
var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	flag.Parse()
	os.Exit(m.Run())
}

// recorded answers requests with the bodies of testdata/server.json.
type recorded struct {
	answers map[string]json.RawMessage
	mu      sync.Mutex
	asked   []string
}

func (s *recorded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.asked = append(s.asked, name)
	s.mu.Unlock()
	w.Header().Set("Date", now.Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	body, known := s.answers[name]
	var head struct {
		Status     int    `json:"$status"`
		RetryAfter string `json:"$retryAfter"`
	}
	if !known {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"statusCode":404,"message":"no answer is recorded for %s","error":"Not Found"}`, name)
		return
	}
	_ = json.Unmarshal(body, &head) // lists have no status
	if head.RetryAfter != "" {
		w.Header().Set("Retry-After", head.RetryAfter)
	}
	if head.Status != 0 {
		w.WriteHeader(head.Status)
	}
	if head.Status != http.StatusNoContent {
		_, _ = w.Write(body)
	}
}

func serve(t *testing.T) (*recorded, string) {
	t.Helper()
	text, err := os.ReadFile("testdata/server.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &recorded{}
	if err := json.Unmarshal(text, &s.answers); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// result is what a run has written, and its exit code.
type result struct {
	out, err string
	code     int
}

// run runs the program. A width of 0 is a pipe, and else a terminal.
func run(t *testing.T, address string, width int, in string, env map[string]string, args ...string) result {
	t.Helper()
	return runIn(t.Context(), t.TempDir(), address, width, in, env, args...)
}

func runIn(ctx context.Context, dir, address string, width int, in string, env map[string]string, args ...string) result {
	var out, problem bytes.Buffer
	all := map[string]string{
		"SHORTLINE_URL": address, "SHORTLINE_API_KEY": secretKey, "SHORTLINE_CONFIG": dir, "SHORTLINE_KEYRING": "file", "LANG": "en_US.UTF-8",
		"NO_COLOR": "1",
	}
	for name, value := range env {
		all[name] = value
	}
	once := client.NoRetry
	code := cli.Run(ctx, app.System{
		In: strings.NewReader(in), Out: &out, Err: &problem, Getenv: func(name string) string { return all[name] }, OutTTY: width > 0,
		Width: width, Now: func() time.Time { return now }, Retry: &once,
		Resolve: func(_ context.Context, host string) ([]string, error) {
			if host == "go.example" {
				return nil, &net.DNSError{Err: "no such host", Name: host}
			}
			return []string{"192.0.2.1"}, nil
		},
	}, args)
	return result{out.String(), problem.String(), code}
}

const linkID = "01970000-0000-7000-8000-000000000011"

func idOf(status string) string { return "01970000-0000-7000-8000-000000000" + status }

// golden are runs whose output is kept, at 80 and 200 columns.
var golden = []struct {
	name string
	args []string
}{
	{"help", nil},
	{"links-help", []string{"links", "--help"}},
	{"links-list", []string{"links", "list", "--limit", "3"}},
	{"links-list-csv", []string{"links", "list", "--limit", "3", "-o", "csv"}},
	{"links-list-jq", []string{"links", "list", "--limit", "3", "--jq", ".[] | {slug, clickCount}"}},
	{"links-get", []string{"links", "get", "sho.rt/fair"}},
	{"links-get-yaml", []string{"links", "get", linkID, "-o", "yaml"}},
	{"links-get-json", []string{"links", "get", linkID, "-o", "json"}},
	{"links-stats", []string{"links", "stats"}},
	{"rules-get", []string{"rules", "get", linkID}},
	{"explain", []string{"explain", linkID, "--country", "DE", "--device", "mobile"}},
	{"report", []string{"report", linkID, "--period", "7d"}},
	{"report-csv", []string{"report", linkID, "--period", "7d", "-o", "csv"}},
	{"report-by", []string{"report", linkID, "--by", "country"}},
	{"domains-list", []string{"domains", "list"}},
	{"domains-get", []string{"domains", "get", "bücher.example"}},
	{"tags-list", []string{"tags", "list"}},
	{"webhooks-list", []string{"webhooks", "list"}},
	{"webhooks-get", []string{"webhooks", "get", "crm"}},
	{"experiments-list", []string{"experiments", "list"}},
	{"experiments-show", []string{"experiments", "show", linkID}},
	{"whoami", []string{"whoami"}},
	{"doctor", []string{"doctor"}},
	{"api", []string{"api", "GET", "/api/tags"}},
	{"api-secret", []string{"api", "POST", "/api/api-keys", "-f", "name=x"}},
	{"version", []string{"version"}},
	{"open", []string{"open", "webhooks", "--print"}},
	{"error-validation", []string{"links", "create", "ftp://example.com"}},
	{"error-validation-json", []string{"links", "create", "ftp://example.com", "-o", "json"}},
	{"error-missing", []string{"links", "get", idOf("404")}},
	{"error-missing-slug", []string{"links", "get", "sho.rt/nope"}},
	{"error-not-signed-in", []string{"links", "get", idOf("401")}},
	{"error-forbidden", []string{"links", "get", idOf("403")}},
	{"error-stale", []string{"links", "get", idOf("412")}},
	{"error-rate-limit", []string{"links", "get", idOf("429")}},
	{"error-internal", []string{"links", "get", idOf("500")}},
	{"error-unavailable", []string{"links", "get", idOf("503")}},
	{"error-no-question", []string{"links", "delete", linkID}},
	{"error-unknown-command", []string{"lnks"}},
	{"error-unknown-command-below", []string{"links", "lst"}},
	{"error-unknown-flag", []string{"links", "list", "--limt", "3"}},
	{"error-missing-argument", []string{"links", "get"}},
	{"error-filter", []string{"links", "list", "--jq", ".["}},
	{"error-format", []string{"links", "list", "-o", "xml"}},
	{"error-tag", []string{"tags", "delete", "evnts"}},
	{"error-absolute-path", []string{"api", "GET", "https://elsewhere.example/api/urls"}},
}

func TestOutput_is_as_recorded(t *testing.T) {
	_, address := serve(t)
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			var text strings.Builder
			for _, width := range []int{80, 200} {
				r := run(t, address, width, "", nil, g.args...)
				fmt.Fprintf(&text, "== %d columns, exit code %d\n%s", width, r.code, r.out)
				if r.err != "" {
					fmt.Fprintf(&text, "-- standard error\n%s", r.err)
				}
				for line := range strings.Lines(r.out) {
					if len([]rune(strings.TrimSuffix(line, "\n"))) > width && !strings.Contains(g.name, "json") && !strings.HasSuffix(g.name, "csv") &&
						!strings.HasSuffix(g.name, "yaml") && !strings.Contains(g.name, "help") && g.name != "help" && !strings.HasPrefix(g.name, "api") {
						t.Errorf("a line of %d columns: %s", width, line)
					}
				}
				if strings.Contains(r.out+r.err, secretKey) {
					t.Error("the output has the API key")
				}
				if strings.Contains(r.out, "\x1b") || strings.Contains(r.out, "\u202e") && !strings.HasSuffix(g.name, "csv") {
					t.Error("the output has characters that change a terminal")
				}
			}
			same(t, g.name+".txt", strings.ReplaceAll(text.String(), address, "http://sho.rt.test"))
		})
	}
}

var port = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// same compares a text with a golden file.
func same(t *testing.T, name, text string) {
	t.Helper()
	text = port.ReplaceAllString(text, "sho.rt.test")
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s differs; if that is right, run the tests with -update. Now it is:\n%s", path, text)
	}
}

// Every code of the table has a way that leads to it.
func TestExit_codes(t *testing.T) {
	_, address := serve(t)
	away := httptest.NewServer(nil)
	away.Close()
	for code, args := range map[int][]string{
		app.CodeOK: {"version"}, app.CodeError: {"links", "get", idOf("500")}, app.CodeUsage: {"links", "get"},
		app.CodeDenied: {"links", "get", idOf("403")}, app.CodeMissing: {"links", "get", idOf("404")},
		app.CodeConflict: {"links", "get", idOf("412")}, app.CodeUnavailable: {"links", "list", "--url", away.URL},
	} {
		if r := run(t, address, 0, "", nil, args...); r.code != code {
			t.Errorf("%v: exit code %d instead of %d: %s", args, r.code, code, r.err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if r := runIn(ctx, t.TempDir(), address, 0, "", nil, "links", "list"); r.code != app.CodeInterrupted || !strings.Contains(r.err, "interrupted") {
		t.Errorf("interrupted: exit code %d: %s", r.code, r.err)
	}
	for _, row := range app.ExitCodes {
		if row.Meaning == "" {
			t.Errorf("the exit code %d has no meaning", row.Code)
		}
	}
}

func TestProfile_key_goes_only_to_its_own_address(t *testing.T) {
	s, address := serve(t)
	dir := t.TempDir()
	env := map[string]string{"SHORTLINE_API_KEY": "", "SHORTLINE_URL": ""}
	if r := runIn(t.Context(), dir, "", 0, secretKey+"\n", env, "login", "--url", address, "--with-token"); r.code != 0 {
		t.Fatal(r.err)
	}
	if r := runIn(t.Context(), dir, "", 0, "", env, "whoami", "--jq", ".email"); r.out != "ann@example.com\n" {
		t.Fatalf("%s%s", r.out, r.err)
	}
	for _, name := range []string{"config.yaml", "keys.json"} {
		at, err := os.Stat(filepath.Join(dir, name))
		if err != nil || at.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, at.Mode(), err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil || strings.Contains(string(text), secretKey) {
		t.Errorf("the key is in config.yaml: %v", err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q", r.Method, r.URL, r.Header)
	}))
	defer other.Close()
	if r := runIn(t.Context(), dir, "", 0, "", env, "links", "list", "--url", other.URL); r.code != app.CodeDenied {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	// Other users must not be able to read the keys.
	if err := os.Chmod(filepath.Join(dir, "keys.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := runIn(t.Context(), dir, "", 0, "", env, "links", "list"); r.code != app.CodeError || !strings.Contains(r.err, "chmod 600") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if len(s.asked) == 0 {
		t.Error("nothing was asked")
	}
}

func TestLogin_to_another_address_keeps_the_first_profile(t *testing.T) {
	_, first := serve(t)
	_, second := serve(t)
	dir := t.TempDir()
	env := map[string]string{"SHORTLINE_API_KEY": "", "SHORTLINE_URL": ""}
	for _, address := range []string{first, second} {
		if r := runIn(t.Context(), dir, "", 0, secretKey, env, "login", "--url", address, "--with-token"); r.code != 0 {
			t.Fatal(r.err)
		}
	}
	want := "default " + first + " false\n" + strings.ReplaceAll(strings.TrimPrefix(second, "http://"), ":", "-") + " " + second + " true\n"
	r := runIn(t.Context(), dir, "", 0, "", env, "profiles", "list", "--jq", `.[] | "\(.name) \(.url) \(.current)"`)
	lines := strings.SplitAfter(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) != 2 || !strings.Contains(r.out, strings.TrimSuffix(strings.SplitAfter(want, "\n")[0], "\n")) ||
		!strings.Contains(r.out+"\n", strings.SplitAfter(want, "\n")[1]) {
		t.Errorf("%q instead of %q", r.out, want)
	}
}

func TestDelete_asks_and_deletes(t *testing.T) {
	s, address := serve(t)
	if r := run(t, address, 0, "", nil, "links", "delete", linkID, "--yes"); r.code != 0 || r.out != "" || !strings.Contains(r.err, "deleted sho.rt/fair") {
		t.Errorf("%+v", r)
	}
	if got := s.asked[len(s.asked)-1]; got != "DELETE /api/urls/"+linkID {
		t.Errorf("the last request is %s", got)
	}
}

func TestWebhook_secret_goes_to_a_file_and_nowhere_else(t *testing.T) {
	_, address := serve(t)
	name := filepath.Join(t.TempDir(), "hook.secret")
	r := run(t, address, 0, "", nil, "webhooks", "create", "https://x.example/", "--event", "url.created", "--secret-file", name, "-o", "json")
	if r.code != 0 || strings.Contains(r.out+r.err, "c2Vjc") {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(name)
	at, statErr := os.Stat(name)
	if err != nil || statErr != nil || string(text) != "whsec_c2VjcmV0c2VjcmV0c2VjcmV0\n" || at.Mode().Perm() != 0o600 {
		t.Errorf("%q %v %v", text, err, statErr)
	}
	again := run(t, address, 0, "", nil, "webhooks", "create", "https://x.example/", "--event", "url.created", "--secret-file", name)
	if again.code != app.CodeUsage {
		t.Errorf("%+v", again)
	}
}

func TestVerbose_shows_requests_without_secrets(t *testing.T) {
	_, address := serve(t)
	r := run(t, address, 0, "", nil, "tags", "list", "-v")
	if !strings.Contains(r.err, "GET /api/tags") || strings.Contains(r.err, secretKey) {
		t.Errorf("%+v", r)
	}
}

func TestColours_only_on_a_terminal(t *testing.T) {
	_, address := serve(t)
	for _, one := range []struct {
		width  int
		env    map[string]string
		args   []string
		colour bool
	}{
		{0, map[string]string{"NO_COLOR": ""}, nil, false},
		{80, map[string]string{"NO_COLOR": ""}, nil, true},
		{80, map[string]string{"NO_COLOR": "1"}, nil, false},
		{80, map[string]string{"NO_COLOR": "", "TERM": "dumb"}, nil, false},
		{0, map[string]string{"NO_COLOR": "1"}, []string{"--color", "always"}, true},
		{80, map[string]string{"NO_COLOR": ""}, []string{"--color", "never"}, false},
	} {
		r := run(t, address, one.width, "", one.env, append([]string{"links", "list"}, one.args...)...)
		if strings.Contains(r.out, "\x1b[32m") != one.colour {
			t.Errorf("%+v: %q", one, r.out)
		}
	}
}

func TestPipe_that_ends_early_is_an_error_and_no_panic(t *testing.T) {
	_, address := serve(t)
	reader, writer := io.Pipe()
	_ = reader.Close()
	env := map[string]string{"SHORTLINE_URL": address, "SHORTLINE_API_KEY": secretKey, "SHORTLINE_CONFIG": t.TempDir()}
	code := cli.Run(t.Context(), app.System{
		In: strings.NewReader(""), Out: writer, Err: io.Discard, Getenv: func(name string) string { return env[name] },
		Now: func() time.Time { return now },
	}, []string{"links", "list", "-o", "json"})
	if code != app.CodeError {
		t.Errorf("exit code %d", code)
	}
}

func TestMan_and_completion(t *testing.T) {
	_, address := serve(t)
	dir := filepath.Join(t.TempDir(), "man1")
	if r := run(t, address, 0, "", nil, "man", "--dir", dir); r.code != 0 {
		t.Fatal(r.err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "shortline-links-create.1"))
	if err != nil || !strings.Contains(string(page), ".TH \"SHORTLINE\"") && !strings.Contains(string(page), "shortline-links-create") {
		t.Errorf("%v: %.300s", err, page)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := run(t, address, 0, "", nil, "completion", shell); r.code != 0 || !strings.Contains(r.out, "shortline") {
			t.Errorf("%s: %+v", shell, r)
		}
	}
	if r := run(t, address, 0, "", nil, "completion", "fishh"); r.code != app.CodeUsage || !strings.Contains(r.err, "did you mean fish?") {
		t.Errorf("%+v", r)
	}
	r := run(t, address, 0, "", nil, "__complete", "links", "list", "--status", "S")
	if r.code != 0 || !strings.Contains(r.out, "SUSPENDED") {
		t.Errorf("%+v", r)
	}
}
