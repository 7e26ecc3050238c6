package auth_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func secret(c byte) []byte { return bytes.Repeat([]byte{c}, auth.MinSecret) }

func setUp(t *testing.T, cost int, secrets ...[]byte) (*store.Store, *auth.Authenticator, *auth.Passwords, store.User) {
	t.Helper()
	st := storetest.Open(t)
	p, err := auth.NewPasswords(cost)
	testkit.Must(t, err)
	a, err := auth.NewAuthenticator(auth.Config{Secrets: secrets}, st, p)
	testkit.Must(t, err)
	u := store.User{ID: store.NewID(), Email: "a@example.com", Role: "USER", Active: true}
	err = st.Tx(t.Context(), func(tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(t.Context(), u)
		return err
	})
	testkit.Must(t, err)
	return st, a, p, u
}

func session(t *testing.T, st *store.Store, a *auth.Authenticator, u store.User) (token string) {
	t.Helper()
	err := st.Tx(t.Context(), func(tx *store.Tx) (err error) {
		token, _, err = a.OpenSession(t.Context(), tx, u, auth.SignIn{})
		return err
	})
	testkit.Must(t, err)
	return token
}

func TestToken(t *testing.T) {
	t.Parallel()
	st, a, p, u := setUp(t, bcrypt.MinCost, secret('a'))
	token := session(t, st, a, u)
	got, err := a.Token(t.Context(), token)
	if err != nil || got.UserID != u.ID || got.UserNum != u.Num || got.Role != auth.User || got.SessionID == "" || got.KeyID != "" {
		t.Fatalf("%+v, %v", got, err)
	}

	// After a rotation, the old secret verifies and the new one signs.
	rotated, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{secret('b'), secret('a')}}, st, p)
	testkit.Must(t, err)
	if _, err := rotated.Token(t.Context(), token); err != nil {
		t.Fatalf("a token from before the rotation: %v", err)
	}
	if _, err := a.Token(t.Context(), session(t, st, rotated, u)); !problem.Is(err, problem.Unauthorized) {
		t.Fatalf("a token of a secret that is not known: %v", err)
	}

	sign := func(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
		s, err := jwt.NewWithClaims(method, claims).SignedString(key)
		testkit.Must(t, err)
		return s
	}
	now := time.Now()
	claims := func(change func(jwt.MapClaims)) jwt.MapClaims {
		c := jwt.MapClaims{"sub": u.ID, "sid": got.SessionID, "role": "ADMIN", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
		if change != nil {
			change(c)
		}
		return c
	}
	if p, err := a.Token(t.Context(), sign(jwt.SigningMethodHS256, secret('a'), claims(nil))); err != nil || p.Role != auth.User {
		t.Fatalf("the role must come from the user's row: %+v, %v", p, err)
	}
	for what, forged := range map[string]string{
		"none":           sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil)),
		"HS512":          sign(jwt.SigningMethodHS512, secret('a'), claims(nil)),
		"another secret": sign(jwt.SigningMethodHS256, secret('x'), claims(nil)),
		"expired": sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) {
			c["exp"] = now.Add(-time.Hour).Unix()
		})),
		"just expired": sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) {
			c["exp"] = now.Add(-2 * time.Second).Unix()
		})),
		"no expiry":       sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) { delete(c, "exp") })),
		"no session":      sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) { delete(c, "sid") })),
		"another session": sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) { c["sid"] = "x" })),
		"another user":    sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) { c["sub"] = store.NewID() })),
		"from the future": sign(jwt.SigningMethodHS256, secret('a'), claims(func(c jwt.MapClaims) {
			c["iat"] = now.Add(time.Hour).Unix()
		})),
		"empty": "",
	} {
		if _, err := a.Token(t.Context(), forged); !problem.Is(err, problem.Unauthorized) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestNewAuthenticator_refuses_weak_secrets(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	p, err := auth.NewPasswords(bcrypt.MinCost)
	testkit.Must(t, err)
	for _, secrets := range [][][]byte{nil, {secret('a')[1:]}, {secret('a'), []byte("short")}} {
		if _, err := auth.NewAuthenticator(auth.Config{Secrets: secrets}, st, p); err == nil {
			t.Errorf("%q are accepted", secrets)
		}
	}
}

func TestKey_a_flood_of_passwords_does_not_shut_keys_out(t *testing.T) {
	t.Parallel()
	st, a, p, u := setUp(t, bcrypt.MinCost, secret('a'))
	key := auth.NewKey()
	hash, err := p.Hash(t.Context(), key)
	testkit.Must(t, err)
	err = st.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.InsertKey(t.Context(), store.Key{ID: "k", UserID: u.ID, Lookup: auth.Digest(key), Hash: hash})
	})
	testkit.Must(t, err)
	ctx, release := context.WithCancel(t.Context())
	var held sync.WaitGroup
	for range 2 { // both slots are taken
		ready := make(chan struct{})
		held.Go(func() {
			_ = p.Turn(t.Context(), func() error { close(ready); <-ctx.Done(); return nil })
		})
		<-ready
	}
	if _, err := p.Hash(t.Context(), "x"); !problem.Is(err, problem.TooMany) {
		t.Errorf("a third turn: %v", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := a.Key(t.Context(), key, "192.0.2.1"); err != nil || got.KeyID != "k" || got.UserID != u.ID {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	release()
	held.Wait()

	// A row with another bcrypt hash than the key's is forged.
	err = st.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE api_keys SET hash = ? WHERE id = 'k'`, "$2a$04$"+hash[7:59]+"x")
		return err
	})
	testkit.Must(t, err)
	if _, err := a.Key(t.Context(), key, "192.0.2.1"); err == nil {
		t.Error("a forged row is believed")
	}
}
