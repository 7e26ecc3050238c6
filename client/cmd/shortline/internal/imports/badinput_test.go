package imports_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

// A service whose certificate nobody trusts gets no token, and the words name the cause.
func TestImport_from_a_service_with_a_wrong_certificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	w := newWorld(t)
	if r := w.run("shlink", "--from", s.URL); r.code == app.CodeOK || !strings.Contains(r.err, "certificate") || len(w.to.links) > 0 {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

// Each of 10,000 errors is in the report, and a terminal gets only the first ones.
func TestImport_with_10_000_errors(t *testing.T) {
	w := newWorld(t)
	var links []string
	for i := range 10_000 {
		slug := fmt.Sprint("wrong", i)
		w.to.foreign[slug] = true
		links = append(links, fmt.Sprintf(`{"id":"bit.ly/%[1]s","long_url":"https://example.com/%[1]s","custom_bitlinks":[]}`, slug))
	}
	s := serveJSON(t, func(*http.Request) bool { return true }, func(r *http.Request) string {
		if r.URL.Path == "/v4/groups" {
			return `{"groups":[{"guid":"g"}]}`
		}
		return `{"links":[` + strings.Join(links, ",") + `],"pagination":{"next":""}}`
	})
	name := filepath.Join(t.TempDir(), "rows.csv")
	args := []string{"bitly", "--from", s.URL, "--conflicts", "overwrite", "--report", name}
	w.run(args...).want(t, app.CodeError, "failed 10000")
	text, err := os.ReadFile(name)
	if n := strings.Count(string(text), ",failed,"); err != nil || n != 10_000 {
		t.Errorf("%d failed rows in the report, %v: %.500s", n, err, text)
	}
	var out, problem bytes.Buffer
	env := map[string]string{"SHORTLINE_URL": w.to.URL, "SHORTLINE_API_KEY": "sl_key", "SHORTLINE_CONFIG": w.state,
		"SHORTLINE_STATE": w.state}
	code := cli.Run(t.Context(), app.System{In: strings.NewReader(token + "\n"), Out: &out, Err: &problem, OutTTY: true, Width: 80,
		Getenv: func(name string) string { return env[name] }, Now: time.Now}, append([]string{"import"}, args...))
	shown := out.String() + problem.String()
	if n := strings.Count(shown, "\n"); code != app.CodeError || n > 100 || !strings.Contains(shown, "more; --report FILE.csv writes all rows") {
		t.Errorf("exit code %d, %d lines: %.3000s", code, n, shown)
	}
}

// On a full disk an import ends with that reason. The next run makes what is missing.
func TestImport_on_a_full_disk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("this system has no " + full)
	}
	w := newWorld(t)
	s := newShlinkServer(t, shlinkLink("one", ""), shlinkLink("two", ""))
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_ = w.runIn(ctx, "shlink", "--from", s.URL) // makes the files of the state
	r := w.run("shlink", "--from", s.URL, "--report", full, "--dry-run")
	if r.code != app.CodeError || !strings.Contains(r.err, "write the report") || !strings.Contains(r.err, "no space left on device") {
		t.Errorf("the report: exit code %d: %s", r.code, r.err)
	}
	// The state is written to a new file, which is full at its first byte.
	locks, err := filepath.Glob(filepath.Join(w.state, "import-*.lock"))
	if err != nil || len(locks) == 0 {
		t.Fatalf("%v %v", locks, err)
	}
	for _, lock := range locks {
		fresh := strings.TrimSuffix(lock, ".lock") + ".new"
		_ = os.Remove(fresh)
		if err := os.Symlink(full, fresh); err != nil {
			t.Fatal(err)
		}
	}
	r = w.run("shlink", "--from", s.URL)
	if r.code != app.CodeError || !strings.Contains(r.err, "no space left on device") || len(w.to.links) != 0 {
		t.Errorf("the state: exit code %d, %d links: %s", r.code, len(w.to.links), r.err)
	}
	for _, lock := range locks {
		if err := os.Remove(strings.TrimSuffix(lock, ".lock") + ".new"); err != nil {
			t.Fatal(err)
		}
	}
	w.run("shlink", "--from", s.URL).want(t, 0, "created 2")
}

// Ctrl-C does not wait for a service that accepts a request and then says nothing.
func TestImport_is_interrupted_while_the_service_stalls(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	w := newWorld(t)
	r := w.runIn(ctx, "shlink", "--from", s.URL)
	if r.code != app.CodeInterrupted || !strings.Contains(r.err, "interrupted") || len(w.to.links) > 0 {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

// Files that are no dump, or in another encoding, are refused. Nothing of them is imported, however large they are.
func TestImport_of_dumps_in_a_wrong_form(t *testing.T) {
	const dump = "CREATE TABLE `yourls_url` (`keyword` varchar(100), `url` text, `title` text);\n" +
		"INSERT INTO `yourls_url` VALUES ('one','https://example.com/','caf\u00e9');\n"
	utf16 := []byte{0xFF, 0xFE}
	for _, c := range dump {
		utf16 = append(utf16, byte(c), byte(c>>8))
	}
	for says, text := range map[string]string{
		"has no table with links":              "",
		"it of the right database":             "CREATE TABLE users (id int); INSERT INTO users VALUES (1);",
		"convert a file in UTF-16":             string(utf16),
		"has NUL bytes":                        dump + strings.Repeat("\x00", 100),
		"title of the table yourls_url is not": strings.ReplaceAll(dump, "\u00e9", "\xe9"),
		"is the file complete?":                dump[:len(dump)-9],
		"too large":                            dump + "INSERT INTO `yourls_url` VALUES ('" + strings.Repeat("a", 17<<20),
	} {
		name := filepath.Join(t.TempDir(), "yourls.sql")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		r := w.run("yourls", "--file", name, "--from", "y.example")
		if r.code != app.CodeError || !strings.Contains(r.out+r.err, says) || len(w.to.links) > 0 {
			t.Errorf("%s: exit code %d, %d links: %.500s%.500s", says, r.code, len(w.to.links), r.out, r.err)
		}
	}
	name := filepath.Join(t.TempDir(), "large.sql")
	if err := errors.Join(os.WriteFile(name, []byte(dump), 0o600), os.Truncate(name, 1<<30)); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if r := w.run("yourls", "--file", name, "--from", "y.example"); r.code != app.CodeError || len(w.to.links) > 0 {
		t.Errorf("a gigabyte: exit code %d: %.500s", r.code, r.err)
	}
}
