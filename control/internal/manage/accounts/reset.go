package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// ResetFor is how long the link for a new password works.
const ResetFor = 30 * time.Minute

const (
	// resetTime is how long every request for a new password takes, so that the time does not tell whether an account
	// exists. The work takes a few milliseconds.
	resetTime = 250 * time.Millisecond

	resetWindow    = time.Hour
	resetsByClient = 5  // for one account, in a window
	resetsInAll    = 20 // for one account, in a window
)

var errResetToken = problem.OfField("token", "is not valid: it expired or was used already; ask for another link")

// checkResets returns a problem if nobody can choose a new password by e-mail.
func (s *Service) checkResets(ctx context.Context) error {
	if s.cfg.PasswordSignInOff != nil {
		off, err := s.cfg.PasswordSignInOff(ctx)
		if err != nil {
			return fmt.Errorf("check whether password sign-in is off: %w", err)
		}
		if off {
			return problem.New(problem.Forbidden, "Password sign-in is turned off. Use single sign-on.")
		}
	}
	return nil
}

// ResetsPasswords reports whether the installation sends e-mail, which RequestReset needs.
func (s *Service) ResetsPasswords() bool { return s.cfg.Mail.Enabled() }

// RequestReset sends the user with an email a link to choose a new password. The result and its time are the same
// whether the user exists or not. Users who are inactive or have no password get no e-mail. The error is Forbidden if no
// e-mail is ever sent, and TooMany after too many requests for one email.
func (s *Service) RequestReset(ctx context.Context, email string) error {
	if !s.ResetsPasswords() {
		return problem.New(problem.Forbidden, "This installation sends no e-mail. Ask an administrator to reset your password.")
	}
	if err := s.checkResets(ctx); err != nil {
		return err
	}
	var v problem.Fields
	if email = CheckEmail(&v, email); v.Err() != nil {
		return v.Err()
	}
	over := time.NewTimer(resetTime)
	defer over.Stop()
	err := s.store.Tx(ctx, func(tx *store.Tx) error { return s.requestReset(ctx, tx, email) })
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	return err
}

func (s *Service) requestReset(ctx context.Context, tx *store.Tx, email string) error {
	now, from := s.cfg.Now(), audit.OriginOf(ctx)
	for _, limit := range []struct {
		key  string
		most int
	}{
		{auth.LockoutKey("reset", store.EmailKey(email), auth.ClientOf(from.IP)), resetsByClient},
		{auth.LockoutKey("reset", store.EmailKey(email)), resetsInAll},
	} {
		n, until, err := tx.HitRate(ctx, "reset|"+limit.key, now.UnixMilli(), now.Add(resetWindow).UnixMilli())
		if err != nil {
			return fmt.Errorf("count requests for a new password: %w", err)
		}
		if n > limit.most {
			e := problem.New(problem.TooMany, "Too many requests for this email. Look for the e-mail that was sent, or try again later.")
			e.RetryAfter = time.Duration(until-now.UnixMilli()) * time.Millisecond
			return e
		}
	}
	u, err := tx.UserByEmail(ctx, email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("look up user: %w", err)
	}
	sent := err == nil && u.Active && u.PasswordHash != nil
	if sent {
		token, expires := auth.NewToken(), now.Add(ResetFor)
		if err := tx.InsertPasswordReset(ctx, auth.Digest(token), u.ID, expires.UnixMilli()); err != nil {
			return fmt.Errorf("store request for a new password: %w", err)
		}
		// Browsers do not send the part after # to servers, so no log of a proxy contains the token.
		link := strings.TrimSuffix(s.cfg.Console, "/") + "/login#reset=" + token
		if err := s.cfg.Mail.Send(ctx, tx, u.Email, mail.PasswordReset{Link: link, IP: from.IP, Expires: expires}); err != nil {
			return err
		}
	}
	return audit.AppendCounted(ctx, tx, now, bucketOf(email), audit.Entry{
		Action: "PASSWORD_RESET_REQUESTED", EntityType: "user", EntityID: u.ID, Metadata: map[string]any{"success": sent, "email": email},
	})
}

// Reset sets the password of the user who got a token by e-mail. It ends all sessions and deletes all API keys of the
// user, and signs nobody in. The second factor and passkeys stay, because a stranger who can read the user's e-mail must
// not be able to remove them; see takeOver for the exception. A token works once.
func (s *Service) Reset(ctx context.Context, token, password string) error {
	if err := s.checkResets(ctx); err != nil {
		return err
	}
	hash := auth.Digest(token)
	u, err := s.store.PasswordResetUser(ctx, hash, s.cfg.Now().UnixMilli())
	if errors.Is(err, store.ErrNotFound) || err == nil && !u.Active {
		return errResetToken
	}
	if err != nil {
		return fmt.Errorf("look up request for a new password: %w", err)
	}
	var v problem.Fields
	if checkPassword(&v, "newPassword", password, u.Email); v.Err() != nil {
		return v.Err()
	}
	hashed, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, auth.Principal{UserID: u.ID}, u.ID, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
		// Again, because the request may have been used or the user deactivated meanwhile.
		used, err := tx.UsePasswordReset(ctx, hash, s.cfg.Now().UnixMilli())
		if err != nil {
			return fmt.Errorf("use request for a new password: %w", err)
		}
		if !used || !u.Active {
			return errResetToken
		}
		// The client may have locked itself out with wrong passwords before.
		client := auth.ClientOf(audit.OriginOf(ctx).IP)
		if err := s.lockout.Forget(ctx, tx, auth.LockoutKey("login", store.EmailKey(u.Email), client)); err != nil {
			return fmt.Errorf("reset failures: %w", err)
		}
		e.Metadata = map[string]any{"byEmail": true}
		if u.EmailUnproven {
			if err := takeOver(ctx, tx, u); err != nil {
				return err
			}
			e.Metadata["addressProven"] = true
		}
		return s.replacePassword(ctx, tx, u, hashed, e)
	})
	if problem.Is(err, problem.NotFound) { // the user was deleted meanwhile
		return errResetToken
	}
	return err
}

// takeOver gives an account to the owner of its address. A stranger with a copied invitation may have created the
// account, and the second factor and passkeys of the stranger must not outlive the proof of the address. UpdateUser
// writes the changed user.
func takeOver(ctx context.Context, tx *store.Tx, u *store.User) error {
	u.TOTPSecret, u.TOTPEnabled, u.TOTPLastStep = nil, false, 0
	if err := tx.SetRecoveryCodes(ctx, u.ID, nil); err != nil {
		return fmt.Errorf("delete recovery codes: %w", err)
	}
	if _, err := tx.DeletePasskeys(ctx, u.ID); err != nil {
		return fmt.Errorf("delete passkeys: %w", err)
	}
	u.HasPasskeys = false
	if err := tx.VerifyEmail(ctx, u.ID); err != nil {
		return fmt.Errorf("note the proof of the address: %w", err)
	}
	u.EmailUnproven = false
	return nil
}
