package peopleapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// User describes a user.
type User struct {
	ID               string   `json:"id"`
	Email            string   `json:"email"`
	Name             string   `json:"name"`
	Role             string   `json:"role" enum:"ADMIN,USER"`
	Status           string   `json:"status" enum:"ACTIVE,INACTIVE"`
	IsActive         bool     `json:"isActive" doc:"Whether status is ACTIVE."`
	TwoFactorEnabled bool     `json:"twoFactorEnabled" doc:"Whether an authenticator app is set up."`
	HasPasskeys      bool     `json:"hasPasskeys" doc:"Whether the user has a passkey, which counts as both factors."`
	EmailVerified    bool     `json:"emailVerified" doc:"False if the account was made with a copied invitation link, and nobody has shown since that the address belongs to the user."`
	CreatedAt        kit.Time `json:"createdAt"`
	UpdatedAt        kit.Time `json:"updatedAt"`
}

func userOf(u store.User) User {
	return User{u.ID, u.Email, u.Name, u.Role, accounts.Status(u), u.Active, u.TOTPEnabled, u.HasPasskeys, !u.EmailUnproven,
		kit.Time(u.CreatedAt), kit.Time(u.UpdatedAt)}
}

var userResource = kit.Resource{
	Tag: "Users", About: "Manage users. Administrators only.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerUsers() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		e := kit.Endpoint{Method: method, Path: "/api/users" + path, ID: id, Summary: summary, Tag: "Users", Need: kit.Admin}
		if method == http.MethodPost && path != "" || method == http.MethodDelete {
			e.Status = http.StatusOK
		}
		e.Escalates = method != http.MethodGet && path != "/{id}/name"
		return e
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listUsers", "List users").
		About("A page of users, newest first."), s.listUsers)
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createUser", "Create a user").
		About("Requires a session, as do all changes of users except for the name: API keys get 403. Email addresses are unique, ignoring case.").
		Example(`{"email":"bob@example.com","password":"battery staple","role":"USER"}`).Fails(http.StatusConflict), s.createUser)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getUser", "Get a user").
		About("Returns a user with role and status."), s.getUser)
	remove := declare(http.MethodDelete, "/{id}", "deleteUser", "Delete a user").
		About("Ends the user's sessions and deletes their keys and personal workspace, and the workspaces of teams that would have no OWNER. " +
			"If these have links or bundles, the response is 409 with their `counts`, unless `transferTo` or `deleteLinks` says what becomes of " +
			"them. Elsewhere, the OWNER who joined first takes over what the user has created. You cannot delete yourself or the last active " +
			"administrator.").Fails(http.StatusConflict)
	remove.Timeout = deletion
	kit.Handle(s.Kit, remove, s.deleteUser)
	kit.Handle(s.Kit, declare(http.MethodPatch, "/{id}/role", "setUserRole", "Change another user's role").
		About("Ends the user's sessions. You cannot change your own role or that of the last active administrator.").
		Example(`{"role":"ADMIN"}`), s.setUserRole)
	kit.Handle(s.Kit, declare(http.MethodPatch, "/{id}/status", "setUserStatus", "Activate or deactivate a user").
		About("Deactivation ends the user's sessions and disables their keys immediately. Their links keep working. `isActive` is an "+
			"alternative to `status`.").
		Example(`{"status":"INACTIVE"}`), s.setUserStatus)
	kit.Handle(s.Kit, declare(http.MethodPatch, "/{id}/name", "setUserName", "Change a user's name").
		About("Sets the user's name, which other users see.").
		Example(`{"name":"Bob"}`), s.setUserName)
	kit.Handle(s.Kit, declare(http.MethodPatch, "/{id}/2fa", "turnOffUser2FA", "Turn off a user's second factor and remove their passkeys").
		About("For users who have lost their devices: turns the authenticator app off and removes all passkeys. The password still works. "+
			"Only the user can turn the second factor on.").
		Example(`{"enabled":false}`), s.turnOffUserTOTP)
	kit.Handle(s.Kit, declare(http.MethodPost, "/{id}/reset-password", "resetUserPassword", "Set a user's password").
		About("Sets another user's password, ends all their sessions, and deletes their API keys and passkeys. Change your own password at "+
			"/api/auth/password.").
		Example(`{"newPassword":"battery staple"}`), s.resetPassword)
	kit.Handle(s.Kit, declare(http.MethodPatch, "/{id}/reset-password", "patchUserPassword", "Set a user's password").
		About("Same as POST at this path.").
		Example(`{"newPassword":"battery staple"}`), s.resetPassword)
}

type listUsersIn struct {
	kit.Paging
	Search string `query:"search" maxLength:"255" doc:"Searches email and name, ignoring case."`
	Role   string `query:"role" enum:"ADMIN,USER" doc:"Only users with this role."`
	Status string `query:"status" enum:"ACTIVE,INACTIVE" doc:"Only users with this status."`
}

