// Package sso holds the use cases of single sign-on with OpenID Connect: the configuration of identity providers, the
// sign-in, and the links between accounts at providers and users.
//
// A session starts only after a response to a sign-in of the same browser within ten minutes (state and nonce in an
// encrypted cookie, PKCE), with a fresh token that the provider signed for this client. On the first sign-in, the
// account is linked to the user with the same email, if the provider has verified the email. A provider that is down,
// slow or malicious affects only its own users: its documents are fetched at their first use, with a timeout of
// seconds, and not again immediately after a failure. Requests go through package outbound, so a provider's URL cannot
// reach internal addresses.
//
// A linked account replaces password and second factor. The first sign-in links it only if the email's domain is
// allowed for the provider. Administrators and users with a second factor must confirm the link with password and code;
// see Link.
//
// This package does not sign users out at the provider, and does not end sessions when an account is closed there.
package sso

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
)

// Settings are the settings of operators.
type Settings struct {
	AllowPrivate  bool `env:"OIDC_ALLOW_PRIVATE" envDefault:"false" help:"identity providers may be http and on private addresses"`
	AutoProvision bool `env:"OIDC_AUTO_PROVISION" envDefault:"false" help:"who signs in through an identity provider and has no account gets one"`
}

// Config of the use cases. BaseURL and EncryptionKeys are required.
type Config struct {
	Settings
	// BaseURL is the public URL of the API, such as "https://sho.rt".
	BaseURL string
	// EncryptionKeys encrypt client secrets and the cookie of a sign-in: the first encrypts, all decrypt. At least
	// seal.MinKey bytes each.
	EncryptionKeys [][]byte
	// Timeout is the limit of one request to a provider; 0 means 5 s.
	Timeout time.Duration
	// Logger receives the reasons of failed sign-ins; nil means slog.Default().
	Logger *slog.Logger
	// Now returns the current time, for sign-ins and cached documents; nil means time.Now.
	Now func() time.Time
}

// questions is the maximum number of requests to the provider during a sign-in: discovery document, keys, token and
// user info.
const questions = 4

// Service implements the use cases. It is safe for concurrent use.
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

// New returns the use cases, or an error for invalid settings. It sends no request yet.
func New(cfg Config, st *store.Store, a *auth.Authenticator, use *settings.Service) (*Service, error) {
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
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

// Timeout is the maximum duration of Begin and Finish.
func (s *Service) Timeout() time.Duration { return questions*s.cfg.Timeout + 5*time.Second }

// PasswordsOff reports whether password sign-in is off: it is disabled by the setting, and a provider is active.
func (s *Service) PasswordsOff(ctx context.Context) (bool, error) {
	enforced, err := s.settings.EnforcesSSO(ctx)
	if err != nil || !enforced {
		return false, err
	}
	any, err := s.store.AnyActiveOIDCProvider(ctx)
	return any, problem.Doing("find active identity provider", err)
}

// callback returns the callback URL of a provider.
func (s *Service) callback(slug string) string {
	return s.cfg.BaseURL + "/api/auth/sso/" + slug + "/callback"
}

func secretPlace(providerID string) string { return "oidc_providers|client_secret|" + providerID }
