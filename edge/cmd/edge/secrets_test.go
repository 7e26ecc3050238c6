package main

import (
	"bytes"
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const canary = "Ca4nary7"

type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A control plane that refuses the token and repeats what it was sent, a broker that hangs up: an edge says so, and
// says no secret.
func TestSecrets_are_not_logged(t *testing.T) {
	t.Parallel()
	told := make(chan string, 1000)
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case told <- r.Header.Get("Authorization"):
		default:
		}
		http.Error(w, "you are nobody", http.StatusUnauthorized)
	}))
	t.Cleanup(control.Close)
	broker, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { broker.Close() })
	go func() {
		for {
			conn, err := broker.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	addr, ops := testkit.FreeAddr(t), testkit.FreeAddr(t)
	dir, log := t.TempDir(), &safe{}
	var s settings
	if err := config.LoadFrom(&s, map[string]string{
		"LISTEN_ADDR": addr, "OPS_ADDR": ops, "BASE_URL": "https://sho.rt", "CONTROL_URL": control.URL, "DATA_DIR": dir,
		"PPROF": "true", "LOG_LEVEL": "debug",
		"EDGE_TOKEN": canary + "-token-of-an-edge", "KAFKA_BROKERS": broker.Addr().String(),
		"KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", "KAFKA_USERNAME": "pat", "KAFKA_PASSWORD": canary,
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, &s, log) }()
	if got := <-told; !strings.Contains(got, canary) {
		t.Errorf("the control plane hears %q", got)
	}
	testkit.Eventually(t, "log lines about the control plane and the broker", func() bool {
		text := log.String()
		return strings.Contains(text, "401") && strings.Contains(text, broker.Addr().String())
	})
	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"} {
		res, err := http.Get("http://" + ops + path)
		testkit.Must(t, err)
		var body bytes.Buffer
		_, _ = body.ReadFrom(res.Body)
		res.Body.Close()
		if strings.Contains(body.String(), canary) {
			t.Errorf("%s shows a secret", path)
		}
		public, err := http.Get("http://" + addr + path)
		testkit.Must(t, err)
		body.Reset()
		_, _ = body.ReadFrom(public.Body)
		public.Body.Close()
		if path != "/healthz" && (public.StatusCode == 200 || strings.Contains(body.String(), "goroutine ")) {
			t.Errorf("the visitors' port answers %s with %d", path, public.StatusCode)
		}
	}
	cancel()
	if err := <-done; err != nil && strings.Contains(err.Error(), canary) {
		t.Errorf("the end shows a secret: %v", err)
	}
	if text := log.String(); strings.Contains(text, canary) {
		t.Errorf("the log shows a secret:\n%s", text)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestSecrets_are_in_no_message(t *testing.T) {
	for k, v := range map[string]string{
		"BASE_URL": "sho.rt", "CONTROL_URL": "https://u:" + canary + "@control", "EDGE_TOKEN": canary + " token", "KAFKA_BROKERS": "kafka",
		"KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_PASSWORD": canary, "DATA_DIR": t.TempDir(),
	} {
		t.Setenv(k, v)
	}
	for _, control := range []string{"https://u:" + canary + "@control", "https://u:" + canary + "%zz@control", "https://control?token=" +
		canary, "://" + canary} {
		t.Setenv("CONTROL_URL", control)
		code, out := call(t, "-check")
		if code != 1 || !strings.Contains(out, "CONTROL_URL") || strings.Contains(out, canary) {
			t.Errorf("%s: %d %s", control, code, out)
		}
	}
}
