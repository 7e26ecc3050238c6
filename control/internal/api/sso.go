package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/store"
)

// signInCookie is the cookie of a sign-in in progress at an identity provider.
const signInCookie = "sso_sign_in"

// OIDCProvider is an identity provider, without its secret.
type OIDCProvider struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Slug            string `json:"slug"`
	DiscoveryURL    string `json:"discoveryUrl"`
	ClientID        string `json:"clientId"`
	HasClientSecret bool   `json:"hasClientSecret"`
	Scopes          string `json:"scopes" doc:"Separated by spaces."`
	IsActive        bool   `json:"isActive"`

	AllowedDomains []string `json:"allowedDomains" doc:"The email domains that the provider may authenticate. Empty means all domains."`

	CallbackURL string `json:"callbackUrl" doc:"The redirect URL to register at the provider."`
	CreatedAt   Time   `json:"createdAt"`
	UpdatedAt   Time   `json:"updatedAt"`
}

// SSOProvider has the public data of an active identity provider. A browser signs in at
// /api/auth/sso/{slug}/login.
type SSOProvider struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// SignInMethods lists the available ways to sign in.
type SignInMethods struct {
	Password bool          `json:"password" doc:"Whether password sign-in is on."`
	SSO      []SSOProvider `json:"sso" doc:"The providers, as in GET /api/auth/sso."`
	Passkeys bool          `json:"passkeys" doc:"Whether users can sign in with a passkey: the console's address allows it, and single sign-on is not enforced."`

	PasswordReset bool `json:"passwordReset" doc:"Whether a user who forgot the password can get a link by e-mail: the installation sends e-mail, and password sign-in is on."`
}

// OIDCAccount is an account at an identity provider that is linked to a user.
type OIDCAccount struct {
	ID          string      `json:"id"`
	Provider    AccountHome `json:"provider"`
	Sub         string      `json:"sub" doc:"The account's subject at the provider."`
	Issuer      string      `json:"issuer"`
	Email       *string     `json:"email" doc:"From the provider, at the last sign-in."`
	CreatedAt   Time        `json:"createdAt"`
	LastLoginAt Time        `json:"lastLoginAt"`
}

// AccountHome is the provider of an account.
type AccountHome struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

func providerOf(p sso.Provider) OIDCProvider {
	return OIDCProvider{p.ID, p.Name, p.Slug, p.DiscoveryURL, p.ClientID, p.HasSecret, p.Scopes, p.Active, strings.Fields(p.Domains), p.CallbackURL, Time(p.CreatedAt), Time(p.UpdatedAt)}
}

func (s *Server) registerSSO() {
	manage := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/admin/oidc-providers" + path, ID: id, Summary: summary, Tag: "Identity providers", Need: admin, Escalates: method != http.MethodGet}
	}
	handle(s, manage(http.MethodGet, "", "listOIDCProviders", "List identity providers"), s.listProviders)
	handle(s, manage(http.MethodPost, "", "createOIDCProvider", "Set an identity provider up"), s.createProvider)
	handle(s, manage(http.MethodGet, "/{slug}", "getOIDCProvider", "Get an identity provider"), s.getProvider)
	handle(s, manage(http.MethodPut, "/{slug}", "updateOIDCProvider", "Change an identity provider"), s.updateProvider)
	handle(s, manage(http.MethodDelete, "/{slug}", "deleteOIDCProvider", "Delete an identity provider and the links of users to it"), s.deleteProvider)

	enter := func(path, id, summary string) endpoint {
		return endpoint{Method: http.MethodGet, Path: "/api/auth/sso" + path, ID: id, Summary: summary, Tag: "Single sign-on", Need: public}
	}
	handle(s, endpoint{Method: http.MethodGet, Path: "/api/auth/methods", ID: "listSignInMethods", Summary: "Ways to sign in", Tag: "Single sign-on", Need: public}, s.listMethods)
	handle(s, enter("", "listSSO", "Identity providers to sign in with"), s.listSSO)
	login, callback := enter("/{slug}/login", "beginSSO", "Go to an identity provider to sign in"), enter("/{slug}/callback", "finishSSO", "Come back from an identity provider, signed in")
	for _, e := range []*endpoint{&login, &callback} {
		e.Status, e.Timeout = http.StatusFound, s.SSO.Timeout()
	}
	handle(s, login, s.beginSSO)
	handle(s, callback, s.finishSSO)

	accounts := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/users/{id}/oidc-accounts" + path, ID: id, Summary: summary, Tag: "Users", Need: admin, Escalates: method != http.MethodGet}
	}
	handle(s, accounts(http.MethodGet, "", "listUserOIDCAccounts", "A user's accounts at identity providers"), s.listAccounts)
	handle(s, accounts(http.MethodDelete, "/{accountId}", "deleteUserOIDCAccount", "Take an account at an identity provider from a user"), s.deleteAccount)
}

