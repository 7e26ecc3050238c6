package peopleapi

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/links/qr"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

var accountResource = kit.Resource{
	Tag: "Account", About: "Sign-in, sign-out, your profile, password and second factor.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerAccount() {
	declare := func(method, path, id, summary string, status int) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/auth" + path, ID: id, Summary: summary, Tag: "Account", Status: status}
	}
	session := func(e kit.Endpoint) kit.Endpoint { e.SessionOnly = true; return e }
	enrolment := func(e kit.Endpoint) kit.Endpoint { e.Enrolment = true; return e }
	login := declare(http.MethodPost, "/login", "login", "Sign in", http.StatusOK).
		About("Returns an access token and sets it as an HttpOnly cookie. `linkAccount: true` confirms the link to an account at an identity "+
			"provider after `link_required`. If two-factor authentication is on and the code is missing, the response is `requires2FA: true` "+
			"without a token; send the request again with the code. After five failures in ten minutes, a client (an IPv4 address or IPv6 /64) "+
			"is locked out of the account for an increasing time (429). Wrong codes after the right password lock the second factor for all "+
			"clients.").
		Example(`{"email":"ann@example.com","password":"correct horse","twoFactorCode":"123456"}`).Fails(http.StatusUnauthorized,
		http.StatusForbidden)
	login.Need, login.SignsIn = kit.Public, true
	kit.Handle(s.Kit, login, s.login)
	kit.Handle(s.Kit, enrolment(declare(http.MethodPost, "/logout", "logout", "Sign out", http.StatusOK)).
		About("Ends the session of the request on all replicas and clears the cookie. API keys stay valid."), s.logout)
	me := declare(http.MethodGet, "/me", "getMe", "Get the current user", http.StatusOK).
		About("Returns the user of the session or API key.")
	me.Scope = kit.AnyScope // so that every program can check its key
	kit.Handle(s.Kit, enrolment(me), s.getMe)
	kit.Handle(s.Kit, declare(http.MethodPut, "/me", "updateMe", "Change your name", http.StatusOK).
		About("Sets your name, which other users see.").
		Example(`{"name":"Ann"}`), s.updateMe)
	kit.Handle(s.Kit, session(declare(http.MethodPost, "/password", "changePassword", "Change your password", http.StatusOK)).
		About("Requires the current password and ends all other sessions. `revokeApiKeys: true` also deletes your API keys. Requires a "+
			"session, not an API key.").
		Example(`{"currentPassword":"correct horse","newPassword":"battery staple"}`), s.changePassword)
	kit.Handle(s.Kit, session(declare(http.MethodPut, "/password", "putPassword", "Change your password", http.StatusOK)).
		About("Same as POST at this path.").
		Example(`{"oldPassword":"correct horse","newPassword":"battery staple"}`), s.changePassword)
	kit.Handle(s.Kit,
		enrolment(session(declare(http.MethodPost, "/2fa/setup", "setUp2FA", "Get a secret for an authenticator app", http.StatusCreated))).
			About("Requires the current password if you signed in more than ten minutes ago (403 otherwise). Generates a new secret (RFC 6238, "+
				"six digits, 30 s), also as a QR code. The secret takes effect after you send a code to /api/auth/2fa/enable. Another request "+
				"replaces it.").
			Example(`{"password":"correct horse"}`), s.setUpTOTP)
	kit.Handle(s.Kit,
		enrolment(session(declare(http.MethodPost, "/2fa/enable", "enable2FA", "Turn on two-factor authentication", http.StatusOK))).
			About("Turns the second factor on with a code, and returns ten recovery codes, which are shown only once. Each replaces one code.").
			Example(`{"code":"123456"}`), s.enableTOTP)
	kit.Handle(s.Kit, session(declare(http.MethodPost, "/2fa/disable", "disable2FA", "Turn off two-factor authentication", http.StatusOK)).
		About("Turns the second factor off. Requires the password and a code or recovery code.").
		Example(`{"code":"123456","password":"correct horse"}`), s.disableTOTP)
}

type loginIn struct {
	SSOLink string `cookie:"sso_link" doc:"Set after a sign-in through an identity provider that failed with link_required."`
	Body    struct {
		Email         string          `json:"email" minLength:"1" maxLength:"1000"`
		Password      string          `json:"password" minLength:"1" maxLength:"1000"`
		TwoFactorCode kit.Opt[string] `json:"twoFactorCode,omitempty" maxLength:"100" doc:"A code of the authenticator app, or a recovery code."`
		LinkAccount   kit.Opt[bool]   `json:"linkAccount,omitempty" doc:"Also link the account at the identity provider that was used in this browser and failed with link_required."`
	}
}

// Login is the response to a sign-in: the session, or only that a code is required.
type Login struct {
	User        *User  `json:"user,omitempty"`
	AccessToken string `json:"accessToken,omitempty" doc:"A JWT, which is also set as a cookie."`
	Requires2FA bool   `json:"requires2FA" doc:"Whether the password was right but a code is required. Send the request again with twoFactorCode."`
}

type loginOut struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      Login
}

