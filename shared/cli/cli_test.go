package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
)

type settings struct {
	Addr string `env:"TEST_PROGRAM_OPS" help:"where to ask"`
	Bad  bool   `env:"TEST_PROGRAM_BAD" help:"makes the settings wrong"`
}

func (s *settings) Operator() string { return s.Addr }

func (s *settings) Warnings() []string { return []string{"TEST_PROGRAM_OPS is not recommended"} }

func (s *settings) Validate() error {
	if s.Bad {
		return errors.Join(errors.New("TEST_PROGRAM_BAD: is set"), errors.New("TEST_PROGRAM_OPS: is wrong too"))
	}
	return nil
}

func TestProgram(t *testing.T) {
	t.Parallel()
	var ready atomic.Bool
	ops := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ready.Load() {
			w.WriteHeader(503)
			io.WriteString(w, "links are away")
		}
	}))
	defer ops.Close()
	addr := strings.TrimPrefix(ops.URL, "http://")
	var failure error
	call := func(env map[string]string, args ...string) (int, string) {
		var out bytes.Buffer
		p := cli.Program{
			Name: "tried", About: "tried is a test.",
			New:  func() cli.Settings { return new(settings) },
			Load: func(s cli.Settings) error { return config.LoadFrom(s, env) },
			Run: func(_ context.Context, s cli.Settings, stdout, _ io.Writer) error {
				io.WriteString(stdout, "ran with "+s.Operator())
				return failure
			},
		}
		code := p.Command(args, &out, &out)
		return code, out.String()
	}
	good := map[string]string{"TEST_PROGRAM_OPS": addr}
	bad := map[string]string{"TEST_PROGRAM_BAD": "true"}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		code int
		says []string
	}{
		// A10
		{"runs", good, nil, 0, []string{"ran with " + addr, `msg="program starting" program=tried version="shortline dev`,
			`msg="program stopped"`}},
		{"version", bad, []string{"-version"}, 0, []string{"shortline dev"}},
		{"help", bad, []string{"-help"}, 0, []string{"tried is a test.", "TEST_PROGRAM_OPS", "-check"}},
		{"table", bad, []string{"-settings"}, 0, []string{"| `TEST_PROGRAM_OPS` |"}},
		{"good settings", good, []string{"-check"}, 0, []string{"valid", "warning: TEST_PROGRAM_OPS is not"}},
		{"bad settings", bad, []string{"-check"}, 1, []string{"TEST_PROGRAM_BAD: is set", "TEST_PROGRAM_OPS: is wrong too"}},
		{"bad settings never run", bad, nil, 1, []string{"not usable"}},
		{"unknown flag", good, []string{"-nonsense"}, 2, nil},
		{"unknown argument", good, []string{"serve"}, 2, []string{`"serve"`}},
		{"not ready", good, []string{"-healthy"}, 1, []string{"links are away"}},
		{"nobody to ask", map[string]string{}, []string{"-healthy"}, 1, []string{"OPS_ADDR"}},
	} {
		code, out := call(c.env, c.args...)
		if code != c.code {
			t.Errorf("%s: status %d: %s", c.name, code, out)
		}
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in %s", c.name, want, out)
			}
		}
	}
	ready.Store(true)
	if code, out := call(good, "-healthy"); code != 0 {
		t.Errorf("ready: %d %s", code, out)
	}
	failure = errors.New("the disk is gone")
	if code, out := call(good); code != 1 || !strings.Contains(out, "the disk is gone") {
		t.Errorf("a failing run: %d %s", code, out)
	}
}

// A program that is told to stop while it starts has not failed, unless something else is wrong.
func TestProgram_stopped_during_start(t *testing.T) {
	var out bytes.Buffer
	p := cli.Program{
		Name: "tried", New: func() cli.Settings { return new(settings) },
		Load: func(s cli.Settings) error { return config.LoadFrom(s, map[string]string{}) },
		Run: func(ctx context.Context, _ cli.Settings, _, _ io.Writer) error {
			if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
				return err
			}
			<-ctx.Done()
			return fmt.Errorf("open links: %w", ctx.Err())
		},
	}
	if code := p.Command(nil, &out, &out); code != 0 {
		t.Errorf("status %d: %s", code, &out)
	}
	stopped, gone := fmt.Errorf("open links: %w", context.Canceled), errors.New("the disk is gone")
	for err, want := range map[error]bool{
		stopped: true, errors.Join(stopped, stopped): true, errors.Join(stopped, gone): false, gone: false,
	} {
		if cli.Canceled(err) != want {
			t.Errorf("canceled(%q) is %v", err, !want)
		}
	}
}