func (s *server) listUsers(ctx context.Context, in *listUsersIn) (*kit.Body[kit.List[User]], error) {
	f := store.UserFilter{Search: in.Search, Role: in.Role}
	if in.Status != "" {
		active := in.Status == "ACTIVE"
		f.Active = &active
	}
	return kit.RespondPage(in.Paging, 10, userOf)(s.Accounts.List(ctx, kit.Principal(ctx), f, in.Size(10), in.Offset(10)))
}

type createUserIn struct {
	Body struct {
		Email    string `json:"email" doc:"Unique, ignoring case." example:"ann@example.com"`
		Password string `json:"password" doc:"At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused."`
		Name     string `json:"name,omitempty"`
		Role     string `json:"role,omitempty" enum:"ADMIN,USER" doc:"The default is USER."`
	}
}

func (s *server) createUser(ctx context.Context, in *createUserIn) (*kit.Body[User], error) {
	return kit.Respond(userOf)(s.Accounts.Create(ctx, kit.Principal(ctx), accounts.NewUser{Email: in.Body.Email, Password: in.Body.Password,
		Name: in.Body.Name, Role: auth.Role(in.Body.Role)}))
}

func (s *server) getUser(ctx context.Context, in *kit.ByID) (*kit.Body[User], error) {
	return kit.Respond(userOf)(s.Accounts.Get(ctx, kit.Principal(ctx), in.ID))
}

type deleteUserIn struct {
	kit.ByID
	Fate
}

func (s *server) deleteUser(ctx context.Context, in *deleteUserIn) (*kit.Body[kit.Message], error) {
	if err := s.Accounts.Delete(ctx, kit.Principal(ctx), in.ID, in.fate()); err != nil {
		return nil, err
	}
	return kit.NewMessage("The user was deleted."), nil
}

type setRoleIn struct {
	kit.ByID
	Body struct {
		Role string `json:"role" enum:"ADMIN,USER"`
	}
}

func (s *server) setUserRole(ctx context.Context, in *setRoleIn) (*kit.Body[User], error) {
	return kit.Respond(userOf)(s.Accounts.SetRole(ctx, kit.Principal(ctx), in.ID, auth.Role(in.Body.Role)))
}

type setStatusIn struct {
	kit.ByID
	Body struct {
		Status   kit.Opt[string] `json:"status,omitempty" enum:"ACTIVE,INACTIVE"`
		IsActive kit.Opt[bool]   `json:"isActive,omitempty" doc:"Alternative to status."`
	}
}

func (s *server) setUserStatus(ctx context.Context, in *setStatusIn) (*kit.Body[User], error) {
	var active bool
	status, flag := in.Body.Status.Pointer(), in.Body.IsActive.Pointer()
	switch {
	case status != nil:
		active = *status == "ACTIVE"
		if flag != nil && *flag != active {
			return nil, problem.OfField("isActive", "contradicts status")
		}
	case flag != nil:
		active = *flag
	default:
		return nil, problem.OfField("status", "is required")
	}
	return kit.Respond(userOf)(s.Accounts.SetActive(ctx, kit.Principal(ctx), in.ID, active))
}

type setNameIn struct {
	kit.ByID
	Body struct {
		Name kit.Opt[string] `json:"name" doc:"Null or empty removes the name."`
	}
}

func (s *server) setUserName(ctx context.Context, in *setNameIn) (*kit.Body[User], error) {
	return kit.Respond(userOf)(s.Accounts.Name(ctx, kit.Principal(ctx), in.ID, in.Body.Name.Value))
}

type turnOffTOTPIn struct {
	kit.ByID
	Body struct {
		Enabled          kit.Opt[bool] `json:"enabled,omitempty" doc:"Must be false."`
		TwoFactorEnabled kit.Opt[bool] `json:"twoFactorEnabled,omitempty" doc:"The same as enabled."`
	}
}

func (s *server) turnOffUserTOTP(ctx context.Context, in *turnOffTOTPIn) (*kit.Body[User], error) {
	var v problem.Fields
	if in.Body.Enabled.Value {
		v.Add("enabled", "only the users themselves can turn their second factor on")
	}
	if in.Body.TwoFactorEnabled.Value {
		v.Add("twoFactorEnabled", "only the users themselves can turn their second factor on")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	return kit.Respond(userOf)(s.Accounts.TurnOffSecondFactors(ctx, kit.Principal(ctx), in.ID))
}

type resetPasswordIn struct {
	kit.ByID
	Body struct {
		NewPassword string `json:"newPassword" doc:"At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused."`
	}
}

func (s *server) resetPassword(ctx context.Context, in *resetPasswordIn) (*kit.Body[kit.Message], error) {
	if err := s.Accounts.ResetPassword(ctx, kit.Principal(ctx), in.ID, in.Body.NewPassword); err != nil {
		return nil, err
	}
	return kit.NewMessage("The password was set. All sessions of the user have ended, and their API keys and passkeys were deleted."), nil
}
