package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

var errCode = errors.New("the code is not right")

// codeLockout returns the lockout key of a user's wrong codes. It is the same for all clients, because only a caller
// with the user's password or session can try a code.
func codeLockout(userID string) string { return auth.LockoutKey("code", userID) }

// signInCode checks a code after the right password. The caller has locked the user's row, so concurrent attempts at
// all replicas are counted one after the other. A wrong code is counted and logged in this transaction, which must
// commit; therefore it sets wrong and does not return an error.
func (s *Service) signInCode(ctx context.Context, tx *store.Tx, u store.User, code string) (how string, wrong bool, err error) {
	key := codeLockout(u.ID)
	dirty, err := s.lockout.CheckTx(ctx, tx, key)
	if err != nil {
		return "", false, err
	}
	how, err = s.useCode(ctx, tx, u, code)
	if errors.Is(err, errCode) {
		locked, err := s.lockout.Fail(ctx, tx, key)
		if err != nil {
			return "", true, fmt.Errorf("count failure: %w", err)
		}
		return "", true, s.logWrongCode(ctx, tx, u, locked)
	}
	if err == nil && dirty {
		err = s.lockout.Forget(ctx, tx, key)
	}
	return how, false, err
}

// logWrongCode logs that a caller knows the user's password but not the second factor. The entry contains the lockout,
// if this attempt causes one: the user should change the password.
func (s *Service) logWrongCode(ctx context.Context, tx *store.Tx, u store.User, lock time.Duration) error {
	e := audit.Entry{
		Action: "USER_LOGIN", EntityType: "user", EntityID: u.ID, Metadata: map[string]any{"success": false, "email": u.Email,
			"reason": "second factor"},
	}
	if lock > 0 {
		e.Metadata["notice"] = "The password was right and the second factor was wrong too often; it is locked for everybody."
		e.Metadata["lockedSeconds"] = int(lock.Seconds())
		if err := s.factorLocked(ctx, tx, u.Email, lock); err != nil {
			return err
		}
	}
	return audit.Append(ctx, tx, e)
}

// useCode consumes a time-based code or a recovery code of a locked user. The error is errCode if the code is wrong or
// used.
func (s *Service) useCode(ctx context.Context, tx *store.Tx, u store.User, code string) (how string, err error) {
	if u.TOTPSecret == nil {
		return "", errors.New("BUG: a second factor is on without a secret")
	}
	secret, err := s.box.Open(place(u.ID), *u.TOTPSecret)
	if err != nil {
		return "", fmt.Errorf("decrypt secret of second factor: %w", err)
	}
	step, ok, err := auth.MatchTOTP(secret, code, s.cfg.Now())
	if err != nil {
		return "", err
	}
	if ok {
		how = "totp"
		ok, err = tx.UseTOTPStep(ctx, u.ID, step)
	} else {
		how = "recovery code"
		ok, err = tx.UseRecoveryCode(ctx, u.ID, auth.RecoveryHash(u.ID, code))
	}
	if err != nil {
		return "", fmt.Errorf("use code: %w", err)
	}
	if !ok {
		return "", errCode
	}
	return how, nil
}

// TOTPSetup is the input of an authenticator app.
type TOTPSetup struct {
	Secret, Address, Account string
}

// justSignedIn is how long after a sign-in the setup of a second factor needs no password.
const justSignedIn = 10 * time.Minute

// Confirm returns an error unless the caller has signed in recently or the password is the caller's. Without a
// password, "" is passed. Wrong passwords are counted, as in Login.
func (s *Service) Confirm(ctx context.Context, p auth.Principal, password string) error {
	if password != "" {
		return s.confirm(ctx, p, password, "password")
	}
	if s.cfg.Now().Sub(p.SignedInAt) > justSignedIn {
		return problem.New(problem.Forbidden, "Your sign-in is too long ago. Sign in again, or send your current password as \"password\".")
	}
	return nil
}

// SetUpTOTP generates a secret for the caller's second factor. The second factor is off until EnableTOTP. It requires
// the current password or a recent sign-in, because otherwise the thief of a session could lock the owner out.
func (s *Service) SetUpTOTP(ctx context.Context, p auth.Principal, password string) (out TOTPSetup, err error) {
	if err := s.Confirm(ctx, p, password); err != nil {
		return out, err
	}
	_, err = s.change(ctx, p, p.UserID, func(_ *store.Tx, u *store.User, e *audit.Entry) error {
		if u.TOTPEnabled {
			return problem.New(problem.Invalid, "Two-factor authentication is already on.")
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

// EnableTOTP turns the caller's second factor on if the code is right, and returns the recovery codes, which cannot be
// read again.
func (s *Service) EnableTOTP(ctx context.Context, p auth.Principal, code string) (recovery []string, err error) {
	err = s.withCode(ctx, p, func() error {
		_, err := s.change(ctx, p, p.UserID, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
			switch {
			case u.TOTPEnabled:
				return problem.New(problem.Invalid, "Two-factor authentication is already on.")
			case u.TOTPSecret == nil:
				return problem.New(problem.Invalid, "Set up two-factor authentication first.")
			}
			secret, err := s.box.Open(place(u.ID), *u.TOTPSecret)
			if err != nil {
				return fmt.Errorf("decrypt secret of second factor: %w", err)
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
			hashes := each.Of(recovery, func(c string) string { return auth.RecoveryHash(u.ID, c) })
			e.Action = "TWO_FACTOR_ENABLED"
			if err := s.factorChanged(ctx, tx, *u, mail.FactorEnabled); err != nil {
				return err
			}
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
			if err := s.factorChanged(ctx, tx, *u, mail.FactorDisabled); err != nil {
				return err
			}
			if err := turnOffTOTP(ctx, tx, u); err != nil {
				return err
			}
			if err := tx.UpdateUser(ctx, *u); err != nil { // so that the check sees the change
				return fmt.Errorf("update user: %w", err)
			}
			return auth.KeepsSecondFactor(ctx, tx, u.ID)
		})
		return err
	})
}

func turnOffTOTP(ctx context.Context, tx *store.Tx, u *store.User) error {
	u.TOTPEnabled, u.TOTPSecret, u.TOTPLastStep = false, nil, 0
	return tx.SetRecoveryCodes(ctx, u.ID, nil)
}

// withCode calls f, which checks a code of the caller, and counts a wrong code.
func (s *Service) withCode(ctx context.Context, p auth.Principal, f func() error) error {
	key := codeLockout(p.UserID)
	return s.passwords.Turn(ctx, func() error { // so that concurrent attempts are counted
		dirty, err := s.lockout.Check(ctx, key)
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
				locked, err := s.lockout.Fail(ctx, tx, key)
				if err == nil && locked > 0 {
					err = s.factorLocked(ctx, tx, p.Email, locked)
				}
				return err
			}
			return s.lockout.Forget(ctx, tx, key)
		})
		if count != nil {
			return count
		}
		return err
	})
}
