package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// User describes a user.
type User struct {
	ID               string `json:"id"`
	Email            string `json:"email"`
	Name             string `json:"name"`
	Role             string `json:"role" enum:"ADMIN,USER"`
	Status           string `json:"status" enum:"ACTIVE,INACTIVE"`
	IsActive         bool   `json:"isActive" doc:"Whether status is ACTIVE."`
	TwoFactorEnabled bool   `json:"twoFactorEnabled" doc:"Whether an authenticator app is set up."`
	HasPasskeys      bool   `json:"hasPasskeys" doc:"Whether the user has a passkey, which counts as both factors."`
	EmailVerified    bool   `json:"emailVerified" doc:"False if the account was made with a copied invitation link, and nobody has shown since that the address belongs to the user."`
	CreatedAt        Time   `json:"createdAt"`
	UpdatedAt        Time   `json:"updatedAt"`
}

func userOf(u store.User) User {
	return User{u.ID, u.Email, u.Name, u.Role, accounts.Status(u), u.Active, u.TOTPEnabled, u.HasPasskeys, !u.EmailUnproven, Time(u.CreatedAt), Time(u.UpdatedAt)}
}

// body is a response with a JSON body.
type body[T any] struct{ Body T }

// Message is the response of operations that return no data.
type Message struct {
	Message string `json:"message"`
}

func said(text string) *body[Message] { return &body[Message]{Message{text}} }

// respond returns a function that makes a response from the results of a call. It returns an error as it is.
func respond[From, To any](of func(From) To) func(From, error) (*body[To], error) {
	return func(v From, err error) (*body[To], error) {
		if err != nil {
			return nil, err
		}
		return &body[To]{of(v)}, nil
	}
}

// respondPage is like respond for a page of rows.
func respondPage[From, To any](p Paging, def int, of func(From) To) func([]From, int, error) (*body[List[To]], error) {
	return func(rows []From, total int, err error) (*body[List[To]], error) {
		if err != nil {
			return nil, err
		}
		return &body[List[To]]{listOf(eachOf(of)(rows), total, p, def)}, nil
	}
}

// eachOf returns a function that converts every row.
func eachOf[From, To any](of func(From) To) func([]From) []To {
	return func(rows []From) []To {
		out := make([]To, len(rows))
		for i, r := range rows {
			out[i] = of(r)
		}
		return out
	}
}

func (s *Server) registerUsers() {
	declare := func(method, path, id, summary string) endpoint {
		e := endpoint{Method: method, Path: "/api/users" + path, ID: id, Summary: summary, Tag: "Users", Need: admin}
		if method == http.MethodPost && path != "" || method == http.MethodDelete {
			e.Status = http.StatusOK
		}
		e.Escalates = method != http.MethodGet && path != "/{id}/name"
		return e
	}
	handle(s, declare(http.MethodGet, "", "listUsers", "List users"), s.listUsers)
	handle(s, declare(http.MethodPost, "", "createUser", "Create a user"), s.createUser)
	handle(s, declare(http.MethodGet, "/{id}", "getUser", "Get a user"), s.getUser)
	remove := declare(http.MethodDelete, "/{id}", "deleteUser", "Delete a user")
	remove.Timeout = deletion
	handle(s, remove, s.deleteUser)
	handle(s, declare(http.MethodPatch, "/{id}/role", "setUserRole", "Change another user's role"), s.setUserRole)
	handle(s, declare(http.MethodPatch, "/{id}/status", "setUserStatus", "Activate or deactivate a user"), s.setUserStatus)
	handle(s, declare(http.MethodPatch, "/{id}/name", "setUserName", "Change a user's name"), s.setUserName)
	handle(s, declare(http.MethodPatch, "/{id}/2fa", "turnOffUser2FA", "Turn off a user's second factor and remove their passkeys"), s.turnOffUserTOTP)
	handle(s, declare(http.MethodPost, "/{id}/reset-password", "resetUserPassword", "Set a user's password"), s.resetPassword)
	handle(s, declare(http.MethodPatch, "/{id}/reset-password", "patchUserPassword", "Set a user's password"), s.resetPassword)
}

