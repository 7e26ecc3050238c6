package peopleapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/sso"
)

// signInCookie is the cookie of a sign-in in progress at an identity provider.
const signInCookie = "sso_sign_in"

var signOnResource = kit.Resource{
	Tag: "Single sign-on", About: "Sign-in through an identity provider (OpenID Connect).",
}

var providerResource = kit.Resource{
	Tag: "Identity providers", About: "Manage OpenID Connect providers. Administrators only.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerSSO() {
	manage := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/admin/oidc-providers" + path, ID: id, Summary: summary, Tag: "Identity providers",
			Need: kit.Admin, Escalates: method != http.MethodGet}
	}
	kit.Handle(s.Kit, manage(http.MethodGet, "", "listOIDCProviders", "List identity providers").
		About("All providers, including inactive ones, by name. Client secrets are never returned."), s.listProviders)
	kit.Handle(s.Kit, manage(http.MethodPost, "", "createOIDCProvider", "Set an identity provider up").
		About("Requires a session, as do changes. The client secret is encrypted at rest. Register the returned `callbackUrl` at the provider.").
		Example(`{"name":"Company","slug":"company",`+
			`"discoveryUrl":"https://id.example.com/.well-known/openid-configuration","clientId":"shortline","clientSecret":"…","scopes":"openid email profile"}`).Fails(http.StatusConflict), s.createProvider)
	kit.Handle(s.Kit, manage(http.MethodGet, "/{slug}", "getOIDCProvider", "Get an identity provider").
		About("One provider, without its client secret."), s.getProvider)
	kit.Handle(s.Kit, manage(http.MethodPut, "/{slug}", "updateOIDCProvider", "Change an identity provider").
		About("Changes the given fields. The slug cannot change. A missing client secret is kept.").
		Example(`{"name":"The company","isActive":true}`), s.updateProvider)
	kit.Handle(s.Kit, manage(http.MethodDelete, "/{slug}", "deleteOIDCProvider",
		"Delete an identity provider and the links of users to it").
		About("Removes the provider and its links to users. The users stay."), s.deleteProvider)

	enter := func(path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: http.MethodGet, Path: "/api/auth/sso" + path, ID: id, Summary: summary, Tag: "Single sign-on",
			Need: kit.Public}
	}
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/auth/methods", ID: "listSignInMethods", Summary: "Ways to sign in",
		Tag: "Single sign-on", Need: kit.Public}.
		About("The available ways to sign in, for a login page: passwords, active identity providers, and passkeys."), s.listMethods)
	kit.Handle(s.Kit, enter("", "listSSO", "Identity providers to sign in with").
		About("The active providers, for a login page. A browser signs in at /api/auth/sso/{slug}/login."), s.listSSO)
	login, callback := enter("/{slug}/login", "beginSSO", "Go to an identity provider to sign in").
		About("Redirects a browser to the provider. After a failure, it redirects to /login?error=… with a code."),
		enter("/{slug}/callback", "finishSSO", "Come back from an identity provider, signed in").
			About("The callback URL: signs in and redirects to the requested path. The first sign-in links the account to the user with the same "+
				"verified email address. Administrators and users with a second factor must confirm the link (`link_required`) by signing in with "+
				"`linkAccount: true`. "+
				"After a failure, it redirects to /login?error=… with a code.")
	for _, e := range []*kit.Endpoint{&login, &callback} {
		e.Status, e.Timeout = http.StatusFound, s.SSO.Timeout()
	}
	kit.Handle(s.Kit, login, s.beginSSO)
	kit.Handle(s.Kit, callback, s.finishSSO)

	accounts := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/users/{id}/oidc-accounts" + path, ID: id, Summary: summary, Tag: "Users",
			Need:      kit.Admin,
			Escalates: method != http.MethodGet}
	}
	kit.Handle(s.Kit, accounts(http.MethodGet, "", "listUserOIDCAccounts", "A user's accounts at identity providers").
		About("The accounts at identity providers with which a user can sign in."), s.listAccounts)
	kit.Handle(s.Kit, accounts(http.MethodDelete, "/{accountId}", "deleteUserOIDCAccount",
		"Take an account at an identity provider from a user").
		About("The user can no longer sign in with this account, until a new first sign-in links it again."), s.deleteAccount)
}

