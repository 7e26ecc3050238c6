// Package accounts holds the use cases of users: sign-in and sign-out, profile, password, second factor, and the
// administration of users.
//
// Lockout slows down guessing across all replicas. Responses do not reveal whether an email exists. A second factor's
// code works once. Changes that end sessions do so in the same transaction. Resetting a password also deletes the
// user's API keys; changing it does so on request. Package keys manages API keys otherwise, and package sso starts its
// sessions with package auth.
package accounts

import (
	"cmp"
	"context"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
)

const (
	minPassword = 8   // characters
	maxName     = 255 // characters
	maxEmail    = 254 // bytes
)

// Config of the use cases.
type Config struct {
	// EncryptionKeys encrypt the secrets of second factors: the first encrypts, all decrypt. At least seal.MinKey bytes
	// each.
	EncryptionKeys [][]byte
	// Issuer is the name shown in authenticator apps; "" means "Shortline".
	Issuer string
	// PasswordSignInOff reports that users must sign in through an identity provider; nil means never.
	PasswordSignInOff func(ctx context.Context) (bool, error)
	// Mail tells users of what happens to their account, and sends the links for a new password. A nil Mail sends nothing.
	Mail *mail.Service
	// Console is the address of the console, to which e-mails lead, such as https://sho.rt.
	Console string
	// Now returns the current time, for codes and lockouts; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg       Config
	store     *store.Store
	auth      *auth.Authenticator
	passwords *auth.Passwords
	lockout   *auth.Lockout
	box       *seal.Box
}

// New returns the use cases, or an error for invalid settings.
func New(cfg Config, st *store.Store, a *auth.Authenticator, passwords *auth.Passwords) (*Service, error) {
	cfg.Issuer = cmp.Or(cfg.Issuer, "Shortline")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	box, err := seal.New("totp", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	return &Service{cfg, st, a, passwords, auth.NewLockout(st, cfg.Now), box}, nil
}

// change locks a user, calls f to change it, and stores it with an audit entry, in one transaction. f may add to the
// entry.
func (s *Service) change(ctx context.Context, p auth.Principal, id string,
	f func(tx *store.Tx, u *store.User, e *audit.Entry) error) (store.User, error) {
	return s.changeAfter(ctx, p, id, func(*store.Tx) error { return nil }, f)
}

func (s *Service) changeAfter(ctx context.Context, p auth.Principal, id string, before func(tx *store.Tx) error,
	f func(tx *store.Tx, u *store.User, e *audit.Entry) error) (u store.User, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := before(tx); err != nil {
			return err
		}
		if u, err = tx.LockUser(ctx, id); err != nil {
			return auth.Missing("User", err)
		}
		e := audit.Entry{UserID: p.UserID, Action: "USER_UPDATED", EntityType: "user", EntityID: id, Old: logged(u)}
		if err := f(tx, &u, &e); err != nil {
			return err
		}
		u.UpdatedAt = store.Now()
		if err := tx.UpdateUser(ctx, u); err != nil {
			return fmt.Errorf("update user: %w", err)
		}
		e.New = logged(u)
		return audit.Append(ctx, tx, e)
	})
	return u, err
}

// logged returns the fields of a user for the audit log.
func logged(u store.User) map[string]any {
	return map[string]any{"email": u.Email, "name": u.Name, "role": u.Role, "status": Status(u), "twoFactorEnabled": u.TOTPEnabled,
		"hasPasskeys": u.HasPasskeys}
}

// Status returns ACTIVE or INACTIVE.
func Status(u store.User) string {
	if u.Active {
		return "ACTIVE"
	}
	return "INACTIVE"
}

// checkPassword validates a new password of the user with this email.
func checkPassword(v *problem.Fields, field, password, email string) {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		v.Add(field, "must have at least %d characters", minPassword)
	case len(password) > auth.MaxPassword:
		v.Add(field, "must have at most %d bytes", auth.MaxPassword)
	case IsCommon(password):
		v.Add(field, "is one of the most common passwords")
	case store.EmailKey(password) == store.EmailKey(email):
		v.Add(field, "must not be the email address")
	}
}

// CheckEmail validates the address of a user and returns it without spaces around it.
func CheckEmail(v *problem.Fields, email string) string {
	email = strings.TrimSpace(email)
	if a, err := netmail.ParseAddress(email); err != nil || a.Address != email || len(email) > maxEmail {
		v.Add("email", "must be an email address")
	}
	return email
}

func checkName(v *problem.Fields, name string) string {
	name = strings.TrimSpace(name)
	if utf8.RuneCountInString(name) > maxName {
		v.Add("name", "must have at most %d characters", maxName)
	}
	return name
}
