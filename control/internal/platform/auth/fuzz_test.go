package auth_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/golang-jwt/jwt/v5"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// FuzzToken: only tokens signed with our secret are accepted.
func FuzzToken(f *testing.F) {
	st := storetest.Open(f)
	p, err := auth.NewPasswords(bcrypt.MinCost)
	testkit.Must(f, err)
	a, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{secret('a'), secret('b')}}, st, p)
	testkit.Must(f, err)
	u := store.User{ID: store.NewID(), Email: "a@example.com", Role: "USER", Active: true}
	var token string
	testkit.Must(f, st.Tx(f.Context(), func(tx *store.Tx) (err error) {
		if u.Num, err = tx.InsertUser(f.Context(), u); err != nil {
			return err
		}
		token, _, err = a.OpenSession(f.Context(), tx, u, auth.SignIn{})
		return err
	}))
	parts := strings.Split(token, ".")
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"sub": u.ID, "sid": "x", "exp": time.Now().Add(time.Hour).Unix()}).
		SignedString(jwt.UnsafeAllowNoneSignatureType)
	testkit.Must(f, err)
	for _, seed := range []string{token, none, parts[0] + "." + parts[1] + ".", parts[0] + "." + strings.Split(none, ".")[1] +
		"." + parts[2],
		strings.ToUpper(token), token + ".", token + "=", "", "..", strings.Repeat("e30.", 2000), auth.NewKey()} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		who, err := a.Token(t.Context(), raw)
		if err == nil {
			// The last character of each part has unused bits. All other bits must be ours.
			if !strings.HasPrefix(raw, parts[0]+"."+parts[1]+".") || who.UserID != u.ID {
				t.Fatalf("%q signs in %+v", raw, who)
			}
		} else if !problem.Is(err, problem.Unauthorized) {
			t.Fatalf("%q: %v", raw, err)
		}
		if _, err := a.Key(t.Context(), raw, "192.0.2.1"); !problem.Is(err, problem.Unauthorized) {
			t.Fatalf("the key %q: %v", raw, err)
		}
	})
}
