// Package passkeys holds the use cases of passkeys (WebAuthn): users register them, and sign in with them without a user
// name.
//
// A passkey counts as both factors, so it must be discoverable, and the authenticator must verify its user by PIN or
// biometrics. Passwords keep working beside it. Attestation is neither asked for nor looked at.
//
// Begin stores the hash of a random challenge. Finish takes it, so a challenge works once, for five minutes, and at any
// replica. A signature counter that does not increase means that the authenticator may have been copied: the sign-in is
// refused and reported. Many authenticators do not count and always send 0; their copies cannot be detected.
//
// A passkey is bound to the host of the console's address. It does not work there after that host has changed.
package passkeys

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	// MaxPerUser is the limit of passkeys of one user.
	MaxPerUser = 20
	// PendingFor is how long a registration or a sign-in may take.
	PendingFor = 5 * time.Minute

	maxName       = 100  // characters
	maxID         = 1023 // bytes of a credential's id, by the standard
	maxClientData = 4 << 10
	maxObject     = 16 << 10
	maxPublicKey  = 2 << 10
	maxSignature  = 1 << 10
)

// Config of the use cases.
type Config struct {
	// BaseURL is the public address of the service. Required.
	BaseURL string
	// ConsoleURL is the address of the console; "" means BaseURL.
	ConsoleURL string
	// Confirm returns an error unless the caller has signed in recently or the password is right. Required.
	Confirm func(ctx context.Context, p auth.Principal, password string) error
	// Off reports that users must sign in through an identity provider; nil means never.
	Off func(ctx context.Context) (bool, error)
	// Mail tells users of their new, removed and cloned passkeys; nil means that no e-mail is sent.
	Mail *mail.Service
	// Logger receives cloned authenticators and the reasons of failed sign-ins; nil means slog.Default().
	Logger *slog.Logger
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg     Config
	store   *store.Store
	auth    *auth.Authenticator
	lockout *auth.Lockout
	web     *webauthn.WebAuthn // nil: browsers offer no passkeys at the console's address
}

// New returns the use cases, or an error for invalid settings.
func New(cfg Config, st *store.Store, a *auth.Authenticator) (*Service, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: st, auth: a, lockout: auth.NewLockout(st, cfg.Now)}
	host, origins, err := party(cfg.BaseURL, cfg.ConsoleURL)
	if err != nil || host == "" {
		return s, err
	}
	s.web, err = webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Shortline", RPOrigins: origins,
		AttestationPreference: protocol.PreferNoAttestation,
	})
	if err != nil {
		return nil, fmt.Errorf("configure passkeys: %w", err)
	}
	return s, nil
}

// party returns the host that passkeys are bound to and the origins of pages that may use them. host is "" if browsers
// offer no passkeys there: they require https or localhost, and a name instead of an IP address.
func party(base, console string) (host string, origins []string, err error) {
	for _, address := range []string{cmp.Or(console, base), base} {
		u, err := url.Parse(address)
		if err != nil {
			return "", nil, fmt.Errorf("parse the console's address: %w", err)
		}
		name := strings.ToLower(u.Hostname())
		local := name == "localhost" || strings.HasSuffix(name, ".localhost")
		usable := (u.Scheme == "https" || u.Scheme == "http" && local) && net.ParseIP(name) == nil && protocol.ValidateRPID(name) == nil
		if len(origins) == 0 && !usable {
			return "", nil, nil
		}
		host = cmp.Or(host, name)
		if usable && name == host { // the same host serves the console at BASE_URL, too
			origins = append(origins, u.Scheme+"://"+strings.ToLower(u.Host))
		}
	}
	return host, origins, nil
}

// Available reports whether users can register passkeys and sign in with them: the console's address allows it, and
// single sign-on is not enforced.
func (s *Service) Available(ctx context.Context) (bool, error) {
	if s.web == nil {
		return false, nil
	}
	if s.cfg.Off == nil {
		return true, nil
	}
	off, err := s.cfg.Off(ctx)
	if err != nil {
		return false, fmt.Errorf("check whether passkeys are off: %w", err)
	}
	return !off, nil
}

// checkAvailable returns a problem if passkeys are not available.
func (s *Service) checkAvailable(ctx context.Context) error {
	if s.web == nil {
		return problem.New(problem.Forbidden, "Passkeys are not available: the console's address must begin with https and a host name.")
	}
	if on, err := s.Available(ctx); err != nil || on {
		return err
	}
	return problem.New(problem.Forbidden, "Passkeys are turned off. Use single sign-on.")
}

// event describes the present request for an e-mail. Its link leads to the user's list of passkeys.
func (s *Service) event(ctx context.Context) mail.Event {
	from := audit.OriginOf(ctx)
	return mail.Event{At: s.cfg.Now(), IP: from.IP, UserAgent: from.UserAgent,
		Link: strings.TrimSuffix(cmp.Or(s.cfg.ConsoleURL, s.cfg.BaseURL), "/") + "/console/account"}
}
