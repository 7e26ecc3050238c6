package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

type Common struct {
	Listen string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080" help:"address to serve on"`
}

type settings struct {
	Common
	Workers int           `env:"WORKERS" envDefault:"4" help:"how many"`
	Every   time.Duration `env:"EVERY" envDefault:"1s" help:"how often"`
	Key     config.Secret `env:"KEY" help:"a secret"`
	Part    struct {
		Token config.Secret `env:"TOKEN" help:"another"`
	}
}

func (s *settings) Validate() error {
	var errs []error
	if s.Workers < 1 {
		errs = append(errs, errors.New("WORKERS: must be at least 1"))
	}
	if len(s.Key) < 3 {
		errs = append(errs, errors.New("KEY: must have at least 3 bytes"))
	}
	return errors.Join(errs...)
}

func TestLoad_reports_every_problem_at_once(t *testing.T) {
	t.Parallel()
	var s settings
	err := config.LoadFrom(&s, map[string]string{"WORKERS": "many", "EVERY": "often", "KEY": "abc"})
	for _, want := range []string{"WORKERS: not a valid whole number", "EVERY: not a valid duration"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	var second settings
	err = config.LoadFrom(&second, map[string]string{"WORKERS": "0"})
	for _, want := range []string{"WORKERS: must be", "KEY: must have"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}

// A11: problems of form do not hide others, and each setting is named once.
func TestA11_Load_reports_problems_of_form_and_others(t *testing.T) {
	t.Parallel()
	var s settings
	err := config.LoadFrom(&s, map[string]string{"WORKERS": "many", "KEY": "ab", "TOKEN_FILE": filepath.Join(t.TempDir(), "missing")})
	for _, want := range []string{"WORKERS:", "KEY:", "TOKEN_FILE:"} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q is not named once in %v", want, err)
		}
	}
	if s.Workers != 4 {
		t.Errorf("a value of the wrong form became %d", s.Workers)
	}
}

// A11: names that differ by a letter or two from a setting are found. Settings of other programs and other variables are not.
func TestA11_Misspelt(t *testing.T) {
	for _, name := range []string{"LISTEN_ADR", "LISTN_ADDR", "LISTEN_ADDRS", "EVERY_FILE", "EDGE_TOKEN", "PATH", "KEYS", "WORKER",
		"LISTEN_PORTS"} {
		t.Setenv(name, "x")
	}
	got := strings.Join(config.Misspelt(&settings{}), "\n")
	want := "LISTEN_ADDRS: is not a setting; LISTEN_ADDR is\nLISTEN_ADR: is not a setting; LISTEN_ADDR is\nLISTN_ADDR: is not a setting; " +
		"LISTEN_ADDR is\nWORKER: is not a setting; WORKERS is"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLoad_secret_from_a_file(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	testkit.Must(t, os.WriteFile(path, []byte("from-file\n"), 0o600))
	var s settings
	testkit.Must(t, config.LoadFrom(&s, map[string]string{"KEY_FILE": path, "TOKEN_FILE": path}))
	if s.Key.Reveal() != "from-file" || s.Part.Token != s.Key || s.Listen != "127.0.0.1:8080" {
		t.Fatalf("got %q and %q", s.Key.Reveal(), s.Listen)
	}
	var both settings
	if err := config.LoadFrom(&both, map[string]string{"KEY_FILE": path, "KEY": "x"}); err == nil {
		t.Fatal("two values for one setting were taken")
	}
}

func TestSecret_never_prints(t *testing.T) {
	t.Parallel()
	s := settings{Key: "canary"}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s", s, s, s, s.Key)
	b, err := json.Marshal(s)
	testkit.Must(t, err)
	out.Write(b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("settings", "all", s, "key", s.Key)
	if strings.Contains(out.String(), "canary") {
		t.Fatalf("the secret shows in %s", out.String())
	}
}

func TestUsage_names_every_setting(t *testing.T) {
	t.Parallel()
	var text, md bytes.Buffer
	config.Usage(&text, &settings{})
	config.Markdown(&md, &settings{})
	for _, want := range []string{"LISTEN_ADDR", "WORKERS", "EVERY", "KEY", "TOKEN"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(md.String(), "`"+want+"`") {
			t.Errorf("%s is missing", want)
		}
	}
}
