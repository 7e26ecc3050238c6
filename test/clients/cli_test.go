package clients_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// phone is the User-Agent of a visitor.
const phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 " +
	"Safari/604.1"

// The command line program goes through whole sessions against a running standalone.
func TestCLI_sessions(t *testing.T) {
	t.Parallel()
	program, err := testkit.Release("shortline")
	testkit.Must(t, err)
	in := standalone(t, "ALLOW_PRIVATE_DESTINATIONS=true")
	s := newSession(t, in)
	scripts := &scripts{t: t, in: in, session: s}
	testscript.Run(t, testscript.Params{
		Dir: testkit.Source(t, "test/clients/testdata/cli"), RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			key, err := s.Keys.Create(t.Context(), client.CreateAPIKey{Name: filepath.Base(env.WorkDir)})
			if err != nil {
				return err
			}
			env.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
			env.Setenv("BASE", in.base)
			env.Setenv("HOST", "sho.example")
			env.Setenv("SHORTLINE_CONFIG", filepath.Join(env.WorkDir, "config"))
			env.Setenv("SHORTLINE_KEYRING", "file")
			env.Setenv("COLUMNS", "160")
			env.Setenv("TZ", "UTC")
			return os.WriteFile(filepath.Join(env.WorkDir, "key"), []byte(key.Key+"\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scripts.exits, "visit": scripts.visit, "counted": scripts.counted,
		},
	})
}

// scripts has the commands of the scripts.
type scripts struct {
	t       *testing.T
	in      *installation
	session *session
}

// exits runs the program, which must end with the exit code of the first argument.
func (c *scripts) exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("shortline", args[1:]...)
	code := 0
	if failed, is := err.(*exec.ExitError); is {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("shortline %s: exit code %d instead of %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// visit follows a link as a person does.
func (c *scripts) visit(ts *testscript.TestScript, _ bool, args []string) {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.in.base+"/"+args[0], nil)
	ts.Check(err)
	req.Header.Set("User-Agent", phone)
	res, err := http.DefaultTransport.RoundTrip(req)
	ts.Check(err)
	_ = res.Body.Close() // it is empty
	if res.StatusCode != http.StatusFound {
		ts.Fatalf("%s: %s", args[0], res.Status)
	}
}

// counted waits until a link has as many clicks as the second argument says, in reports and in its own counter.
func (c *scripts) counted(ts *testscript.TestScript, _ bool, args []string) {
	testkit.Eventually(c.t, "the clicks of "+args[0]+" are counted", func() bool {
		list, err := c.session.Links.List(c.t.Context(), client.ListLinksParams{Search: args[0]})
		ts.Check(err)
		return len(list.Data) == 1 && strconv.Itoa(list.Data[0].ClickCount) == args[1]
	})
}

// The pages for users have the commands, flags and exit codes of the program.
func TestCLI_is_documented(t *testing.T) {
	t.Parallel()
	program, err := testkit.Release("shortline")
	testkit.Must(t, err)
	for name, args := range map[string][]string{
		"command-line-reference.md": {"reference"}, "command-line.md": {"reference", "--exit-codes"},
	} {
		text, err := exec.CommandContext(t.Context(), program, args...).Output()
		testkit.Must(t, err)
		page, err := os.ReadFile(testkit.Source(t, "docs/users/"+name))
		testkit.Must(t, err)
		if !strings.Contains(string(page), string(text)) || len(text) == 0 {
			t.Errorf("docs/users/%s is not up to date with: shortline %s", name, strings.Join(args, " "))
		}
	}
}

// mostBytes is the largest permitted size of the program.
const mostBytes = 20 << 20

// The program is small. BenchmarkCLI_start measures how fast it starts.
func TestCLI_size(t *testing.T) {
	t.Parallel()
	program, err := testkit.Release("shortline")
	testkit.Must(t, err)
	at, err := os.Stat(program)
	testkit.Must(t, err)
	if at.Size() > mostBytes {
		t.Errorf("the program has %d bytes, more than %d", at.Size(), mostBytes)
	}
	if out, err := exec.CommandContext(t.Context(), program, "version").Output(); err != nil || !strings.HasPrefix(string(out), "shortline test ") {
		t.Errorf("%q %v", out, err)
	}
}

// BenchmarkCLI_start measures the time from the start to the end of a command that asks no server.
func BenchmarkCLI_start(b *testing.B) {
	program, err := testkit.Release("shortline")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := exec.CommandContext(b.Context(), program, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
