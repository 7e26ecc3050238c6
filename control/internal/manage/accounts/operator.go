package accounts

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// FirstAdmin tells a program what to show the operator about the first administrator.
type FirstAdmin struct {
	Email string
	// Password is the generated password, until the first sign-in; "" if there is nothing to show.
	Password string
	// Ignored reports that the given password is not that of the given email, because users exist already.
	Ignored bool
}

// EnsureAdmin creates the first administrator if there are no users. For password "", it generates one and returns it, at
// this start and at later ones, until somebody has signed in with it or changed it. A start that fails before the operator
// has read the password is therefore no loss. The password is stored nowhere: it is derived from the encryption key and the
// user's random id.
func (s *Service) EnsureAdmin(ctx context.Context, email, password string) (FirstAdmin, error) {
	u, err := s.store.FirstUser(ctx)
	if errors.Is(err, store.ErrNotFound) {
		u, err = s.createFirst(ctx, email, password)
		switch {
		case err == nil && password != "":
			return FirstAdmin{}, nil
		case problem.Is(err, problem.Conflict): // another replica was faster
			u, err = s.store.FirstUser(ctx)
		}
	}
	if err != nil {
		return FirstAdmin{}, err
	}
	first := FirstAdmin{}
	if password != "" {
		if first.Ignored, err = s.differs(ctx, email, password); err != nil {
			return first, fmt.Errorf("compare the password of the first administrator: %w", err)
		}
	}
	generated, err := s.unusedPassword(ctx, u)
	if err != nil {
		return first, fmt.Errorf("look up the first administrator: %w", err)
	}
	if generated != "" {
		first.Email, first.Password = u.Email, generated
	}
	return first, nil
}

// createFirst creates the first administrator, for password "" with the password that is derived from the id.
func (s *Service) createFirst(ctx context.Context, email, password string) (store.User, error) {
	id := store.NewID()
	if password == "" {
		var err error
		if password, err = firstPassword(s.cfg.EncryptionKeys[0], id); err != nil {
			return store.User{}, err
		}
	}
	u, err := s.Prepare(ctx, NewUser{Email: email, Password: password, Role: auth.Admin})
	if err == nil {
		u.ID = id
		err = s.insert(ctx, "", &u)
	}
	var p *problem.Error
	if errors.As(err, &p) {
		err = fmt.Errorf("the first administrator (ADMIN_EMAIL, ADMIN_PASSWORD): %w", err)
	}
	return u, err
}

// firstPassword derives the password of the first administrator.
func firstPassword(key []byte, userID string) (string, error) {
	b, err := hkdf.Key(sha256.New, key, nil, "shortline/first password/"+userID, 16)
	if err != nil {
		return "", fmt.Errorf("derive the first password: %w", err)
	}
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b), nil
}

// unusedPassword returns the derived password of a user who still has it and has never signed in; "" if there is none.
func (s *Service) unusedPassword(ctx context.Context, u store.User) (string, error) {
	used, err := s.store.HasSignedIn(ctx, u.ID)
	if err != nil || used || !u.Active {
		return "", err
	}
	for _, key := range s.cfg.EncryptionKeys { // the key may have been changed since
		password, err := firstPassword(key, u.ID)
		if err != nil {
			return "", err
		}
		if same, err := s.passwords.Verify(ctx, u.PasswordHash, password); err != nil || same {
			return password, err
		}
	}
	return "", nil
}

// differs reports whether a password is not that of a user.
func (s *Service) differs(ctx context.Context, email, password string) (bool, error) {
	u, err := s.store.UserByEmail(ctx, email)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	same, err := s.passwords.Verify(ctx, u.PasswordHash, password)
	return !same, err
}

// The operator of the machine acts without a session: a process that can read the database and its keys needs no permission of a
// user. The audit log has these acts with "byOperator" and without a user.

// CreateAdmin creates a user with the role ADMIN, on behalf of the operator.
func (s *Service) CreateAdmin(ctx context.Context, email, password string) (store.User, error) {
	return s.create(ctx, "", NewUser{Email: email, Password: password, Role: auth.Admin})
}

// ResetPasswordOf sets the password of a user, on behalf of the operator, with the consequences of ResetPassword.
func (s *Service) ResetPasswordOf(ctx context.Context, email, password string) (store.User, error) {
	u, err := s.store.UserByEmail(ctx, email)
	if err != nil {
		return u, auth.Missing("User", err)
	}
	return u, s.resetPassword(ctx, auth.Principal{}, u, password, byOperator())
}

// TurnOffSecondFactorsOf turns off the authenticator app of a user and removes the passkeys, on behalf of the operator.
// had reports whether the user had any.
func (s *Service) TurnOffSecondFactorsOf(ctx context.Context, email string) (u store.User, had bool, err error) {
	if u, err = s.store.UserByEmail(ctx, email); err != nil {
		return u, false, auth.Missing("User", err)
	}
	if had = u.TOTPEnabled || u.HasPasskeys; !had {
		return u, false, nil
	}
	u, err = s.turnOffSecondFactors(ctx, auth.Principal{}, u.ID, byOperator())
	return u, had, err
}

func byOperator() map[string]any { return map[string]any{"byOperator": true} }
