package accounts

import (
	"cmp"
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// List returns a page of users and the total number.
func (s *Service) List(ctx context.Context, p auth.Principal, f store.UserFilter, limit, offset int) ([]store.User, int, error) {
	if err := auth.AdminOnly(p); err != nil {
		return nil, 0, err
	}
	return s.store.Users(ctx, f, limit, offset)
}

// Get returns a user.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.User, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.User{}, err
	}
	u, err := s.store.UserByID(ctx, id)
	return u, auth.Missing("User", err)
}

// NewUser is the input of Create. Role "" means USER.
type NewUser struct {
	Email, Password, Name string
	Role                  auth.Role

	madeBy string // id of the API key of the request
}

// Create adds a user. If the email is in use, the error is a Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, in NewUser) (store.User, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.User{}, err
	}
	in.madeBy = p.KeyID
	return s.create(ctx, p.UserID, in)
}

func (s *Service) create(ctx context.Context, by string, in NewUser) (u store.User, err error) {
	if u, err = s.Prepare(ctx, in); err != nil {
		return u, err
	}
	return u, s.insert(ctx, by, &u)
}

func (s *Service) insert(ctx context.Context, by string, u *store.User) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		e, err := Insert(ctx, tx, u)
		if err != nil {
			return err
		}
		e.UserID = by
		return audit.Append(ctx, tx, e)
	})
}

// Prepare checks the input for a new user and hashes the password. It does not check whether the email is in use. Call
// Insert with the result.
func (s *Service) Prepare(ctx context.Context, in NewUser) (u store.User, err error) {
	in.Role = cmp.Or(in.Role, auth.User)
	var v problem.Fields
	in.Email = CheckEmail(&v, in.Email)
	in.Name = checkName(&v, in.Name)
	checkPassword(&v, "password", in.Password, in.Email)
	if in.Role != auth.User && in.Role != auth.Admin {
		v.Add("role", "must be USER or ADMIN")
	}
	if err := v.Err(); err != nil {
		return u, err
	}
	hash, err := s.passwords.Hash(ctx, in.Password)
	if err != nil {
		return u, err
	}
	now := store.Now()
	return store.User{
		ID: store.NewID(), Email: in.Email, Name: in.Name, Role: string(in.Role), Active: true, PasswordHash: &hash, MadeBy: in.madeBy,
		CreatedAt: now, UpdatedAt: now,
	}, nil
}

// Insert writes a user that Prepare has made, and returns the entry for the audit log, without who did it. If the email
// is in use, the error is a Conflict.
func Insert(ctx context.Context, tx *store.Tx, u *store.User) (e audit.Entry, err error) {
	if u.Num, err = tx.InsertUser(ctx, *u); err != nil {
		if _, taken := store.Unique(err); taken {
			return e, &problem.Error{Kind: problem.Conflict, Message: "A user with this email already exists.",
				Fields: []problem.Field{{Field: "email", Message: "is in use"}}}
		}
		return e, fmt.Errorf("insert user: %w", err)
	}
	return audit.Entry{Action: "USER_CREATED", EntityType: "user", EntityID: u.ID, New: logged(*u)}, nil
}

// Name changes a user's name.
func (s *Service) Name(ctx context.Context, p auth.Principal, id, name string) (store.User, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.User{}, err
	}
	return s.rename(ctx, p, id, name)
}

// SetRole changes another user's role and ends that user's sessions.
func (s *Service) SetRole(ctx context.Context, p auth.Principal, id string, role auth.Role) (store.User, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.User{}, err
	}
	if role != auth.User && role != auth.Admin {
		return store.User{}, problem.OfField("role", "must be USER or ADMIN")
	}
	if id == p.UserID {
		return store.User{}, problem.OfField("role", "of your own account cannot be changed by yourself")
	}
	return s.administer(ctx, p, id, role == auth.Admin, func(tx *store.Tx, u *store.User, _ *audit.Entry) error {
		if u.Role == string(role) {
			return nil
		}
		u.Role = string(role)
		return endSessions(ctx, tx, u.ID, "")
	})
}

// SetActive activates another user, or deactivates them immediately.
func (s *Service) SetActive(ctx context.Context, p auth.Principal, id string, active bool) (store.User, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.User{}, err
	}
	if id == p.UserID && !active {
		return store.User{}, problem.OfField("status", "of your own account cannot be changed by yourself")
	}
	return s.administer(ctx, p, id, active, func(tx *store.Tx, u *store.User, _ *audit.Entry) error {
		if u.Active = active; active {
			return nil
		}
		return endSessions(ctx, tx, u.ID, "")
	})
}

// Deactivate deactivates a locked user within tx and returns the entry for the audit log, without who did it. The caller makes
// sure that an active administrator stays.
func Deactivate(ctx context.Context, tx *store.Tx, u *store.User) (audit.Entry, error) {
	e := audit.Entry{Action: "USER_UPDATED", EntityType: "user", EntityID: u.ID, Old: logged(*u)}
	u.Active, u.UpdatedAt = false, store.Now()
	if err := tx.UpdateUser(ctx, *u); err != nil {
		return e, fmt.Errorf("update user: %w", err)
	}
	e.New = logged(*u)
	return e, endSessions(ctx, tx, u.ID, "")
}