func (s *server) login(ctx context.Context, in *loginIn) (*loginOut, error) {
	credentials := accounts.Credentials{Email: in.Body.Email, Password: in.Body.Password, Code: in.Body.TwoFactorCode.Value}
	if in.Body.LinkAccount.Value {
		if s.SSO == nil {
			return nil, problem.OfField("linkAccount", "is not possible: single sign-on is not configured")
		}
		link, err := s.SSO.Link(in.SSOLink)
		if err != nil {
			return nil, err
		}
		credentials.Link = &accounts.Link{UserID: link.UserID, Write: link.Write}
	}
	got, err := s.Accounts.Login(ctx, credentials)
	if err != nil {
		return nil, err
	}
	if got.NeedsCode {
		return &loginOut{Body: Login{Requires2FA: true}}, nil
	}
	kit.RequestLogOf(ctx).UserID = got.User.ID
	u := userOf(got.User)
	cookies := []http.Cookie{s.SessionCookie(got.Token, got.Expires)}
	if in.Body.LinkAccount.Value {
		cookies = append(cookies, s.linkCookie("", -1))
	}
	return &loginOut{SetCookie: cookies, Body: Login{User: &u, AccessToken: got.Token}}, nil
}

type messageWithCookie struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      kit.Message
}

func (s *server) logout(ctx context.Context, _ *struct{}) (*messageWithCookie, error) {
	if err := s.Accounts.Logout(ctx, kit.Principal(ctx)); err != nil {
		return nil, err
	}
	return &messageWithCookie{SetCookie: []http.Cookie{s.ClearSessionCookie()}, Body: kit.Message{Message: "Signed out."}}, nil
}

func (s *server) getMe(ctx context.Context, _ *struct{}) (*kit.Body[User], error) {
	return kit.Respond(userOf)(s.Accounts.Me(ctx, kit.Principal(ctx)))
}

type updateMeIn struct {
	Body struct {
		Name kit.Opt[string] `json:"name" doc:"Null or empty removes the name."`
	}
}

func (s *server) updateMe(ctx context.Context, in *updateMeIn) (*kit.Body[User], error) {
	return kit.Respond(userOf)(s.Accounts.Rename(ctx, kit.Principal(ctx), in.Body.Name.Value))
}

type changePasswordIn struct {
	Body struct {
		CurrentPassword string `json:"currentPassword,omitempty" maxLength:"1000" doc:"Required."`
		OldPassword     string `json:"oldPassword,omitempty" maxLength:"1000" doc:"The same as currentPassword."`
		NewPassword     string `json:"newPassword" doc:"At least 8 characters and at most 72 bytes. Common passwords and your own email are refused."`

		RevokeAPIKeys kit.Opt[bool] `json:"revokeApiKeys,omitempty" doc:"Also delete all your API keys."`
	}
}

func (s *server) changePassword(ctx context.Context, in *changePasswordIn) (*kit.Body[kit.Message], error) {
	current := cmp.Or(in.Body.CurrentPassword, in.Body.OldPassword)
	if err := s.Accounts.ChangePassword(ctx, kit.Principal(ctx), current, in.Body.NewPassword, in.Body.RevokeAPIKeys.Value); err != nil {
		return nil, err
	}
	if in.Body.RevokeAPIKeys.Value {
		return kit.NewMessage("The password was changed. All other sessions have ended, and the API keys were deleted."), nil
	}
	return kit.NewMessage("The password was changed. All other sessions have ended."), nil
}

// TwoFactorSetup is the input of an authenticator app.
type TwoFactorSetup struct {
	Secret      string `json:"secret" doc:"Base32."`
	OtpauthURL  string `json:"otpauthUrl"`
	QRCode      string `json:"qrCode" doc:"A PNG as a data URL."`
	AccountName string `json:"accountName"`
}

type setUpTOTPIn struct {
	Body struct {
		Password kit.Opt[string] `json:"password,omitempty" maxLength:"1000" doc:"The current password. Required if you signed in more than ten minutes ago."`
	}
}

func (s *server) setUpTOTP(ctx context.Context, in *setUpTOTPIn) (*kit.Body[TwoFactorSetup], error) {
	got, err := s.Accounts.SetUpTOTP(ctx, kit.Principal(ctx), in.Body.Password.Value)
	if err != nil {
		return nil, err
	}
	png, err := qr.PNG(got.Address, qr.Style{Width: 256, Color: qr.Black, Background: qr.White, Margin: qr.DefaultMargin})
	if err != nil {
		return nil, fmt.Errorf("draw QR code: %w", err)
	}
	return kit.NewBody(TwoFactorSetup{got.Secret, got.Address, "data:image/png;base64," + base64.StdEncoding.EncodeToString(png),
		got.Account}), nil
}

type enableTOTPIn struct {
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"100"`
	}
}

// TwoFactorEnabled has the recovery codes, which are shown only once.
type TwoFactorEnabled struct {
	Message       string   `json:"message"`
	RecoveryCodes []string `json:"recoveryCodes" doc:"Each code works once as a twoFactorCode. The codes are shown only in this response."`
}

func (s *server) enableTOTP(ctx context.Context, in *enableTOTPIn) (*kit.Body[TwoFactorEnabled], error) {
	codes, err := s.Accounts.EnableTOTP(ctx, kit.Principal(ctx), in.Body.Code)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(TwoFactorEnabled{"Two-factor authentication is on.", codes}), nil
}

type disableTOTPIn struct {
	Body struct {
		Code     string `json:"code" maxLength:"100" doc:"A code of the authenticator app, or a recovery code."`
		Password string `json:"password" maxLength:"1000"`
	}
}

func (s *server) disableTOTP(ctx context.Context, in *disableTOTPIn) (*kit.Body[kit.Message], error) {
	var v problem.Fields
	if in.Body.Code == "" {
		v.Add("code", "is required")
	}
	if in.Body.Password == "" {
		v.Add("password", "is required")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := s.Accounts.DisableTOTP(ctx, kit.Principal(ctx), in.Body.Code, in.Body.Password); err != nil {
		return nil, err
	}
	return kit.NewMessage("Two-factor authentication is off."), nil
}
