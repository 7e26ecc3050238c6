// Package sso holds the use cases of signing in through identity providers (OpenID Connect): the providers that
// administrators set up, the sign-in itself, and which account at a provider belongs to which user.
//
// It promises that a session begins only after an answer that was asked for from the same browser within ten
// minutes (state and nonce in a sealed cookie, PKCE), with a token that the provider signed for us just now; that
// a person who is not known yet gets in only as the user with the same email, and only if the provider says that
// it has verified it; and that a provider that is down, slow or lying harms nobody but those who sign in with it:
// what it publishes is asked for when it is first needed, within seconds, and not again at once after a failure.
// Requests go through package outbound, so that a provider's address can't lead inside.
//
// Once an account at a provider is linked, the provider's word takes the place of password and second factor. The first
// sign-in links it by the email, if the provider may vouch for emails of its domain. Administrators and users with a
// second factor have to confirm that link with password and code, see Link.
//
// What this package does not do: tell providers of a sign-out, or end sessions when an account is closed there.
package sso

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/seal"
	"github.com/shortline/shortline/control/internal/store"
)

// Settings are those that operators set.
type Settings struct {
	AllowPrivate  bool `env:"OIDC_ALLOW_PRIVATE" envDefault:"false" help:"identity providers may be http and on private addresses"`
	AutoProvision bool `env:"OIDC_AUTO_PROVISION" envDefault:"false" help:"who signs in through an identity provider and has no account gets one"`
}

// Config of the use cases. BaseURL and EncryptionKeys are required.
type Config struct {
	Settings
	// BaseURL is where browsers reach the API, such as "https://sho.rt".
	BaseURL string
	// EncryptionKeys seal client secrets and the cookie of a sign-in; the first seals, all open. At least
	// seal.MinKey bytes each.
	EncryptionKeys [][]byte
	// Timeout bounds one question to a provider; 0 means 5 s.
	Timeout time.Duration
	// Logger is told why sign-ins failed; nil means slog.Default().
	Logger *slog.Logger
	// Now tells the time of sign-ins and of what is remembered of providers; nil means time.Now.
	Now func() time.Time
}

// questions is how many questions a sign-in may have to wait for: what the provider publishes, its keys, the
// token, the person's email.
const questions = 4

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	cfg       Config
	store     *store.Store
	auth      *auth.Authenticator
	settings  *settings.Service
	secrets   *seal.Box
	cookies   *seal.Box
	client    *outbound.Client
	directory directory
}

// New checks the settings. No provider is asked anything yet.
func New(cfg Config, st *store.Store, a *auth.Authenticator, use *settings.Service) (*Service, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	secrets, err := seal.New("oidc", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	cookies, err := seal.New("oidc sign-in", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, store: st, auth: a, settings: use, secrets: secrets, cookies: cookies}
	s.client = outbound.New(outbound.Policy{AllowPrivate: cfg.AllowPrivate, Timeout: cfg.Timeout, MaxBody: maxAnswer})
	s.directory = directory{client: s.client, timeout: cfg.Timeout, insecure: cfg.AllowPrivate, now: cfg.Now, known: map[string]*remote{}}
	return s, nil
}

// Timeout is how long a sign-in may take on our side.
func (s *Service) Timeout() time.Duration { return questions*s.cfg.Timeout + 5*time.Second }

// PasswordsOff reports whether users must sign in through a provider: it is enforced, and there is one.
func (s *Service) PasswordsOff(ctx context.Context) (bool, error) {
	enforced, err := s.settings.EnforcesSSO(ctx)
	if err != nil || !enforced {
		return false, err
	}
	any, err := s.store.AnyActiveOIDCProvider(ctx)
	if err != nil {
		return false, fmt.Errorf("look for an identity provider: %w", err)
	}
	return any, nil
}

// callback is the address that a provider sends browsers back to.
func (s *Service) callback(slug string) string {
	return s.cfg.BaseURL + "/api/auth/sso/" + slug + "/callback"
}

func secretPlace(providerID string) string { return "oidc_providers|client_secret|" + providerID }

func adminOnly(p auth.Principal) error {
	if p.IsAdmin() {
		return nil
	}
	return problem.New(problem.Forbidden, "Only administrators may do this.")
}
