package accounts

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Me returns the caller's own user.
func (s *Service) Me(ctx context.Context, p auth.Principal) (store.User, error) {
	u, err := s.store.UserByID(ctx, p.UserID)
	return u, auth.Missing("User", err)
}

// Rename changes the caller's own name.
func (s *Service) Rename(ctx context.Context, p auth.Principal, name string) (store.User, error) {
	return s.rename(ctx, p, p.UserID, name)
}

func (s *Service) rename(ctx context.Context, p auth.Principal, id, name string) (store.User, error) {
	var v problem.Fields
	if name = checkName(&v, name); v.Err() != nil {
		return store.User{}, v.Err()
	}
	return s.change(ctx, p, id, func(_ *store.Tx, u *store.User, _ *audit.Entry) error {
		u.Name = name
		return nil
	})
}

// ChangePassword changes the caller's own password and ends the caller's other sessions. On request, it deletes the
// caller's API keys.
func (s *Service) ChangePassword(ctx context.Context, p auth.Principal, current, password string, revokeKeys bool) error {
	var v problem.Fields
	if current == "" {
		v.Add("currentPassword", "is required")
	}
	checkPassword(&v, "newPassword", password, p.Email)
	if err := v.Err(); err != nil {
		return err
	}
	if err := s.confirm(ctx, p, current, "currentPassword"); err != nil {
		return err
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, p, p.UserID, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
		u.PasswordHash = &hash
		e.Action = "PASSWORD_CHANGED"
		if revokeKeys {
			keys, err := tx.DeleteKeys(ctx, u.ID)
			if err != nil {
				return fmt.Errorf("delete API keys: %w", err)
			}
			e.Metadata = map[string]any{"revokedApiKeys": keys}
		}
		return s.passwordChanged(ctx, tx, *u, p.SessionID)
	})
	return err
}

// confirm checks the caller's own password. It counts wrong passwords, as Login does.
func (s *Service) confirm(ctx context.Context, p auth.Principal, password, field string) error {
	key := auth.LockoutKey("password", p.UserID)
	return s.passwords.Turn(ctx, func() error {
		dirty, err := s.lockout.Check(ctx, key)
		if err != nil {
			return err
		}
		u, err := s.store.UserByID(ctx, p.UserID)
		if err != nil {
			return auth.Missing("User", err)
		}
		ok, err := s.passwords.Matches(u.PasswordHash, password)
		if err != nil {
			return err
		}
		if ok && !dirty {
			return nil
		}
		err = s.store.Tx(ctx, func(tx *store.Tx) error {
			if ok {
				return s.lockout.Forget(ctx, tx, key)
			}
			_, err := s.lockout.Fail(ctx, tx, key)
			return err
		})
		if err == nil && !ok {
			err = wrongPassword(field)
		}
		return err
	})
}

// wrongPassword returns the error for a wrong current password. It does not end the session.
func wrongPassword(field string) error {
	return &problem.Error{Kind: problem.Invalid, Message: "The current password is not right.",
		Fields: []problem.Field{{Field: field, Message: "is not right"}}}
}

// passwordChanged ends what the old password gave access to, except for one session, and tells the user.
func (s *Service) passwordChanged(ctx context.Context, tx *store.Tx, u store.User, except string) error {
	if err := tx.DeletePasswordResets(ctx, u.ID); err != nil {
		return fmt.Errorf("delete requests for a new password: %w", err)
	}
	if err := endSessions(ctx, tx, u.ID, except); err != nil {
		return err
	}
	return s.cfg.Mail.Send(ctx, tx, u.Email, mail.PasswordChanged{Event: s.event(ctx)})
}

// replacePassword sets the password of a user who may have lost control of the account: it also deletes the API keys. It
// adds to the entry's metadata, which must not be nil.
func (s *Service) replacePassword(ctx context.Context, tx *store.Tx, u *store.User, hash string, e *audit.Entry) error {
	u.PasswordHash = &hash
	keys, err := tx.DeleteKeys(ctx, u.ID)
	if err != nil {
		return fmt.Errorf("delete API keys: %w", err)
	}
	e.Action = "PASSWORD_CHANGED"
	e.Metadata["reset"], e.Metadata["revokedApiKeys"] = true, keys
	return s.passwordChanged(ctx, tx, *u, "")
}

func endSessions(ctx context.Context, tx *store.Tx, userID, except string) error {
	if _, err := tx.DeleteSessions(ctx, userID, except); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}