func (s *server) listProviders(ctx context.Context, _ *struct{}) (*kit.Body[[]OIDCProvider], error) {
	return kit.Respond(kit.EachOf(providerOf))(s.SSO.Providers(ctx, kit.Principal(ctx)))
}

func (s *server) getProvider(ctx context.Context, in *BySlug) (*kit.Body[OIDCProvider], error) {
	return kit.Respond(providerOf)(s.SSO.Provider(ctx, kit.Principal(ctx), in.Slug))
}

func (s *server) createProvider(ctx context.Context, in *struct {
	Body struct {
		Name         kit.Opt[string] `json:"name" required:"true" doc:"Shown on the sign-in button. At most 100 characters."`
		Slug         kit.Opt[string] `json:"slug" required:"true" doc:"Part of the provider's URLs. It cannot be changed later."`
		DiscoveryURL kit.Opt[string] `json:"discoveryUrl" required:"true" doc:"The issuer's public https URL, with or without /.well-known/openid-configuration."`
		ClientID     kit.Opt[string] `json:"clientId" required:"true"`
		ClientSecret kit.Opt[string] `json:"clientSecret" required:"true" doc:"Never returned."`
		Scopes       kit.Opt[string] `json:"scopes,omitempty" doc:"Separated by spaces, including openid. The default is openid email profile."`
		IsActive     kit.Opt[bool]   `json:"isActive,omitempty" doc:"The default is true."`

		AllowedDomains kit.Opt[[]string] `json:"allowedDomains,omitempty" doc:"Only emails of these domains are linked to users or create users. Empty means all domains."`
		TrustEmail     kit.Opt[bool]     `json:"trustEmail,omitempty" doc:"For providers that send no email_verified, such as Entra ID: true takes emails of allowedDomains as verified, and needs allowedDomains. An email_verified that is false still counts. The default is false."`
	}
}) (*kit.Body[OIDCProvider], error) {
	b := &in.Body
	return kit.Respond(providerOf)(s.SSO.Create(ctx, kit.Principal(ctx), sso.Input{
		Name: kit.Given(b.Name, ""), Slug: kit.Given(b.Slug, ""), DiscoveryURL: kit.Given(b.DiscoveryURL, ""),
		ClientID: kit.Given(b.ClientID, ""), ClientSecret: kit.Given(b.ClientSecret, ""),
		Scopes: kit.Given(b.Scopes, ""), Active: kit.Given(b.IsActive, true), Domains: kit.Given(b.AllowedDomains, nil),
		TrustEmail: kit.Given(b.TrustEmail, false),
	}))
}

func (s *server) updateProvider(ctx context.Context, in *struct {
	BySlug
	Body struct {
		Name         kit.Opt[string] `json:"name,omitempty"`
		Slug         kit.Opt[string] `json:"slug,omitempty" doc:"Cannot change. The present value is accepted."`
		DiscoveryURL kit.Opt[string] `json:"discoveryUrl,omitempty"`
		ClientID     kit.Opt[string] `json:"clientId,omitempty"`
		ClientSecret kit.Opt[string] `json:"clientSecret,omitempty" doc:"Null or empty keeps the present secret."`
		Scopes       kit.Opt[string] `json:"scopes,omitempty" doc:"Null or empty means openid email profile."`
		IsActive     kit.Opt[bool]   `json:"isActive,omitempty"`

		AllowedDomains kit.Opt[[]string] `json:"allowedDomains,omitempty" doc:"Null or empty means all domains."`
		TrustEmail     kit.Opt[bool]     `json:"trustEmail,omitempty" doc:"True needs allowedDomains. Null means false."`
	}
}) (*kit.Body[OIDCProvider], error) {
	b := &in.Body
	return kit.Respond(providerOf)(s.SSO.Update(ctx, kit.Principal(ctx), in.Slug, sso.Input{
		Name: kit.Given(b.Name, ""), Slug: kit.Given(b.Slug, ""), DiscoveryURL: kit.Given(b.DiscoveryURL, ""),
		ClientID: kit.Given(b.ClientID, ""), ClientSecret: b.ClientSecret.Pointer(),
		Scopes: kit.Given(b.Scopes, ""), Active: kit.Given(b.IsActive, true), Domains: kit.Given(b.AllowedDomains, nil),
		TrustEmail: kit.Given(b.TrustEmail, false),
	}))
}

