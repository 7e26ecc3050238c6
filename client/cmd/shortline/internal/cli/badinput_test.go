package cli_test

import (
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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

// An address behind which there is no Shortline, or a false one, gets a clear word, and a false one gets no key.
func TestAddress_of_something_else(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Welcome to nginx</title>")
	}))
	t.Cleanup(page.Close)
	r := run(t, page.URL, 0, "", nil, "links", "list")
	if r.code != app.CodeError || strings.Contains(r.err, "nginx") || !strings.Contains(r.err, "JSON") {
		t.Errorf("HTML: exit code %d: %s", r.code, r.err)
	}
	imposter := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
	imposter.Config.ErrorLog = log.New(io.Discard, "", 0)
	imposter.StartTLS()
	t.Cleanup(imposter.Close)
	if r := run(t, imposter.URL, 0, "", nil, "links", "list"); r.code == app.CodeOK || !strings.Contains(r.err, "certificate") {
		t.Errorf("certificate: exit code %d: %s", r.code, r.err)
	}
}

func TestOutput_to_a_full_disk_is_an_error(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	_, address := serve(t)
	env := map[string]string{"SHORTLINE_URL": address, "SHORTLINE_API_KEY": secretKey, "SHORTLINE_CONFIG": t.TempDir()}
	for _, args := range [][]string{{"links", "list"}, {"links", "list", "-o", "json"}, {"links", "list", "-o", "csv"}, {"api", "GET", "/api/tags"},
		{"version"}} {
		var problem strings.Builder
		code := cli.Run(t.Context(), app.System{In: strings.NewReader(""), Out: full, Err: &problem,
			Getenv: func(name string) string { return env[name] }, Now: func() time.Time { return now }}, args)
		if code != app.CodeError || !strings.Contains(problem.String(), "no space left on device") {
			t.Errorf("%v: exit code %d: %s", args, code, problem.String())
		}
	}
}

// A file of a gigabyte is refused, and is not read into memory.
func TestFiles_that_are_too_large(t *testing.T) {
	s, address := serve(t)
	name := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 1<<30); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"apply", name}, {"import", "csv", name}, {"rules", "set", linkID, "--file", name}} {
		r := run(t, address, 0, "", nil, args...)
		if r.code != app.CodeUsage && r.code != app.CodeError || !strings.Contains(r.err, "is larger than 100 MB") {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.err)
		}
	}
	for _, one := range s.asked {
		if !strings.HasPrefix(one, "GET ") {
			t.Errorf("asked %s", one)
		}
	}
}

// A file with 10,000 mistakes is refused with the first ones, and the number of the others.
func TestApply_of_10_000_errors(t *testing.T) {
	s, address := serve(t)
	var b strings.Builder
	b.WriteString("version: 1\nowner: x\nlinks:\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "  - {slug: s%d, destination: 'https://example.com/', titel: wrong}\n", i)
	}
	name := filepath.Join(t.TempDir(), "links.yaml")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, address, 0, "", nil, "apply", name)
	if n := strings.Count(r.err, "\n"); r.code != app.CodeError || n != 21 || !strings.Contains(r.err, ":23:") || !strings.Contains(r.err, "and 9,980 more") ||
		len(s.asked) > 0 {
		t.Errorf("exit code %d, %d lines, asked %v: %.2000s", r.code, n, s.asked, r.err)
	}
}

// Other users see the arguments of a process, and a shell keeps them. So no flag takes a secret: it comes from a file, the environment or
// the standard input.
func TestFlags_take_no_secrets(t *testing.T) {
	flags := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags++
			for _, word := range []string{"key", "token", "secret", "password", "passphrase", "credential"} {
				if strings.Contains(f.Name, word) && f.Value.Type() != "bool" && !strings.HasSuffix(f.Name, "-file") {
					t.Errorf("%s --%s takes a secret", cmd.CommandPath(), f.Name)
				}
			}
		})
		for _, one := range cmd.Commands() {
			walk(one)
		}
	}
	walk(cli.Root(&app.App{System: app.System{Getenv: func(string) string { return "" }, Now: time.Now}}))
	if flags < 50 {
		t.Errorf("found only %d flags", flags)
	}
}