// administer is change for another user. If the user does not stay an active admin, another active admin must exist.
func (s *Service) administer(ctx context.Context, p auth.Principal, id string, stays bool,
	f func(tx *store.Tx, u *store.User, e *audit.Entry) error) (store.User, error) {
	if stays {
		return s.change(ctx, p, id, f)
	}
	return s.changeAfter(ctx, p, id, func(tx *store.Tx) error { return otherAdmin(ctx, tx, id) }, f)
}

// otherAdmin returns an error if there is no active admin except for the user.
func otherAdmin(ctx context.Context, tx *store.Tx, id string) error {
	admins, err := tx.LockAdmins(ctx)
	if err != nil {
		return fmt.Errorf("count admins: %w", err)
	}
	if len(admins) == 1 && admins[0] == id {
		return problem.New(problem.Invalid, "The last active administrator must stay.")
	}
	return nil
}

// ResetPassword sets another user's password, ends the user's sessions and deletes the user's API keys and passkeys.
// Administrators use it for a compromised account, in which a stranger may have registered a passkey.
func (s *Service) ResetPassword(ctx context.Context, p auth.Principal, id, password string) error {
	if err := auth.AdminOnly(p); err != nil {
		return err
	}
	if id == p.UserID {
		return problem.New(problem.Invalid, "You cannot reset your own password. Change it with PUT /api/auth/password.")
	}
	u, err := s.Get(ctx, p, id)
	if err != nil {
		return err
	}
	return s.resetPassword(ctx, p, u, password, map[string]any{})
}

// resetPassword is ResetPassword without its checks of the caller. It adds metadata to the audit entry.
func (s *Service) resetPassword(ctx context.Context, p auth.Principal, u store.User, password string, metadata map[string]any) error {
	var v problem.Fields
	if checkPassword(&v, "newPassword", password, u.Email); v.Err() != nil {
		return v.Err()
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, p, u.ID, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
		passkeys, err := tx.DeletePasskeys(ctx, u.ID)
		if err != nil {
			return fmt.Errorf("delete passkeys: %w", err)
		}
		u.HasPasskeys = false
		metadata["removedPasskeys"] = passkeys
		e.Metadata = metadata
		return s.replacePassword(ctx, tx, u, hash, e)
	})
	return err
}

// TurnOffSecondFactors turns off the authenticator app of another user and removes the user's passkeys, after the user
// has lost the devices. The password still works.
func (s *Service) TurnOffSecondFactors(ctx context.Context, p auth.Principal, id string) (store.User, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.User{}, err
	}
	if id == p.UserID {
		return store.User{},
			problem.New(problem.Invalid, "You cannot turn off your own second factor here. Use POST /api/auth/2fa/disable.")
	}
	return s.turnOffSecondFactors(ctx, p, id, map[string]any{"byAdministrator": true})
}

// turnOffSecondFactors is TurnOffSecondFactors without its checks of the caller. It adds metadata to the audit entry.
func (s *Service) turnOffSecondFactors(ctx context.Context, p auth.Principal, id string, metadata map[string]any) (store.User, error) {
	return s.change(ctx, p, id, func(tx *store.Tx, u *store.User, e *audit.Entry) error {
		passkeys, err := tx.DeletePasskeys(ctx, u.ID)
		if err != nil {
			return fmt.Errorf("delete passkeys: %w", err)
		}
		if u.TOTPEnabled || passkeys > 0 {
			metadata["removedPasskeys"] = passkeys
			e.Action, e.Metadata = "TWO_FACTOR_DISABLED", metadata
			if err := s.factorChanged(ctx, tx, *u, mail.FactorDisabled); err != nil {
				return err
			}
		}
		u.HasPasskeys = false
		return turnOffTOTP(ctx, tx, u)
	})
}

// Delete removes another user with the personal workspace, keys and sessions; see workspaces.Notices.RemoveUser. The error is a
// Conflict with counts if f does not say what becomes of links and bundles.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string, f workspaces.Fate) error {
	if err := auth.AdminOnly(p); err != nil {
		return err
	}
	if id == p.UserID {
		return problem.New(problem.Invalid, "You cannot delete your own account.")
	}
	notices := workspaces.Notices{Mail: s.cfg.Mail, Console: s.cfg.Console}
	return notices.RemoveUser(ctx, s.store, p, id, f, func(ctx context.Context, tx *store.Tx) error { return otherAdmin(ctx, tx, id) },
		func(u store.User) audit.Entry {
			return audit.Entry{UserID: p.UserID, Action: "USER_DELETED", EntityType: "user", EntityID: id, Old: logged(u)}
		})
}
