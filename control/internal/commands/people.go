package commands

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
)

// The help of the commands on users, in all programs.
const (
	CreateAdminAbout         = "create an administrator; the password is ADMIN_PASSWORD, or is generated and printed"
	ResetPasswordAbout       = "give a user a generated password, which is printed; ends the user's sessions, and deletes the API keys and passkeys"
	DisableSecondFactorAbout = "turn off the authenticator app of a user, and remove the user's passkeys; the password still works"
	AllowPasswordsAbout      = "turn off the setting sso_enforce, so that users can sign in with passwords while the identity provider is down"
)

// People holds the commands that give access to people who are locked out. They work while the program runs, because it
// reads users, sessions and settings for each request. Each one writes an entry to the audit log.
type People struct {
	Store    *store.Store
	Password config.Secret // of CreateAdmin; empty generates one and prints it
	Out      io.Writer
}

// CheckKey returns an error if the store has other keys than the program that uses the database.
func CheckKey(ctx context.Context, st *store.Store) error { return audit.CheckKey(ctx, st) }

func (p *People) accounts(ctx context.Context) (*accounts.Service, error) {
	if err := audit.CheckKey(ctx, p.Store); err != nil {
		return nil, fmt.Errorf("%w: set both as for the running program", err)
	}
	passwords, err := auth.NewPasswords(0)
	if err != nil {
		return nil, err
	}
	// Nothing is signed or encrypted here, so any key will do.
	key := []byte(rand.Text() + rand.Text())
	authenticator, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{key}}, p.Store, passwords)
	if err != nil {
		return nil, err
	}
	return accounts.New(accounts.Config{EncryptionKeys: [][]byte{key}}, p.Store, authenticator, passwords)
}

// CreateAdmin implements create-admin.
func (p *People) CreateAdmin(ctx context.Context, email string) error {
	people, err := p.accounts(ctx)
	if err != nil {
		return err
	}
	given := p.Password.Reveal()
	generated := given == ""
	if generated {
		given = rand.Text()
	}
	u, err := people.CreateAdmin(ctx, email, given)
	if err != nil {
		return err
	}
	if generated {
		fmt.Fprintf(p.Out, "%s is an administrator, with the password %s\n", u.Email, given)
	} else {
		fmt.Fprintf(p.Out, "%s is an administrator, with the password in ADMIN_PASSWORD\n", u.Email)
	}
	return p.hints(ctx, u)
}

// ResetPassword implements reset-password.
func (p *People) ResetPassword(ctx context.Context, email string) error {
	people, err := p.accounts(ctx)
	if err != nil {
		return err
	}
	password := rand.Text()
	u, err := people.ResetPasswordOf(ctx, email, password)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s has the password %s\nSessions, API keys and passkeys of the account were removed.\n", u.Email, password)
	return p.hints(ctx, u)
}

// DisableSecondFactor implements disable-2fa.
func (p *People) DisableSecondFactor(ctx context.Context, email string) error {
	people, err := p.accounts(ctx)
	if err != nil {
		return err
	}
	u, had, err := people.TurnOffSecondFactorsOf(ctx, email)
	if err != nil {
		return err
	}
	if !had {
		fmt.Fprintf(p.Out, "%s has no second factor\n", u.Email)
		return p.hints(ctx, u)
	}
	fmt.Fprintf(p.Out, "%s has no second factor any more, and signs in with the password\n", u.Email)
	return p.hints(ctx, u)
}

// AllowPasswords implements allow-passwords.
func (p *People) AllowPasswords(ctx context.Context) error {
	if _, err := p.accounts(ctx); err != nil {
		return err
	}
	off, err := settings.New(p.Store).Relax(ctx)
	if err != nil {
		return err
	}
	if off {
		fmt.Fprintln(p.Out, "sso_enforce is off: users can sign in with passwords")
	} else {
		fmt.Fprintln(p.Out, "sso_enforce was not on")
	}
	return nil
}

// hints prints what else keeps a user from signing in with the password.
func (p *People) hints(ctx context.Context, u store.User) error {
	if !u.Active {
		fmt.Fprintln(p.Out, "The account is inactive: an administrator must activate it.")
	}
	if u.TOTPEnabled {
		fmt.Fprintln(p.Out, "Its second factor is on; disable-2fa turns it off.")
	}
	enforced, err := settings.New(p.Store).EnforcesSSO(ctx)
	if err != nil {
		return err
	}
	if enforced {
		fmt.Fprintln(p.Out,
			"Sign-in with passwords is off while an identity provider is active (sso_enforce); allow-passwords turns it on.")
	}
	return nil
}
