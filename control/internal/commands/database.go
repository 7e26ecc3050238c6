// Package commands holds the operators' commands of the programs: on the database of links and
// users, and on the click store. They need no running control plane. Parsing of the command line stays in the programs.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
)

// Database holds the settings of commands on the database of links and users. Each method opens the store, which updates
// its schema, and closes it again.
type Database struct {
	DatabaseURL   config.Secret `env:"DATABASE_URL" help:"database address: postgres://… or sqlite:PATH"`
	EncryptionKey config.Secret `env:"ENCRYPTION_KEY" help:"keys that encrypt secrets in the database, separated by commas; the first encrypts, all decrypt"`
	Certificates  config.Secret `env:"CERTIFICATE_KEY" help:"keys that encrypt private keys of certificates, separated by commas; the first encrypts, all decrypt; standalone without this setting uses ENCRYPTION_KEY"`
	AuditKey      config.Secret `env:"AUDIT_KEY" help:"keys that sign rows of the audit log, at least 32 bytes each, separated by commas; the first signs; empty means ENCRYPTION_KEY"`
	AdminPassword config.Secret `env:"ADMIN_PASSWORD" help:"password for create-admin; empty generates one and prints it"`
}

// Validate reports every problem.
func (o *Database) Validate() error {
	var problems []error
	if u := o.DatabaseURL.Reveal(); !strings.HasPrefix(u, "postgres://") && !strings.HasPrefix(u, "postgresql://") &&
		!strings.HasPrefix(u, "sqlite:") {
		problems = append(problems, errors.New("DATABASE_URL: must begin with postgres:// or sqlite: and name a database"))
	}
	problems = append(problems, o.EncryptionKey.CheckKeys("ENCRYPTION_KEY"), o.AuditKey.CheckKeys("AUDIT_KEY"),
		o.Certificates.CheckKeys("CERTIFICATE_KEY"))
	return errors.Join(problems...)
}

// with opens the store, calls f and closes the store.
func (o *Database) with(ctx context.Context, f func(*store.Store) error) (err error) {
	st, err := store.Open(ctx, store.Config{URL: o.DatabaseURL.Reveal(), MaxConns: 2,
		AuditKeys: append(o.AuditKey.Keys(), o.EncryptionKey.Keys()...)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(st)
}

// Migrate updates the schema. If owner, the address of the database with another role, is set, that role owns the tables,
// and the role of DatabaseURL gets the rights that it needs at run time.
func (o *Database) Migrate(ctx context.Context, owner config.Secret) error {
	if owner == "" {
		return o.with(ctx, func(*store.Store) error { return nil })
	}
	as := Database{DatabaseURL: owner}
	if err := as.with(ctx, func(*store.Store) error { return nil }); err != nil {
		return err
	}
	return store.Grant(ctx, owner.Reveal(), o.DatabaseURL.Reveal())
}

// VerifyAudit checks the audit log. The error wraps audit.ErrTampered if a row was changed, removed or inserted. Rows in
// accepted need no HMAC.
func (o *Database) VerifyAudit(ctx context.Context, accepted []audit.Span) (report audit.Report, err error) {
	err = o.with(ctx, func(st *store.Store) error {
		return st.View(ctx, func(c store.Conn) error {
			report, err = audit.Verify(ctx, c, audit.Checks{Keys: append(o.AuditKey.Keys(), o.EncryptionKey.Keys()...), Accepted: accepted})
			return err
		})
	})
	return report, err
}

// People calls f with the commands on users, which write to out.
func (o *Database) People(ctx context.Context, out io.Writer, f func(*People) error) error {
	return o.with(ctx, func(st *store.Store) error { return f(&People{Store: st, Password: o.AdminPassword, Out: out}) })
}

// RotateKeys encrypts all secrets with the first key that older keys have encrypted, and returns their number. Programs that
// use the database must have the new key before, and the old keys until RotateKeys has finished.
func (o *Database) RotateKeys(ctx context.Context) (n int, err error) {
	ring := o.EncryptionKey.Keys()
	if len(ring) == 0 {
		return 0, errors.New("ENCRYPTION_KEY: is required")
	}
	err = o.with(ctx, func(st *store.Store) error {
		passwords, err := auth.NewPasswords(0)
		if err != nil {
			return err
		}
		authenticator, err := auth.NewAuthenticator(auth.Config{Secrets: ring}, st, passwords)
		if err != nil {
			return err
		}
		people, err := accounts.New(accounts.Config{EncryptionKeys: ring}, st, authenticator, passwords)
		if err != nil {
			return err
		}
		providers, err := sso.New(sso.Config{BaseURL: "https://localhost", EncryptionKeys: ring}, st, authenticator, settings.New(st))
		if err != nil {
			return err
		}
		hooks, err := webhooks.New(webhooks.Config{EncryptionKeys: ring}, st)
		if err != nil {
			return err
		}
		mails, err := mail.New(mail.Config{EncryptionKeys: ring}, st)
		if err != nil {
			return err
		}
		channels, err := alerts.New(alerts.Config{EncryptionKeys: ring}, st, nil)
		if err != nil {
			return err
		}
		type part struct {
			name   string
			reseal func(context.Context) (int, error)
		}
		parts := []part{{"second factors", people.Reseal}, {"identity providers", providers.Reseal}, {"webhooks", hooks.Reseal},
			{"e-mails", mails.Reseal}, {"alert channels", channels.Reseal}}
		if o.Certificates != "" {
			keys, err := certs.New(certs.Config{Settings: certs.Settings{Key: o.Certificates}}, st)
			if err != nil {
				return err
			}
			parts = append(parts, part{"certificates", keys.Reseal})
		}
		for _, part := range parts {
			more, err := part.reseal(ctx)
			n += more
			if err != nil {
				return fmt.Errorf("encrypt the secrets of %s again: %w", part.name, err)
			}
		}
		return nil
	})
	return n, err
}
