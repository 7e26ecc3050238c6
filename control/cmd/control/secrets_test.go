package main

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// canary is part of every secret in these tests.
const canary = "Ca4nary7"

// silent fails the test if a text contains a secret.
func silent(t *testing.T, where, text string) {
	t.Helper()
	// The three base64 forms of the canary, one for each alignment, without the characters that depend on its neighbours.
	forms := []string{canary}
	for shift := range 3 {
		whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		forms = append(forms, strings.TrimRight(whole, "=")[shift+1:len(strings.TrimRight(whole, "="))-1])
	}
	for _, form := range forms {
		if i := strings.Index(text, form); i >= 0 {
			t.Errorf("%s shows a secret: …%s…", where, text[max(0, i-120):min(len(text), i+120)])
			return
		}
	}
}

// refusing is a PostgreSQL server that rejects every password.
func refusing(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for { // the server declines encryption, then the client sends its startup message
					var head [8]byte
					if _, err := io.ReadFull(in, head[:]); err != nil {
						return
					}
					if binary.BigEndian.Uint32(head[4:]) != 80877103 {
						_, _ = io.CopyN(io.Discard, in, int64(binary.BigEndian.Uint32(head[:4]))-8)
						break
					}
					_, _ = conn.Write([]byte("N"))
				}
				_, _ = conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3}) // asks for the password
				var head [5]byte
				if _, err := io.ReadFull(in, head[:]); err != nil {
					return
				}
				_, _ = io.CopyN(io.Discard, in, int64(binary.BigEndian.Uint32(head[1:]))-4)
				text := "SFATAL\x00C28P01\x00Mpassword authentication failed\x00\x00"
				_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(text)+4)), text...))
			}()
		}
	}()
	return ln.Addr().String()
}

