package api_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// proxy is a connection between a store and its PostgreSQL server. It can be cut (connections are refused and broken)
// or frozen (no data arrives).
type proxy struct {
	listener net.Listener
	target   string
	frozen   atomic.Bool
	mu       sync.Mutex
	open     []net.Conn
	cut      bool
}

func newProxy(t *testing.T, database string) (p *proxy, through string) {
	t.Helper()
	u, err := url.Parse(database)
	testkit.Must(t, err)
	p = &proxy{target: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go p.accept()
	t.Cleanup(func() { p.listener.Close(); p.setCut(true) })
	return p, "postgres://postgres@" + p.listener.Addr().String() + u.Path + "?sslmode=disable"
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", p.target)
		p.mu.Lock()
		if err != nil || p.cut {
			near.Close()
			if err == nil {
				far.Close()
			}
		} else {
			p.open = append(p.open, near, far)
			go p.carry(near, far)
			go p.carry(far, near)
		}
		p.mu.Unlock()
	}
}

func (p *proxy) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if p.frozen.Load() {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) setCut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut = cut; cut {
		for _, c := range p.open {
			c.Close()
		}
		p.open = nil
	}
}

func TestDatabase_outage_is_a_quick_503(t *testing.T) {
	t.Parallel()
	network, address := newProxy(t, storetest.PostgresURL(t))
	w := newWorld(t, opened(t, address, 4), func(_ *world, cfg *api.Config, _ *api.Deps) { cfg.LookUpTimeout, cfg.CountTimeout = 0, 0 })
	key := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann)).want(201).str("key")
	unavailable := func(what string) {
		t.Helper()
		var wg sync.WaitGroup
		for _, q := range []struct {
			method, path, body string
			option             option
		}{
			{"GET", "/api/auth/me", "", as(w.ann)}, {"GET", "/api/auth/me", "", as(key)},
			{"PUT", "/api/auth/me", `{"name":"x"}`, as(w.ann)},
			{"POST", "/api/auth/login", login(userMail, password, ""), from("192.0.2.9:1")}, {"GET", "/api/users", "", as(w.root)},
		} {
			wg.Go(func() {
				start := time.Now()
				r := w.do(q.method, q.path, q.body, q.option)
				if took := time.Since(start); r.StatusCode != 503 || took > testkit.Size(time.Minute, 2*time.Second) {
					t.Errorf("%s: %s returns %d after %v: %s; logs: %s", what, r.what, r.StatusCode, took, r.text, w.logs)
				}
				if r.Header.Get("Retry-After") == "" || strings.Contains(r.text, "127.0.0.1") {
					t.Errorf("%s: %s: %v %s", what, r.what, r.Header, r.text)
				}
			})
		}
		wg.Wait()
	}
	network.setCut(true)
	unavailable("cut")
	network.setCut(false)
	testkit.Eventually(w.t, "the API recovers from a cut", func() bool {
		return w.do("GET", "/api/auth/me", "", as(w.ann)).StatusCode == 200
	})
	network.frozen.Store(true)
	unavailable("frozen")
	network.frozen.Store(false)
	network.setCut(true)
	network.setCut(false)
	testkit.Eventually(w.t, "the API recovers from a freeze", func() bool {
		return w.do("GET", "/api/auth/me", "", as(w.ann)).StatusCode == 200
	})
}

func TestReplicas_share_state(t *testing.T) {
	t.Parallel()
	address := storetest.PostgresURL(t)
	a := newWorld(t, opened(t, address, 6), limited(40))
	b := replica(a, opened(t, address, 6), limited(40))

	// A session ends on every replica.
	b.do("GET", "/api/auth/me", "", as(a.bob)).want(200)
	a.do("POST", "/api/auth/logout", "", as(a.bob)).want(200)
	b.do("GET", "/api/auth/me", "", as(a.bob)).want(401)

	// A deleted key stops working on every replica, although its bcrypt result is cached.
	k := a.do("POST", "/api/api-keys", `{"name":"k"}`, as(a.ann)).want(201)
	b.do("GET", "/api/auth/me", "", as(k.str("key"))).want(200)
	a.do("DELETE", "/api/api-keys/"+k.str("id"), "", as(a.ann)).want(204)
	b.do("GET", "/api/auth/me", "", as(k.str("key"))).want(401)

	// Concurrent guesses at both replicas count together. Five are allowed, and each replica checks at most two at a time.
	either := func(i int) *world { return []*world{a, b}[i%2] }
	guesses := atOnce(60, func(i int) *reply {
		return either(i).do("POST", "/api/auth/login", login(otherMail, "guess", ""), from("192.0.2.77:1"))
	})
	if n := guesses[401]; n < 5 || n > 9 || n+guesses[429] != 60 {
		t.Errorf("%d guesses were checked, want 5 to 9: %v", n, guesses)
	}

	// The rate limit counts requests at both replicas, too.
	passed := atOnce(100, func(i int) *reply { return either(i).do("GET", "/api/nothing", "", from("192.0.2.78:1")) })
	if n := passed[404]; n != 40 {
		t.Errorf("%d requests passed a limit of 40", n)
	}
}

