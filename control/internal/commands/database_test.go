package commands_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func database(t *testing.T) commands.Database {
	return commands.Database{DatabaseURL: config.Secret("sqlite:" + filepath.Join(t.TempDir(), "shortline.db"))}
}

func open(t *testing.T, o commands.Database) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{URL: o.DatabaseURL.Reveal()})
	testkit.Must(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

// people calls one command on users and returns what it prints.
func people(t *testing.T, o *commands.Database, f func(*commands.People) error) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := o.People(t.Context(), &out, f)
	return out.String(), err
}

func createAdmin(t *testing.T, o *commands.Database, email string) (string, error) {
	return people(t, o, func(p *commands.People) error { return p.CreateAdmin(t.Context(), email) })
}

var printedPassword = regexp.MustCompile(`password (\S{20,})\n`)

func TestDatabase_CreateAdmin_makes_a_password_once(t *testing.T) {
	t.Parallel()
	o := database(t)
	if said, err := createAdmin(t, &o, "second@example.com"); err != nil || !printedPassword.MatchString(said) {
		t.Fatalf("%q, %v", said, err)
	}
	if _, err := createAdmin(t, &o, "Second@example.com"); err == nil {
		t.Error("the same email was taken twice")
	}
	o.AdminPassword = "given-by-operator"
	if said, err := createAdmin(t, &o, "third@example.com"); err != nil || strings.Contains(said, "given-by-operator") ||
		!strings.Contains(said, "ADMIN_PASSWORD") {
		t.Errorf("a given password was answered with %q, %v", said, err)
	}
}

// A1: nobody is ever locked out. The commands change what the API's equivalents change, and the audit log has them.
func TestA1_People_give_access_to_locked_out_users(t *testing.T) {
	t.Parallel()
	o, ctx := database(t), t.Context()
	_, err := createAdmin(t, &o, "owner@example.com")
	testkit.Must(t, err)
	st := open(t, o)
	u, err := st.UserByEmail(ctx, "owner@example.com")
	testkit.Must(t, err)
	testkit.Must(t, st.Tx(ctx, func(tx *store.Tx) error {
		secret := "sealed"
		u.TOTPEnabled, u.TOTPSecret = true, &secret
		if _, err := tx.PutSetting(ctx, store.Setting{ID: store.NewID(), Key: "sso_enforce", Value: `{"enabled":true}`}); err != nil {
			return err
		}
		return tx.UpdateUser(ctx, u)
	}))
	said, err := people(t, &o, func(p *commands.People) error { return p.ResetPassword(ctx, "Owner@example.com") })
	if err != nil || !printedPassword.MatchString(said) || !strings.Contains(said, "disable-2fa") ||
		!strings.Contains(said, "allow-passwords") {
		t.Fatalf("reset-password: %q, %v", said, err)
	}
	reset, err := st.UserByEmail(ctx, "owner@example.com")
	testkit.Must(t, err)
	if !reset.TOTPEnabled || bcrypt.CompareHashAndPassword([]byte(*reset.PasswordHash),
		[]byte(printedPassword.FindStringSubmatch(said)[1])) != nil {
		t.Errorf("after reset-password: %+v", reset)
	}
	for _, want := range []string{"has no second factor any more", "has no second factor\n"} {
		said, err = people(t, &o, func(p *commands.People) error { return p.DisableSecondFactor(ctx, "owner@example.com") })
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("disable-2fa: %q, %v", said, err)
		}
	}
	for _, want := range []string{"is off", "was not on"} {
		said, err = people(t, &o, func(p *commands.People) error { return p.AllowPasswords(ctx) })
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("allow-passwords: %q, %v", said, err)
		}
	}
	for name, f := range map[string]func(*commands.People) error{
		"reset-password": func(p *commands.People) error { return p.ResetPassword(ctx, "nobody@example.com") },
		"disable-2fa":    func(p *commands.People) error { return p.DisableSecondFactor(ctx, "nobody@example.com") },
	} {
		if _, err := people(t, &o, f); err == nil || !strings.Contains(err.Error(), "User") {
			t.Errorf("%s of nobody: %v", name, err)
		}
	}
	var actions []string
	testkit.Must(t, st.EachAudit(ctx, func(r store.AuditRow) error {
		if strings.Contains(r.Metadata, `"byOperator":true`) {
			actions = append(actions, r.Action)
		}
		return nil
	}))
	if want := "PASSWORD_CHANGED TWO_FACTOR_DISABLED SYSTEM_SETTING_UPDATED"; strings.Join(actions, " ") != want {
		t.Errorf("the audit log has %v, want %s", actions, want)
	}
}

func TestDatabase_VerifyAudit_finds_a_changed_row(t *testing.T) {
	t.Parallel()
	o := database(t)
	for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		_, err := createAdmin(t, &o, email)
		testkit.Must(t, err)
	}
	report, err := o.VerifyAudit(t.Context(), nil)
	if err != nil || report.Head.Seq != 3 || report.Head.Hash == "" {
		t.Fatalf("%+v, %v", report, err)
	}
	st := open(t, o)
	err = st.Tx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), `DROP TRIGGER audit_logs_no_update`); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `UPDATE audit_logs SET action = 'USER_DELETED' WHERE seq = 2`)
		return err
	})
	testkit.Must(t, err)
	if _, err := o.VerifyAudit(t.Context(), nil); !errors.Is(err, audit.ErrTampered) || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("a changed row was answered with %v", err)
	}
}

func TestDatabase_RotateKeys(t *testing.T) {
	t.Parallel()
	o := database(t)
	const before, after = "the first key of thirty-two bytes...", "another key of thirty-two bytes....."
	_, err := createAdmin(t, &o, "owner@example.com")
	testkit.Must(t, err)
	st := open(t, o)
	owner, err := st.UserByEmail(t.Context(), "owner@example.com")
	testkit.Must(t, err)
	hooks, err := webhooks.New(webhooks.Config{EncryptionKeys: [][]byte{[]byte(before)}}, st)
	testkit.Must(t, err)
	name, url := "hook", "https://example.com/hook"
	if _, _, err := hooks.Create(t.Context(), auth.PrincipalOf(owner), webhooks.Input{
		Name: &name, URL: &url, Events: &[]string{"url.created"},
	}); err != nil {
		t.Fatal(err)
	}
	o.EncryptionKey = config.Secret(after + "," + before)
	if n, err := o.RotateKeys(t.Context()); err != nil || n != 1 {
		t.Fatalf("sealed %d again, %v", n, err)
	}
	o.EncryptionKey = config.Secret(after)
	if n, err := o.RotateKeys(t.Context()); err != nil || n != 0 {
		t.Errorf("with the new key alone: %d, %v", n, err)
	}
	o.EncryptionKey = config.Secret(before)
	if _, err := o.RotateKeys(t.Context()); err == nil {
		t.Error("the old key alone still opens what the new one sealed")
	}
}
