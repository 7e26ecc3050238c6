package sso_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/idptest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var admin = auth.Principal{UserID: "root", Role: auth.Admin}

func key(c string) []byte { return bytes.Repeat([]byte(c), 32) }

func newService(t *testing.T, st *store.Store, cfg sso.Config) *sso.Service {
	t.Helper()
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	ok(t, err)
	a, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{key("s")}}, st, passwords)
	ok(t, err)
	cfg.BaseURL, cfg.AllowPrivate, cfg.Logger = "https://sho.rt/", true, slog.New(slog.DiscardHandler)
	cfg.Timeout = cmp.Or(cfg.Timeout, testkit.Patience)
	s, err := sso.New(cfg, st, a, settings.New(st))
	ok(t, err)
	return s
}

func ok(t *testing.T, err error) {
	t.Helper()
	testkit.Must(t, err)
}

func newIDP(t *testing.T) *idptest.Provider {
	var p *idptest.Provider
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	p = idptest.New(server.URL, idptest.Person{Subject: "1", Email: "ann@example.com", Verified: true})
	return p
}

func setUp(t *testing.T, s *sso.Service, discovery string) {
	t.Helper()
	name, slug, id, secret := "Corp", "corp", idptest.ClientID, idptest.ClientSecret
	_, err := s.Create(t.Context(), admin, sso.Input{Name: &name, Slug: &slug, DiscoveryURL: &discovery, ClientID: &id,
		ClientSecret: &secret})
	ok(t, err)
}

// signIn completes a sign-in.
func signIn(ctx context.Context, s *sso.Service) error {
	begun, err := s.Begin(ctx, "corp", "")
	if err != nil {
		return err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(begun.Address)
	if err != nil {
		return err
	}
	res.Body.Close()
	back, err := res.Location()
	if err != nil {
		return err
	}
	q := back.Query()
	_, err = s.Finish(ctx, "corp", sso.Answer{Cookie: begun.Cookie, State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss")})
	return err
}

func addUser(t *testing.T, st *store.Store, email string) {
	t.Helper()
	ok(t, st.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertUser(t.Context(), store.User{ID: store.NewID(), Email: email, Role: "USER", Active: true})
		return err
	}))
}

func TestReseal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		addUser(t, st, "ann@example.com")
		p := newIDP(t)
		setUp(t, newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("a")}}), p.Issuer)
		both := newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("b"), key("a")}})
		ok(t, signIn(ctx, both))
		for _, want := range []int{1, 0} {
			if n, err := both.Reseal(ctx); err != nil || n != want {
				t.Fatalf("resealed %d, want %d: %v", n, want, err)
			}
		}
		ok(t, signIn(ctx, newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("b")}})))
		if err := signIn(ctx, newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("a")}})); err == nil ||
			errors.As(err, new(*sso.Failure)) {
			t.Fatalf("a secret that can't be opened is our fault, not the person's: %v", err)
		}
	})
}

func TestDiscovery_address_may_be_that_of_the_document(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "/", "/.well-known/openid-configuration"} {
		st := storetest.Open(t)
		addUser(t, st, "ann@example.com")
		s := newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("a")}})
		setUp(t, s, newIDP(t).Issuer+suffix)
		if err := signIn(t.Context(), s); err != nil {
			t.Errorf("%q: %v", suffix, err)
		}
	}
}

func TestSlowProvider_is_asked_once_for_all_who_wait(t *testing.T) {
	t.Parallel()
	st, p := storetest.Open(t), newIDP(t)
	p.Fail(idptest.Slow)
	s := newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("a")}, Timeout: 2 * time.Second})
	setUp(t, s, p.Issuer)
	defer testkit.Within(t, 5*time.Second, time.Now(), "20 sign-ins at a silent provider")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			var f *sso.Failure
			if _, err := s.Begin(t.Context(), "corp", ""); !errors.As(err, &f) || f.Code != sso.CodeUnavailable {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if n := p.Asked("discovery"); n != 1 {
		t.Fatalf("asked %d times", n)
	}
}

func TestBegin_asks_for_what_the_provider_must_bind(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	s := newService(t, st, sso.Config{EncryptionKeys: [][]byte{key("a")}})
	setUp(t, s, newIDP(t).Issuer)
	seen := map[string]bool{}
	for range 3 {
		begun, err := s.Begin(t.Context(), "corp", "/x")
		ok(t, err)
		u, err := url.Parse(begun.Address)
		ok(t, err)
		q := u.Query()
		if q.Get("response_type") != "code" || q.Get("scope") != "openid email profile" || q.Get("code_challenge_method") != "S256" ||
			q.Get("redirect_uri") != "https://sho.rt/api/auth/sso/corp/callback" || q.Get("client_id") != idptest.ClientID {
			t.Fatal(begun.Address)
		}
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			if v := q.Get(name); len(v) < 20 || seen[v] || bytes.Contains([]byte(begun.Cookie), []byte(v)) {
				t.Fatalf("%s is %q", name, v)
			}
			seen[q.Get(name)] = true
		}
	}
}
