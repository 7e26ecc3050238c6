package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/audit"
	"github.com/shortline/shortline/control/internal/auth"
	"github.com/shortline/shortline/control/internal/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Me is the caller's own user.
func (s *Service) Me(ctx context.Context, p auth.Principal) (store.User, error) {
	u, err := s.store.UserByID(ctx, p.UserID)
	return u, missing(err)
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

// ChangePassword changes the caller's own password and ends the caller's other sessions.
func (s *Service) ChangePassword(ctx context.Context, p auth.Principal, current, password string) error {
	var v problem.Fields
	if current == "" {
		v.Add("currentPassword", "is required")
	}
	checkPassword(&v, "newPassword", password)
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
		return endSessions(ctx, tx, u.ID, p.SessionID)
	})
	return err
}

// confirm checks the caller's own password. Wrong ones are counted, as in signing in.
func (s *Service) confirm(ctx context.Context, p auth.Principal, password, field string) error {
	guard := auth.GuardKey("password", p.UserID)
	return s.passwords.Turn(ctx, func() error {
		dirty, err := s.throttle.Check(ctx, guard)
		if err != nil {
			return err
		}
		u, err := s.store.UserByID(ctx, p.UserID)
		if err != nil {
			return missing(err)
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
				return s.throttle.Forget(ctx, tx, guard)
			}
			return s.throttle.Fail(ctx, tx, guard)
		})
		if err == nil && !ok {
			err = problem.OfField(field, "is not right")
		}
		return err
	})
}

func endSessions(ctx context.Context, tx *store.Tx, userID, except string) error {
	if err := tx.DeleteSessions(ctx, userID, except); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}

// TOTPSetup is what an authenticator app needs.
type TOTPSetup struct {
	Secret, Address, Account string
}

// SetUpTOTP draws a new secret for the caller's second factor, which is not on before EnableTOTP.
func (s *Service) SetUpTOTP(ctx context.Context, p auth.Principal) (out TOTPSetup, err error) {
	_, err = s.change(ctx, p, p.UserID, func(_ *store.Tx, u *store.User, e *audit.Entry) error {
		if u.TOTPEnabled {
			return problem.New(problem.Invalid, "Two-factor authentication is on already.")
		}
		secret := auth.NewTOTPSecret()
		sealed := s.box.Seal(place(u.ID), secret)
		u.TOTPSecret, u.TOTPLastStep = &sealed, 0
		e.Metadata = map[string]any{"secondFactor": "set up"}
		out = TOTPSetup{Secret: secret, Address: auth.TOTPAddress(s.cfg.Issuer, u.Email, secret), Account: u.Email}
		return nil
	})
	return out, err
}

func place(userID string) string { return "users|totp_secret|" + userID }

// EnableTOTP turns the caller's second factor on, if the code shows that the app has the secret, and returns
// the recovery codes, which can't be had again.
func (s *Service) EnableTOTP(ctx context.Context, p auth.Principal, code string) (recovery []string, err error) {
	err = s.withCode(ctx, p, func() error {
		_, err := s.change(ctx, p, p.UserID, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
			switch {
			case u.TOTPEnabled:
				return problem.New(problem.Invalid, "Two-factor authentication is on already.")
			case u.TOTPSecret == nil:
				return problem.New(problem.Invalid, "Set up two-factor authentication first.")
			}
			secret, err := s.box.Open(place(u.ID), *u.TOTPSecret)
			if err != nil {
				return fmt.Errorf("open a second factor's secret: %w", err)
			}
			step, ok, err := auth.MatchTOTP(secret, code, s.cfg.Now())
			if err != nil {
				return err
			}
			if !ok || step <= u.TOTPLastStep {
				return errCode
			}
			u.TOTPEnabled, u.TOTPLastStep = true, step
			recovery = auth.NewRecoveryCodes()
			hashes := make([]string, len(recovery))
			for i, c := range recovery {
				hashes[i] = auth.RecoveryHash(u.ID, c)
			}
			e.Action = "TWO_FACTOR_ENABLED"
			return tx.SetRecoveryCodes(ctx, u.ID, hashes)
		})
		return err
	})
	if err != nil {
		recovery = nil
	}
	return recovery, err
}

// DisableTOTP turns the caller's second factor off.
func (s *Service) DisableTOTP(ctx context.Context, p auth.Principal, code, password string) error {
	if u, err := s.Me(ctx, p); err != nil {
		return err
	} else if !u.TOTPEnabled {
		return problem.New(problem.Invalid, "Two-factor authentication is not on.")
	}
	if err := s.confirm(ctx, p, password, "password"); err != nil {
		return err
	}
	return s.withCode(ctx, p, func() error {
		_, err := s.change(ctx, p, p.UserID, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
			if !u.TOTPEnabled {
				return problem.New(problem.Invalid, "Two-factor authentication is not on.")
			}
			if _, err := s.useCode(ctx, tx, *u, code); err != nil {
				return err
			}
			e.Action = "TWO_FACTOR_DISABLED"
			return turnOffTOTP(ctx, tx, u)
		})
		return err
	})
}

func turnOffTOTP(ctx context.Context, tx *store.Tx, u *store.User) error {
	u.TOTPEnabled, u.TOTPSecret, u.TOTPLastStep = false, nil, 0
	return tx.SetRecoveryCodes(ctx, u.ID, nil)
}

// withCode runs f, which checks a code of the caller's, and counts it if the code was wrong.
func (s *Service) withCode(ctx context.Context, p auth.Principal, f func() error) error {
	guard := auth.GuardKey("code", p.UserID)
	return s.passwords.Turn(ctx, func() error { // in turns, so that guesses sent at once are counted
		dirty, err := s.throttle.Check(ctx, guard)
		if err != nil {
			return err
		}
		err = f()
		wrong := errors.Is(err, errCode)
		if wrong {
			err = problem.OfField("code", "is not right")
		}
		if !wrong && (err != nil || !dirty) {
			return err
		}
		count := s.store.Tx(ctx, func(tx *store.Tx) error {
			if wrong {
				return s.throttle.Fail(ctx, tx, guard)
			}
			return s.throttle.Forget(ctx, tx, guard)
		})
		if count != nil {
			return count
		}
		return err
	})
}