// Messages about wrong addresses, wrong passwords and passwords that break an address contain no secret.
func TestSecrets_are_in_no_message(t *testing.T) {
	database := refusing(t)
	clicks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "Code: 516. DB::Exception: Authentication failed")
	}))
	t.Cleanup(clicks.Close)
	for name, value := range map[string]string{
		"JWT_SECRET": canary, "EDGE_TOKENS": canary, "ADMIN_PASSWORD": canary,
		"KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_PASSWORD": canary, "KAFKA_BROKERS": "kafka", "BASE_URL": "https://u:" + canary + "@sho.rt",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://u:" + canary + "@127.0.0.1:x", "OTEL_EXPORTER_OTLP_HEADERS": canary,
		"MEDIA_S3_ENDPOINT": "http://u:" + canary + "@s3", "MEDIA_S3_SECRET_KEY": canary,
	} {
		t.Setenv(name, value)
	}
	said := 0
	for _, password := range []string{
		canary, canary + "%zz", canary + "/x", "x/" + canary, canary + "#x", "x#" + canary, canary + "?x", "x?" + canary, "x@" + canary,
		"x?x@" + canary, "x/@" + canary, canary + ":x", "x:" + canary,
		canary + " x", `x"` + canary, `x\` + canary, "[" + canary, "%5B" + canary,
	} {
		for _, at := range []struct{ database, clicks string }{
			{"postgres://pat:" + password + "@" + database + "/d", "http://pat:" + password + "@" + clicks.Listener.Addr().String() + "/d"},
			{"postgres://pat:" + password + "@127.0.0.1:1,127.0.0.1:2/d", "clickhouse://pat:" + password + "@127.0.0.1:1/d"},
			{"postgres://pat:" + password + "@127.0.0.1:1/d?connect_timeout=x", "clickhouse://pat:" + password +
				"@127.0.0.1:1/d?dial_timeout=x"},
			{"postgres:///d?host=127.0.0.1&port=x&password=" + password,
				"clickhouse://127.0.0.1:1/d?dial_timeout=1s&username=pat&password=" +
					password},
			{"mysql://pat:" + password + "@127.0.0.1:1/d", "ftp://pat:" + password + "@127.0.0.1:1/d"},
		} {
			t.Setenv("DATABASE_URL", at.database)
			t.Setenv("CLICKHOUSE_URL", at.clicks)
			for _, args := range [][]string{{"-check"}, {"verify-audit"}, {"verify-clicks"}} {
				key := canary // which is too short
				if args[0] == "verify-audit" {
					key = canary + strings.Repeat("e", 32)
				}
				t.Setenv("ENCRYPTION_KEY", key)
				code, out := call(t, args...)
				if code == 0 {
					t.Errorf("%v with %s and %s succeeds:\n%s", args, at.database, at.clicks, out)
				}
				silent(t, fmt.Sprintf("%v with a password such as %q in %s and %s", args, password, at.database, at.clicks), out)
				said += len(out)
			}
		}
	}
	if said < 10_000 {
		t.Errorf("all of it says %d bytes", said)
	}
}

// A process that cannot reach other services, or that they refuse, logs that while it runs, without secrets.
func TestSecrets_are_not_logged(t *testing.T) {
	t.Parallel()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(collector.Close)
	dir := t.TempDir()
	db := storetest.PostgresURL(t)
	joint := "?"
	if strings.Contains(db, "?") {
		joint = "&"
	}
	p := start(t, map[string]string{
		"DATABASE_URL": db + joint + "password=" + canary, "DATA_DIR": dir, "PPROF": "true", "LOG_LEVEL": "debug",
		"CLICKHOUSE_URL": "clickhouse://pat:" + canary + "@127.0.0.1:1/d",
		"JWT_SECRET":     canary + strings.Repeat("j", 32), "ENCRYPTION_KEY": canary + strings.Repeat("e", 32), "EDGE_TOKENS": canary +
			"-token-of-an-edge", "ADMIN_PASSWORD": canary + " horse",
		"KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", "KAFKA_USERNAME": "pat", "KAFKA_PASSWORD": canary,
		"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=" + canary,
	})
	p.until(t, 503, "")
	seen := func(text string) {
		t.Helper()
		testkit.Eventually(t, fmt.Sprintf("%q is in the log", text), func() bool { return strings.Contains(p.output.String(), text) })
	}
	seen("127.0.0.1:1")
	seen("kafka")
	seen("control started")
	for _, ask := range [][3]string{
		{"POST", "http://" + p.api + "/api/auth/login", `{"email":"admin@example.com","password":"` + canary + ` wrong"}`},
		{"POST", "http://" + p.api + "/api/auth/login", `{"email":"admin@example.com","password":"` + canary + `` + "\x00"},
		{"POST", "http://" + p.api + "/api/auth/login", `{"email":"admin@example.com","password":"` + canary + ` horse"}`},
		{"GET", "http://" + p.api + "/edge/v1/snapshot?token=" + "x", ""},
		{"GET", "http://" + p.ops + "/metrics", ""}, {"GET", "http://" + p.ops + "/readyz", ""},
		{"GET", "http://" + p.ops + "/debug/pprof/cmdline", ""},
		{"GET", "http://" + p.ops + "/debug/pprof/goroutine?debug=2", ""}, {"GET", "http://" + p.api + "/api/analytics", ""},
	} {
		code, text := p.ask(t, ask[0], ask[1], ask[2])
		if code == 0 {
			t.Fatal(text)
		}
		silent(t, ask[0]+" "+ask[1], text)
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap", "/metrics", "/readyz"} {
		if code, _ := p.ask(t, "GET", "http://"+p.api+path, ""); code != 404 {
			t.Errorf("the public port answers %s with %d", path, code)
		}
	}
	silent(t, "the log", p.output.String())
	private(t, dir)
}

// private fails the test if other users of the machine may read a file, except public ones.
func private(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // a temporary file was deleted
		}
		files++
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, mode)
		}
		return nil
	})
	if err != nil || files == 0 {
		entries, _ := os.ReadDir(dir)
		t.Errorf("%d files, %v, %v", files, entries, err)
	}
}
