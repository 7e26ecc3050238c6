package commands_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testkit"
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

func TestDatabase_CreateAdmin_makes_a_password_once(t *testing.T) {
	t.Parallel()
	o := database(t)
	password, err := o.CreateAdmin(t.Context(), "second@example.com")
	if err != nil || len(password) < 20 {
		t.Fatalf("%q, %v", password, err)
	}
	if _, err := o.CreateAdmin(t.Context(), "Second@example.com"); err == nil {
		t.Error("the same email was taken twice")
	}
	o.AdminPassword = "given-by-operator"
	if password, err := o.CreateAdmin(t.Context(), "third@example.com"); err != nil || password != "" {
		t.Errorf("a given password was answered with %q, %v", password, err)
	}
}

func TestDatabase_VerifyAudit_finds_a_changed_row(t *testing.T) {
	t.Parallel()
	o := database(t)
	for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		if _, err := o.CreateAdmin(t.Context(), email); err != nil {
			t.Fatal(err)
		}
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
	if _, err := o.CreateAdmin(t.Context(), "owner@example.com"); err != nil {
		t.Fatal(err)
	}
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