func (s *Server) listProviders(ctx context.Context, _ *struct{}) (*body[[]OIDCProvider], error) {
	return respond(eachOf(providerOf))(s.SSO.Providers(ctx, principal(ctx)))
}

// BySlug is embedded in requests about one identity provider.
type BySlug struct {
	Slug string `path:"slug" doc:"The provider's slug."`
}

func (s *Server) getProvider(ctx context.Context, in *BySlug) (*body[OIDCProvider], error) {
	return respond(providerOf)(s.SSO.Provider(ctx, principal(ctx), in.Slug))
}

func (s *Server) createProvider(ctx context.Context, in *struct {
	Body struct {
		Name         Opt[string] `json:"name" required:"true" doc:"Shown on the sign-in button. At most 100 characters."`
		Slug         Opt[string] `json:"slug" required:"true" doc:"Part of the provider's URLs. It cannot be changed later."`
		DiscoveryURL Opt[string] `json:"discoveryUrl" required:"true" doc:"The issuer's public https URL, with or without /.well-known/openid-configuration."`
		ClientID     Opt[string] `json:"clientId" required:"true"`
		ClientSecret Opt[string] `json:"clientSecret" required:"true" doc:"Never returned."`
		Scopes       Opt[string] `json:"scopes,omitempty" doc:"Separated by spaces, including openid. The default is openid email profile."`
		IsActive     Opt[bool]   `json:"isActive,omitempty" doc:"The default is true."`

		AllowedDomains Opt[[]string] `json:"allowedDomains,omitempty" doc:"Only emails of these domains are linked to users or create users. Empty means all domains."`
	}
}) (*body[OIDCProvider], error) {
	b := &in.Body
	return respond(providerOf)(s.SSO.Create(ctx, principal(ctx), sso.Input{
		Name: given(b.Name, ""), Slug: given(b.Slug, ""), DiscoveryURL: given(b.DiscoveryURL, ""), ClientID: given(b.ClientID, ""), ClientSecret: given(b.ClientSecret, ""),
		Scopes: given(b.Scopes, ""), Active: given(b.IsActive, true), Domains: given(b.AllowedDomains, nil),
	}))
}

func (s *Server) updateProvider(ctx context.Context, in *struct {
	BySlug
	Body struct {
		Name         Opt[string] `json:"name,omitempty"`
		Slug         Opt[string] `json:"slug,omitempty" doc:"Cannot change. The present value is accepted."`
		DiscoveryURL Opt[string] `json:"discoveryUrl,omitempty"`
		ClientID     Opt[string] `json:"clientId,omitempty"`
		ClientSecret Opt[string] `json:"clientSecret,omitempty" doc:"Null or empty keeps the present secret."`
		Scopes       Opt[string] `json:"scopes,omitempty" doc:"Null or empty means openid email profile."`
		IsActive     Opt[bool]   `json:"isActive,omitempty"`

		AllowedDomains Opt[[]string] `json:"allowedDomains,omitempty" doc:"Null or empty means all domains."`
	}
}) (*body[OIDCProvider], error) {
	b := &in.Body
	return respond(providerOf)(s.SSO.Update(ctx, principal(ctx), in.Slug, sso.Input{
		Name: given(b.Name, ""), Slug: given(b.Slug, ""), DiscoveryURL: given(b.DiscoveryURL, ""), ClientID: given(b.ClientID, ""), ClientSecret: b.ClientSecret.Pointer(),
		Scopes: given(b.Scopes, ""), Active: given(b.IsActive, true), Domains: given(b.AllowedDomains, nil),
	}))
}

func (s *Server) deleteProvider(ctx context.Context, in *BySlug) (*struct{}, error) {
	return nil, s.SSO.Delete(ctx, principal(ctx), in.Slug)
}

func (s *Server) listSSO(ctx context.Context, _ *struct{}) (*body[[]SSOProvider], error) {
	return respond(eachOf(func(p sso.Provider) SSOProvider { return SSOProvider{p.Slug, p.Name} }))(s.SSO.Active(ctx))
}

func (s *Server) listMethods(ctx context.Context, _ *struct{}) (*body[SignInMethods], error) {
	providers, err := s.listSSO(ctx, nil)
	if err != nil {
		return nil, err
	}
	off, err := s.SSO.PasswordsOff(ctx)
	if err != nil {
		return nil, err
	}
	out := SignInMethods{Password: !off, SSO: providers.Body, PasswordReset: !off && s.Accounts.ResetsPasswords()}
	if s.Passkeys != nil {
		if out.Passkeys, err = s.Passkeys.Available(ctx); err != nil {
			return nil, err
		}
	}
	return &body[SignInMethods]{out}, nil
}

