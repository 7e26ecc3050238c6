package peopleapi

import (
	"net/http"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/store"
)

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
	TrustEmail     bool     `json:"trustEmail" doc:"Whether an email without email_verified counts as verified, if it has one of allowedDomains."`

	CallbackURL string   `json:"callbackUrl" doc:"The redirect URL to register at the provider."`
	CreatedAt   kit.Time `json:"createdAt"`
	UpdatedAt   kit.Time `json:"updatedAt"`
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
	CreatedAt   kit.Time    `json:"createdAt"`
	LastLoginAt kit.Time    `json:"lastLoginAt"`
}

// AccountHome is the provider of an account.
type AccountHome struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

func providerOf(p sso.Provider) OIDCProvider {
	return OIDCProvider{p.ID, p.Name, p.Slug, p.DiscoveryURL, p.ClientID, p.HasSecret, p.Scopes, p.Active, strings.Fields(p.Domains),
		p.TrustEmail, p.CallbackURL, kit.Time(p.CreatedAt), kit.Time(p.UpdatedAt)}
}

// BySlug is embedded in requests about one identity provider.
type BySlug struct {
	Slug string `path:"slug" doc:"The provider's slug."`
}

// redirect is a response that redirects a browser.
type redirect struct {
	Location  string        `header:"Location" doc:"After a failure /login?error=… with one of the codes unknown_provider, invalid_redirect, provider_unavailable, expired, invalid_state, access_denied, provider_error, invalid_token, no_account, email_not_verified, email_domain, account_inactive, link_required and internal. Both at CONSOLE_URL where that is set."`
	SetCookie []http.Cookie `header:"Set-Cookie"`
}

func accountOf(a store.OIDCAccount) OIDCAccount {
	return OIDCAccount{a.ID, AccountHome{a.ProviderID, a.ProviderName, a.ProviderSlug}, a.Subject, a.Issuer, kit.Text(a.Email),
		kit.Time(a.CreatedAt), kit.Time(a.LastLoginAt)}
}