type listUsersIn struct {
	Paging
	Search string `query:"search" maxLength:"255" doc:"Searches email and name, ignoring case."`
	Role   string `query:"role" enum:"ADMIN,USER" doc:"Only users with this role."`
	Status string `query:"status" enum:"ACTIVE,INACTIVE" doc:"Only users with this status."`
}

func (s *Server) listUsers(ctx context.Context, in *listUsersIn) (*body[List[User]], error) {
	f := store.UserFilter{Search: in.Search, Role: in.Role}
	if in.Status != "" {
		active := in.Status == "ACTIVE"
		f.Active = &active
	}
	return respondPage(in.Paging, 10, userOf)(s.Accounts.List(ctx, principal(ctx), f, in.size(10), in.offset(10)))
}

type createUserIn struct {
	Body struct {
		Email    string `json:"email" doc:"Unique, ignoring case." example:"ann@example.com"`
		Password string `json:"password" doc:"At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused."`
		Name     string `json:"name,omitempty"`
		Role     string `json:"role,omitempty" enum:"ADMIN,USER" doc:"The default is USER."`
	}
}

func (s *Server) createUser(ctx context.Context, in *createUserIn) (*body[User], error) {
	return respond(userOf)(s.Accounts.Create(ctx, principal(ctx), accounts.NewUser{Email: in.Body.Email, Password: in.Body.Password, Name: in.Body.Name, Role: auth.Role(in.Body.Role)}))
}

// ByID is embedded in requests about one object.
type ByID struct {
	ID string `path:"id" doc:"A UUID."`
}

func (s *Server) getUser(ctx context.Context, in *ByID) (*body[User], error) {
	return respond(userOf)(s.Accounts.Get(ctx, principal(ctx), in.ID))
}

type deleteUserIn struct {
	ByID
	Fate
}

func (s *Server) deleteUser(ctx context.Context, in *deleteUserIn) (*body[Message], error) {
	if err := s.Accounts.Delete(ctx, principal(ctx), in.ID, in.fate()); err != nil {
		return nil, err
	}
	return said("The user was deleted."), nil
}

type setRoleIn struct {
	ByID
	Body struct {
		Role string `json:"role" enum:"ADMIN,USER"`
	}
}

func (s *Server) setUserRole(ctx context.Context, in *setRoleIn) (*body[User], error) {
	return respond(userOf)(s.Accounts.SetRole(ctx, principal(ctx), in.ID, auth.Role(in.Body.Role)))
}

type setStatusIn struct {
	ByID
	Body struct {
		Status   Opt[string] `json:"status,omitempty" enum:"ACTIVE,INACTIVE"`
		IsActive Opt[bool]   `json:"isActive,omitempty" doc:"Alternative to status."`
	}
}

func (s *Server) setUserStatus(ctx context.Context, in *setStatusIn) (*body[User], error) {
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
	return respond(userOf)(s.Accounts.SetActive(ctx, principal(ctx), in.ID, active))
}

type setNameIn struct {
	ByID
	Body struct {
		Name Opt[string] `json:"name" doc:"Null or empty removes the name."`
	}
}

func (s *Server) setUserName(ctx context.Context, in *setNameIn) (*body[User], error) {
	return respond(userOf)(s.Accounts.Name(ctx, principal(ctx), in.ID, in.Body.Name.Value))
}

type turnOffTOTPIn struct {
	ByID
	Body struct {
		Enabled          Opt[bool] `json:"enabled,omitempty" doc:"Must be false."`
		TwoFactorEnabled Opt[bool] `json:"twoFactorEnabled,omitempty" doc:"The same as enabled."`
	}
}

func (s *Server) turnOffUserTOTP(ctx context.Context, in *turnOffTOTPIn) (*body[User], error) {
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
	return respond(userOf)(s.Accounts.TurnOffSecondFactors(ctx, principal(ctx), in.ID))
}

type resetPasswordIn struct {
	ByID
	Body struct {
		NewPassword string `json:"newPassword" doc:"At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused."`
	}
}

func (s *Server) resetPassword(ctx context.Context, in *resetPasswordIn) (*body[Message], error) {
	if err := s.Accounts.ResetPassword(ctx, principal(ctx), in.ID, in.Body.NewPassword); err != nil {
		return nil, err
	}
	return said("The password was set. All sessions of the user have ended, and their API keys and passkeys were deleted."), nil
}
