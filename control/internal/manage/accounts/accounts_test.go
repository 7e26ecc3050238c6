package accounts_test

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// open returns the use cases on a store. Each encryption key is one repeated letter.
func open(t *testing.T, st *store.Store, keys string) *accounts.Service {
	t.Helper()
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	testkit.Must(t, err)
	a, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{bytes.Repeat([]byte("s"), auth.MinSecret)}}, st, passwords)
	testkit.Must(t, err)
	cfg := accounts.Config{}
	for _, k := range []byte(keys) {
		cfg.EncryptionKeys = append(cfg.EncryptionKeys, bytes.Repeat([]byte{k}, 32))
	}
	s, err := accounts.New(cfg, st, a, passwords)
	testkit.Must(t, err)
	return s
}

// A1: the password is shown until the first sign-in, and a given password that has no effect is noticed.
func TestA1_EnsureAdmin_shows_the_password_until_the_first_sign_in(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		s, ctx := open(t, st, "a"), t.Context()
		if _, err := s.EnsureAdmin(ctx, "not an address", ""); err == nil {
			t.Fatal("a bad email is accepted")
		}
		if _, err := s.EnsureAdmin(ctx, "a@example.com", "short"); err == nil {
			t.Fatal("a short password is accepted")
		}
		made, err := s.EnsureAdmin(ctx, "a@example.com", "")
		if err != nil || len(made.Password) < 20 || made.Email != "a@example.com" {
			t.Fatalf("%+v, %v", made, err)
		}
		if again, err := open(t, st, "ba").EnsureAdmin(ctx, "b@example.com", ""); err != nil || again != made {
			t.Fatalf("a second start before the first sign-in, with another key in front: %+v, %v, want %+v", again, err, made)
		}
		if given, err := s.EnsureAdmin(ctx, "a@example.com", "battery staple"); err != nil || !given.Ignored ||
			given.Password != made.Password {
			t.Fatalf("a password that is ignored: %+v, %v", given, err)
		}
		in, err := s.Login(ctx, accounts.Credentials{Email: "a@example.com", Password: made.Password})
		if err != nil || in.User.Role != "ADMIN" || in.Token == "" {
			t.Fatalf("%+v, %v", in, err)
		}
		if again, err := s.EnsureAdmin(ctx, "b@example.com", ""); err != nil || again != (accounts.FirstAdmin{}) {
			t.Fatalf("after the first sign-in: %+v, %v", again, err)
		}
		if given, err := s.EnsureAdmin(ctx, "A@example.com", made.Password); err != nil || given.Ignored {
			t.Fatalf("the right password: %+v, %v", given, err)
		}
		if _, err := s.CreateAdmin(ctx, "A@example.com", "battery staple"); !problem.Is(err, problem.Conflict) {
			t.Fatal(err)
		}
		if u, err := s.CreateAdmin(ctx, "c@example.com", "battery staple"); err != nil || u.Role != "ADMIN" {
			t.Fatalf("%+v, %v", u, err)
		}
	})
}

func TestReseal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, old := t.Context(), open(t, st, "a")
		if _, err := old.EnsureAdmin(ctx, "a@example.com", "battery staple"); err != nil {
			t.Fatal(err)
		}
		in, err := old.Login(ctx, accounts.Credentials{Email: "a@example.com", Password: "battery staple"})
		testkit.Must(t, err)
		p := auth.Principal{UserID: in.User.ID, Role: auth.Admin, SignedInAt: time.Now()}
		if _, err := old.SetUpTOTP(ctx, p, ""); err != nil {
			t.Fatal(err)
		}
		both := open(t, st, "ba")
		for _, want := range []int{1, 0} {
			if n, err := both.Reseal(ctx); err != nil || n != want {
				t.Fatalf("resealed %d, want %d: %v", n, want, err)
			}
		}
		if _, err := open(t, st, "b").EnableTOTP(ctx, p, "000000"); !problem.Is(err, problem.Invalid) {
			t.Fatalf("the new key alone should open the secret: %v", err)
		}
		if _, err := old.EnableTOTP(ctx, p, "000000"); err == nil || problem.Is(err, problem.Invalid) {
			t.Fatalf("the old key alone should not: %v", err)
		}
	})
}

func TestUseCases_ask_for_the_role_themselves(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, storetest.Open(t), "a"), t.Context()
	p := auth.Principal{UserID: "x", Role: auth.User}
	for what, do := range map[string]func() error{
		"list":   func() error { _, _, err := s.List(ctx, p, store.UserFilter{}, 1, 0); return err },
		"get":    func() error { _, err := s.Get(ctx, p, "x"); return err },
		"create": func() error { _, err := s.Create(ctx, p, accounts.NewUser{}); return err },
		"name":   func() error { _, err := s.Name(ctx, p, "x", ""); return err },
		"role":   func() error { _, err := s.SetRole(ctx, p, "y", auth.Admin); return err },
		"active": func() error { _, err := s.SetActive(ctx, p, "y", true); return err },
		"reset":  func() error { return s.ResetPassword(ctx, p, "y", "battery staple") },
		"2fa":    func() error { _, err := s.TurnOffSecondFactors(ctx, p, "y"); return err },
		"delete": func() error { return s.Delete(ctx, p, "y", workspaces.Fate{}) },
	} {
		if err := do(); !problem.Is(err, problem.Forbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
