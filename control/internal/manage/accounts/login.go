package accounts

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Credentials are the input of a sign-in. Code is a code of the second factor or a recovery code; "" if not given.
type Credentials struct {
	Email, Password, Code string
	// Link is a pending link to an account at an identity provider, which the sign-in confirms; nil means none.
	Link *Link
}

// Link is a pending link of one user. Write stores it in the transaction of the sign-in.
type Link struct {
	UserID string
	Write  func(ctx context.Context, tx *store.Tx) error
}

// SignedIn is the result of a sign-in. If only NeedsCode is set, the password was right and a code is required.
type SignedIn struct {
	NeedsCode bool
	User      store.User
	Token     string
	Expires   time.Time
}

var errSignIn = problem.New(problem.Unauthorized, "Email or password is not right.")

// Login signs a user in. The error is Unauthorized for wrong credentials, and TooMany during a lockout.
func (s *Service) Login(ctx context.Context, in Credentials) (out SignedIn, err error) {
	// With password sign-in turned off, a password still confirms a pending link.
	if s.cfg.PasswordSignInOff != nil && in.Link == nil {
		off, err := s.cfg.PasswordSignInOff(ctx)
		if err != nil {
			return out, fmt.Errorf("check whether password sign-in is off: %w", err)
		}
		if off {
			return out, problem.New(problem.Forbidden, "Password sign-in is turned off. Use single sign-on.")
		}
	}
	key := auth.LockoutKey("login", store.EmailKey(in.Email), auth.ClientOf(audit.OriginOf(ctx).IP))
	// Use one turn for everything: concurrent attempts must not all pass the lockout check before the first one is
	// counted.
	err = s.passwords.Turn(ctx, func() error {
		dirty, err := s.lockout.Check(ctx, key)
		if err != nil {
			return err
		}
		u, err := s.store.UserByEmail(ctx, in.Email)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("look up user: %w", err)
		}
		ok, err := s.passwords.Matches(u.PasswordHash, in.Password)
		if err != nil {
			return err
		}
		if !ok || !u.Active {
			return s.failed(ctx, key, u.ID, in.Email)
		}
		if u.TOTPEnabled && strings.TrimSpace(in.Code) == "" {
			out.NeedsCode = true
			return nil
		}
		out, err = s.startSession(ctx, u.ID, in, key, dirty)
		return err
	})
	return out, err
}

// startSession starts a session after the right password.
func (s *Service) startSession(ctx context.Context, userID string, in Credentials, key string, dirty bool) (out SignedIn, err error) {
	wrong := false
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockUser(ctx, userID) // again, because it may have changed
		if err != nil {
			return fmt.Errorf("look up user: %w", err)
		}
		if !u.Active {
			return errSignIn
		}
		if err := passkeyInstead(ctx, tx, u); err != nil {
			return err
		}
		meta := map[string]any{"success": true}
		if u.TOTPEnabled {
			how, not, err := s.signInCode(ctx, tx, u, in.Code)
			if wrong = not; wrong || err != nil {
				return err
			}
			meta["secondFactor"] = how
		}
		if dirty {
			if err := s.lockout.Forget(ctx, tx, key); err != nil {
				return fmt.Errorf("reset failures: %w", err)
			}
		}
		if in.Link != nil {
			if in.Link.UserID != u.ID {
				return problem.OfField("linkAccount", "is not possible: the account at the identity provider belongs to another user")
			}
			if err := in.Link.Write(ctx, tx); err != nil {
				return err
			}
		}
		out.User = u
		from := audit.OriginOf(ctx)
		how := auth.SignIn{IP: from.IP, UserAgent: from.UserAgent, SecondFactor: u.TOTPEnabled}
		if out.Token, out.Expires, err = s.auth.OpenSession(ctx, tx, u, how); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: u.ID, Action: "USER_LOGIN", EntityType: "user", EntityID: u.ID, Metadata: meta})
	})
	if err == nil && wrong {
		err = problem.New(problem.Unauthorized, "The code is not right.")
	}
	if err != nil {
		out = SignedIn{}
	}
	return out, err
}

// passkeyInstead refuses a password alone if the installation requires a second factor and passkeys are the only one that
// the user has. Otherwise the password would be enough for accounts with passkeys.
func passkeyInstead(ctx context.Context, tx *store.Tx, u store.User) error {
	if u.TOTPEnabled || !u.HasPasskeys {
		return nil
	}
	required, err := tx.Requires2FA(ctx)
	if err != nil {
		return fmt.Errorf("check whether a second factor is required: %w", err)
	}
	if required {
		return problem.New(problem.Forbidden, "A second factor is required. Sign in with your passkey.")
	}
	return nil
}

// failed counts and logs a wrong email or password, and returns the error for the caller.
func (s *Service) failed(ctx context.Context, key, userID, email string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := s.lockout.Fail(ctx, tx, key); err != nil {
			return fmt.Errorf("count failure: %w", err)
		}
		if len(email) > maxEmail {
			email = strings.ToValidUTF8(email[:maxEmail], "")
		}
		return audit.AppendCounted(ctx, tx, s.cfg.Now(), bucketOf(email), audit.Entry{
			Action: "USER_LOGIN", EntityType: "user", EntityID: userID, Metadata: map[string]any{"success": false, "email": email},
		})
	})
	if err != nil {
		return err
	}
	return errSignIn
}

// bucketOf distributes failures over a few buckets by email. It does not depend on whether the user exists: counting is
// faster than logging, so the response time would reveal it.
func bucketOf(email string) string {
	h := fnv.New32a()
	h.Write([]byte(store.EmailKey(email)))
	return strconv.Itoa(int(h.Sum32() % 32))
}

// Logout ends the caller's session. It does nothing for a caller with an API key.
func (s *Service) Logout(ctx context.Context, p auth.Principal) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		if p.SessionID != "" {
			if _, err := tx.DeleteSession(ctx, p.UserID, p.SessionID); err != nil && !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("end session: %w", err)
			}
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "USER_LOGOUT", EntityType: "user", EntityID: p.UserID})
	})
}