func TestLogin_a_code_used_twice_at_once_works_once(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		secret := w.do("POST", "/api/auth/2fa/setup", "", as(w.ann)).want(201).str("secret")
		w.do("POST", "/api/auth/2fa/enable", `{"code":"`+w.code(secret)+`"}`, as(w.ann)).want(200)
		w.clock.advance(30 * time.Second)
		code := w.code(secret)
		got := atOnce(4, func(int) *reply { return w.do("POST", "/api/auth/login", login(userMail, password, code)) })
		if got[200] != 1 {
			t.Fatalf("%d sign-ins succeeded with one code", got[200])
		}
	})
}

func TestAdministrators_last_one_stays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.do("PATCH", "/api/users/"+w.annID+"/role", `{"role":"ADMIN"}`, as(w.root)).want(200)
		ann, _ := w.signIn(userMail)
		atOnce(2, func(i int) *reply {
			if i == 0 {
				return w.do("PATCH", "/api/users/"+w.rootID+"/role", `{"role":"USER"}`, as(ann))
			}
			return w.do("PATCH", "/api/users/"+w.annID+"/status", `{"isActive":false}`, as(w.root))
		})
		var left int
		w.ok(w.store.Row(t.Context(), `SELECT COUNT(*) FROM users WHERE role = 'ADMIN' AND active`).Scan(&left))
		if left == 0 {
			t.Fatal("both administrators were removed")
		}
	})
}

func TestBodies_in_sequence_on_one_connection(t *testing.T) {
	w := small(t, nil)
	srv := httptest.NewServer(w.server.Handler())
	t.Cleanup(srv.Close)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	w.ok(err)
	defer conn.Close()
	// Two requests on one connection: the first's deadline must not outlive it.
	for range 2 {
		_, err = io.WriteString(conn, "PUT /api/auth/me HTTP/1.1\r\nHost: sho.rt\r\nAuthorization: Bearer "+w.ann+
			"\r\nContent-Length: 12\r\n\r\n{\"name\":\"x\"}")
		w.ok(err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		w.ok(err)
		if _, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
			t.Fatalf("%d, %v", res.StatusCode, err)
		}
	}
}

func TestFailures_show_nothing_internal(t *testing.T) {
	t.Parallel()
	for what, fail := range map[string]func() error{
		"error": func() error { return errors.New("secret detail") },
		"panic": func() error { panic("secret detail") },
	} {
		t.Run(what, func(t *testing.T) {
			w := small(t, func(w *world, _ *api.Config, d *api.Deps) {
				passwords, err := auth.NewPasswords(bcrypt.MinCost)
				w.ok(err)
				var broken atomic.Bool
				users, err := accounts.New(accounts.Config{
					EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)},
					PasswordSignInOff: func(context.Context) (bool, error) {
						if !broken.Load() {
							return false, nil
						}
						return false, fail()
					},
				}, w.store, d.Auth, passwords)
				w.ok(err)
				d.Accounts = users
				w.breaks = func() { broken.Store(true) }
			})
			w.breaks()
			r := w.do("POST", "/api/auth/login", login(userMail, password, ""), with("X-Request-ID", "ask-about-me")).want(500)
			r.has("", "statusCode", "message", "error", "code", "requestId")
			r.omits("secret").shows("requestId", "ask-about-me")
			if logs := w.logs.String(); !strings.Contains(logs, "secret detail") || !strings.Contains(logs, `"level":"ERROR"`) {
				t.Fatalf("the log lacks the error: %s", logs)
			}
		})
	}
}