func ssoPath(slug string) string { return "/api/auth/sso/" + slug }

// redirect is a response that redirects a browser.
type redirect struct {
	Location  string        `header:"Location" doc:"After a failure /login?error=… with one of the codes unknown_provider, invalid_redirect, provider_unavailable, expired, invalid_state, access_denied, provider_error, invalid_token, no_account, email_not_verified, email_domain, account_inactive, link_required and internal. Both at CONSOLE_URL where that is set."`
	SetCookie []http.Cookie `header:"Set-Cookie"`
}

func (s *Server) beginSSO(ctx context.Context, in *struct {
	BySlug
	Redirect string `query:"redirect" doc:"The path to return to after the sign-in. The default is /."`
}) (*redirect, error) {
	begun, err := s.SSO.Begin(ctx, in.Slug, in.Redirect)
	if err != nil {
		return s.backToLogin(ctx, err), nil
	}
	return &redirect{Location: begun.Address, SetCookie: []http.Cookie{s.signIn(in.Slug, begun.Cookie, int(sso.PendingFor.Seconds()))}}, nil
}

// signIn returns the cookie of a sign-in. The browser must send it with a request from another site, the provider.
func (s *Server) signIn(slug, value string, seconds int) http.Cookie {
	return http.Cookie{
		Name: signInCookie, Value: value, Path: ssoPath(url.PathEscape(slug)), MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.secure,
	}
}

// linkCookie returns the cookie of a pending link, which the user confirms by signing in.
func (s *Server) linkCookie(value string, seconds int) http.Cookie {
	return http.Cookie{Name: "sso_link", Value: value, Path: "/api/auth/login", MaxAge: seconds, HttpOnly: true, SameSite: s.sameSite, Secure: s.secure}
}

func (s *Server) finishSSO(ctx context.Context, in *struct {
	BySlug
	SignIn string `cookie:"sso_sign_in"`
	State  string `query:"state" doc:"The state that was sent to the provider."`
	Code   string `query:"code" doc:"The authorization code."`
	Error  string `query:"error" doc:"The error of the provider."`
	Issuer string `query:"iss" doc:"The issuer (RFC 9207)."`
}) (*redirect, error) {
	done, err := s.SSO.Finish(ctx, in.Slug, sso.Answer{Cookie: in.SignIn, State: in.State, Code: in.Code, Error: in.Error, Issuer: in.Issuer})
	var out *redirect
	if err == nil {
		requestLogOf(ctx).userID = done.User.ID
		out = &redirect{Location: s.console + done.ReturnTo, SetCookie: []http.Cookie{s.setSession(done.Token, done.Expires)}}
	} else {
		out = s.backToLogin(ctx, err)
		var f *sso.Failure
		if errors.As(err, &f) && (f.Code == sso.CodeInvalidState || f.Code == sso.CodeUnknownProvider) {
			return out, nil // keep the cookie, because its sign-in may still succeed
		}
		if f != nil && f.Link != "" {
			out.SetCookie = append(out.SetCookie, s.linkCookie(f.Link, int(sso.PendingFor.Seconds())))
		}
	}
	out.SetCookie = append(out.SetCookie, s.signIn(in.Slug, "", -1))
	return out, nil
}

// backToLogin redirects a browser to the login page after a failure. It includes internal errors, because a person is
// at the browser.
func (s *Server) backToLogin(ctx context.Context, err error) *redirect {
	code := "internal"
	var f *sso.Failure
	if errors.As(err, &f) {
		code = f.Code
	} else {
		requestLogOf(ctx).err = err
	}
	return &redirect{Location: s.console + "/login?error=" + code}
}

func accountOf(a store.OIDCAccount) OIDCAccount {
	return OIDCAccount{a.ID, AccountHome{a.ProviderID, a.ProviderName, a.ProviderSlug}, a.Subject, a.Issuer, text(a.Email), Time(a.CreatedAt), Time(a.LastLoginAt)}
}

func (s *Server) listAccounts(ctx context.Context, in *ByID) (*body[[]OIDCAccount], error) {
	return respond(eachOf(accountOf))(s.SSO.Accounts(ctx, principal(ctx), in.ID))
}

func (s *Server) deleteAccount(ctx context.Context, in *struct {
	ByID
	AccountID string `path:"accountId" doc:"The account's id."`
}) (*struct{}, error) {
	return nil, s.SSO.Unlink(ctx, principal(ctx), in.ID, in.AccountID)
}