func (s *server) deleteProvider(ctx context.Context, in *BySlug) (*struct{}, error) {
	return nil, s.SSO.Delete(ctx, kit.Principal(ctx), in.Slug)
}

func (s *server) listSSO(ctx context.Context, _ *struct{}) (*kit.Body[[]SSOProvider], error) {
	return kit.Respond(kit.EachOf(func(p sso.Provider) SSOProvider { return SSOProvider{p.Slug, p.Name} }))(s.SSO.Active(ctx))
}

func (s *server) listMethods(ctx context.Context, _ *struct{}) (*kit.Body[SignInMethods], error) {
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
	return kit.NewBody(out), nil
}

func ssoPath(slug string) string { return "/api/auth/sso/" + slug }

func (s *server) beginSSO(ctx context.Context, in *struct {
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
func (s *server) signIn(slug, value string, seconds int) http.Cookie {
	return http.Cookie{
		Name: signInCookie, Value: value, Path: ssoPath(url.PathEscape(slug)), MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
		Secure:   s.Secure,
	}
}

// linkCookie returns the cookie of a pending link, which the user confirms by signing in.
func (s *server) linkCookie(value string, seconds int) http.Cookie {
	return http.Cookie{Name: "sso_link", Value: value, Path: "/api/auth/login", MaxAge: seconds, HttpOnly: true, SameSite: s.SameSite,
		Secure: s.Secure}
}

func (s *server) finishSSO(ctx context.Context, in *struct {
	BySlug
	SignIn string `cookie:"sso_sign_in"`
	State  string `query:"state" doc:"The state that was sent to the provider."`
	Code   string `query:"code" doc:"The authorization code."`
	Error  string `query:"error" doc:"The error of the provider."`
	Issuer string `query:"iss" doc:"The issuer (RFC 9207)."`
}) (*redirect, error) {
	done, err := s.SSO.Finish(ctx, in.Slug, sso.Answer{Cookie: in.SignIn, State: in.State, Code: in.Code, Error: in.Error,
		Issuer: in.Issuer})
	var out *redirect
	if err == nil {
		kit.RequestLogOf(ctx).UserID = done.User.ID
		out = &redirect{Location: s.Console + done.ReturnTo, SetCookie: []http.Cookie{s.SessionCookie(done.Token, done.Expires)}}
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
func (s *server) backToLogin(ctx context.Context, err error) *redirect {
	code := "internal"
	var f *sso.Failure
	if errors.As(err, &f) {
		code = f.Code
	} else {
		kit.RequestLogOf(ctx).Err = err
	}
	return &redirect{Location: s.Console + "/login?error=" + code}
}

func (s *server) listAccounts(ctx context.Context, in *kit.ByID) (*kit.Body[[]OIDCAccount], error) {
	return kit.Respond(kit.EachOf(accountOf))(s.SSO.Accounts(ctx, kit.Principal(ctx), in.ID))
}

func (s *server) deleteAccount(ctx context.Context, in *struct {
	kit.ByID
	AccountID string `path:"accountId" doc:"The account's id."`
}) (*struct{}, error) {
	return nil, s.SSO.Unlink(ctx, kit.Principal(ctx), in.ID, in.AccountID)
}
