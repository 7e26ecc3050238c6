package ops_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url)
	testkit.Must(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	testkit.Must(t, err)
	return res.StatusCode, string(b)
}

func TestServer_health_readiness_and_metrics(t *testing.T) {
	t.Parallel()
	s, err := ops.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	base := "http://" + s.Addr()

	if code, body := get(t, base+"/readyz"); code != 503 || !strings.Contains(body, `"start":"starting"`) {
		t.Errorf("before the first check was added: %d %s", code, body)
	}
	var broken atomic.Bool
	s.AddCheck("database", func(context.Context) error {
		if broken.Load() {
			return errors.New("is away")
		}
		return nil
	})
	if code, _ := get(t, base+"/readyz"); code != 200 {
		t.Errorf("ready: %d", code)
	}
	broken.Store(true)
	if code, body := get(t, base+"/readyz"); code != 503 || !strings.Contains(body, `"database":"is away"`) {
		t.Errorf("a failing check: %d %s", code, body)
	}
	if code, _ := get(t, base+"/healthz"); code != 200 {
		t.Errorf("a process that is not ready still lives: %d", code)
	}
	if _, body := get(t, base+"/metrics"); !strings.Contains(body, `shortline_build_info{commit="",goversion="`+runtime.Version()+`",version="dev"} 1`) {
		t.Error("no build info")
	}
	cancel()
	testkit.Must(t, <-done)
}

// One line tells what runs. What the build was not told is left out.
func TestBuild(t *testing.T) {
	version, commit, date := ops.Version, ops.Commit, ops.Date
	defer func() { ops.Version, ops.Commit, ops.Date = version, commit, date }()
	ops.Version, ops.Commit, ops.Date = "dev", "", ""
	if got, want := ops.Build(), "shortline dev ("+runtime.Version()+")"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	ops.Version, ops.Commit, ops.Date = "v1.2.3", "0123456789abcdef0123456789abcdef01234567", "2026-11-29T18:00:00Z"
	if got, want := ops.Build(), "shortline v1.2.3 0123456789ab of 2026-11-29T18:00:00Z ("+runtime.Version()+")"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := ops.Running(); got != (ops.About{Version: ops.Version, Commit: ops.Commit, Date: ops.Date, Go: runtime.Version()}) {
		t.Errorf("%+v", got)
	}
}

func TestNewLogger_refuses_what_it_does_not_know(t *testing.T) {
	t.Parallel()
	if _, err := ops.NewLogger(io.Discard, "xml", "info"); err == nil {
		t.Error("format xml was taken")
	}
	if _, err := ops.NewLogger(io.Discard, "json", "loud"); err == nil {
		t.Error("level loud was taken")
	}
}

// Requests from DNS rebinding are refused, and profiles are served only if they are enabled.
func TestLow_OperatorsPortNamesAndProfiles(t *testing.T) {
	t.Parallel()
	for _, profiles := range []bool{false, true} {
		s, err := ops.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
		testkit.Must(t, err)
		s.Hosts, s.Profiles = []string{"edge-1"}, profiles
		s.AddCheck("nothing", func(context.Context) error { return nil })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		_, port, _ := strings.Cut(s.Addr(), ":")
		for host, want := range map[string]int{
			"127.0.0.1:" + port: 200, "127.0.0.1": 200, "[::1]:" + port: 200, "10.1.2.3:9090": 200, "localhost:" + port: 200,
			"LOCALHOST":   200,
			"edge-1:9090": 200, "EDGE-1": 200, ":" + port: 200,
			"evil.example": 421, "evil.example:" + port: 421, "127.0.0.1.evil.example:" + port: 421, "localhost.evil.example": 421,
			"edge-10": 421,
		} {
			for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/cmdline"} {
				req, err := http.NewRequest("GET", "http://"+s.Addr()+path, nil)
				testkit.Must(t, err)
				req.Host = host
				res, err := http.DefaultClient.Do(req)
				testkit.Must(t, err)
				res.Body.Close()
				want := want
				if strings.Contains(path, "pprof") && want == 200 && !profiles {
					want = 404
				}
				if res.StatusCode != want {
					t.Errorf("%s for %q, profiles %v: %d, want %d", path, host, profiles, res.StatusCode, want)
				}
			}
		}
		cancel()
		testkit.Must(t, <-done)
	}
}
