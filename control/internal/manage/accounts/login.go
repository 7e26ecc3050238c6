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

// Credentials are what somebody signs in with. Code is a second factor's or a recovery code, "" if not given.
type Credentials struct {
	Email, Password, Code string
	// Link is an account at an identity provider that is linked with the sign-in; nil means none.
	Link *Link
}

// Link is linked by Write, in the transaction of the sign-in. It belongs to one user.
type Link struct {
	UserID string
	Write  func(ctx context.Context, tx *store.Tx) error
}

// SignedIn is the result of signing in. NeedsCode alone means that the password was right and a code is missing.
type SignedIn struct {
	NeedsCode bool
	User      store.User
	Token     string
	Expires   time.Time
}

var errSignIn = problem.New(problem.Unauthorized, "Email or password is not right.")

// Login signs somebody in. The error is Unauthorized for wrong credentials, TooMany after too many of them.
func (s *Service) Login(ctx context.Context, in Credentials) (out SignedIn, err error) {
	// Where only identity providers let people in, the password still confirms a link to one.
	if s.cfg.PasswordSignInOff != nil && in.Link == nil {
		off, err := s.cfg.PasswordSignInOff(ctx)
		if err != nil {
			return out, fmt.Errorf("ask whether passwords are allowed: %w", err)
		}
		if off {
			return out, problem.New(problem.Forbidden, "Signing in with a password is turned off; use single sign-on.")
		}
	}
	key := auth.LockoutKey("login", store.EmailKey(in.Email), auth.ClientOf(audit.OriginOf(ctx).IP))
	// All of it takes one turn: concurrent attempts must not all pass the lockout check before the first is counted.
	err = s.passwords.Turn(ctx, func() error {
		dirty, err := s.lockout.Check(ctx, key)
		if err != nil {
			return err
		}
		u, err := s.store.UserByEmail(ctx, in.Email)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("look up a user: %w", err)
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
		out, err = s.open(ctx, u.ID, in, key, dirty)
		return err
	})
	return out, err
}

// open begins the session of somebody whose password was right.
func (s *Service) open(ctx context.Context, userID string, in Credentials, key string, dirty bool) (out SignedIn, err error) {
	wrong := false
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockUser(ctx, userID) // again: it may have changed since
		if err != nil {
			return fmt.Errorf("look up a user: %w", err)
		}
		if !u.Active {
			return errSignIn
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
				return fmt.Errorf("forget failures: %w", err)
			}
		}
		if in.Link != nil {
			if in.Link.UserID != u.ID {
				return problem.OfField("linkAccount", "can't be done: the account at the identity provider belongs with another user")
			}
			if err := in.Link.Write(ctx, tx); err != nil {
				return err
			}
		}
		out.User = u
		if out.Token, out.Expires, err = s.auth.OpenSession(ctx, tx, u); err != nil {
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

// failed counts and logs a wrong email or password, and returns what the caller is told.
func (s *Service) failed(ctx context.Context, key, userID, email string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := s.lockout.Fail(ctx, tx, key); err != nil {
			return fmt.Errorf("count a failure: %w", err)
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

// bucketOf spreads failures over a few buckets by their email. Whether there is such a user plays no part in it: what is
// counted is written faster than what is logged, and the time must not tell.
func bucketOf(email string) string {
	h := fnv.New32a()
	h.Write([]byte(store.EmailKey(email)))
	return strconv.Itoa(int(h.Sum32() % 32))
}

// Logout ends the caller's session. A caller with an API key has none.
func (s *Service) Logout(ctx context.Context, p auth.Principal) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		if p.SessionID != "" {
			if err := tx.DeleteSession(ctx, p.UserID, p.SessionID); err != nil {
				return fmt.Errorf("end a session: %w", err)
			}
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "USER_LOGOUT", EntityType: "user", EntityID: p.UserID})
	})
}
