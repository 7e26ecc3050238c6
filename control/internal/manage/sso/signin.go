package sso

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/store"
)

// PendingFor is how long a person may take to sign in at the provider.
const PendingFor = 10 * time.Minute

const (
	maxCode    = 4096            // bytes
	afterwards = 2 * time.Second // to log a failure after the request has timed out
)

// The codes of failures, which the person may see.
const (
	CodeUnknownProvider = "unknown_provider"     // the provider does not exist or is not active
	CodeInvalidRedirect = "invalid_redirect"     // the return path is not on our origin
	CodeUnavailable     = "provider_unavailable" // the provider cannot be reached, or its response is invalid
	CodeExpired         = "expired"              // the sign-in started too long ago, or in another browser
	CodeInvalidState    = "invalid_state"        // the response belongs to another sign-in
	CodeDenied          = "access_denied"        // the person or the provider denied access
	CodeProviderError   = "provider_error"       // the provider returned an error
	CodeInvalidToken    = "invalid_token"        // the token cannot be verified
	CodeNoAccount       = "no_account"           // there is no user with the person's verified email
	CodeNotVerified     = "email_not_verified"   // the provider has not verified the email
	CodeInactive        = "account_inactive"     // the user is not active
	CodeDomain          = "email_domain"         // the email's domain is not allowed for the provider
	CodeLinkRequired    = "link_required"        // the user must first confirm the link with password and code
)

// Failure is a failed sign-in, for a reason that the person may see.
type Failure struct {
	Code  string
	Link  string // with CodeLinkRequired: a cookie for Link, valid for PendingFor
	cause error
}

func (f *Failure) Error() string {
	if f.cause == nil {
		return "sign-in failed: " + f.Code
	}
	return "sign-in failed: " + f.Code + ": " + f.cause.Error()
}

func (f *Failure) Unwrap() error { return f.cause }

func failed(code string, cause error) *Failure { return &Failure{Code: code, cause: cause} }

// pending is a sign-in in progress. The browser stores it in an encrypted cookie.
type pending struct {
	ProviderID string `json:"p"`
	State      string `json:"s"`
	Nonce      string `json:"n"`
	Verifier   string `json:"v"`
	ReturnTo   string `json:"r"`
	Until      int64  `json:"u"` // Unix milliseconds
}

// Begun is a sign-in in progress. The browser is redirected to Address and stores Cookie for PendingFor.
type Begun struct {
	Address, Cookie string
}

// Begin starts a sign-in. returnTo is the address after the sign-in; see ReturnPath. Errors that the person may see are a
// *Failure.
func (s *Service) Begin(ctx context.Context, slug, returnTo string) (Begun, error) {
	path, ok := ReturnPath(returnTo)
	if !ok {
		return Begun{}, failed(CodeInvalidRedirect, nil)
	}
	p, err := s.active(ctx, slug)
	if err != nil {
		return Begun{}, err
	}
	m, err := s.directory.metadata(ctx, p.DiscoveryURL)
	if err != nil {
		return Begun{}, s.refused(ctx, p, person{}, failed(CodeUnavailable, err))
	}
	pend := pending{
		ProviderID: p.ID, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), ReturnTo: path,
		Until: s.cfg.Now().Add(PendingFor).UnixMilli(),
	}
	text, err := json.Marshal(pend)
	if err != nil {
		return Begun{}, fmt.Errorf("encode sign-in: %w", err)
	}
	return Begun{
		Address: s.known(p, m, "").AuthCodeURL(pend.State, oidc.Nonce(pend.Nonce), oauth2.S256ChallengeOption(pend.Verifier)),
		Cookie:  s.cookies.Seal(cookiePlace(slug), string(text)),
	}, nil
}

func cookiePlace(slug string) string { return "cookie|" + slug }

func (s *Service) active(ctx context.Context, slug string) (store.OIDCProvider, error) {
	p, err := s.store.OIDCProviderBySlug(ctx, slug)
	if errors.Is(err, store.ErrNotFound) || err == nil && !p.Active {
		return p, failed(CodeUnknownProvider, nil)
	}
	if err != nil {
		return p, fmt.Errorf("look up identity provider: %w", err)
	}
	return p, nil
}

// Answer is a callback request: the cookie of Begun and the query parameters from the provider.
type Answer struct {
	Cookie, State, Code, Error, Issuer string
}

// SignedIn is a new session.
type SignedIn struct {
	User     store.User
	Token    string
	Expires  time.Time
	ReturnTo string
}

// Finish completes a sign-in and starts a session. Errors that the person may see are a *Failure, and are in the audit
// log.
func (s *Service) Finish(ctx context.Context, slug string, a Answer) (SignedIn, error) {
	p, err := s.active(ctx, slug)
	if err != nil {
		return SignedIn{}, err
	}
	who, pend, err := s.identify(ctx, p, a)
	if err != nil {
		return SignedIn{}, s.refused(ctx, p, who, err)
	}
	out, err := s.enter(ctx, p, who)
	if err != nil {
		return SignedIn{}, s.refused(ctx, p, who, err)
	}
	out.ReturnTo = pend.ReturnTo
	return out, nil
}

// identify redeems the code and returns the person.
func (s *Service) identify(ctx context.Context, p store.OIDCProvider, a Answer) (who person, pend pending, err error) {
	text, err := s.cookies.Open(cookiePlace(p.Slug), a.Cookie)
	if err == nil {
		err = json.Unmarshal([]byte(text), &pend)
	}
	if err != nil || pend.ProviderID != p.ID || s.cfg.Now().UnixMilli() >= pend.Until {
		return who, pend, failed(CodeExpired, nil)
	}
	if subtle.ConstantTimeCompare([]byte(a.State), []byte(pend.State)) != 1 {
		return who, pend, failed(CodeInvalidState, nil)
	}
	m, err := s.directory.metadata(ctx, p.DiscoveryURL)
	if err != nil {
		return who, pend, failed(CodeUnavailable, err)
	}
	// RFC 9207: the response comes from another provider.
	if a.Issuer != m.Issuer && (a.Issuer != "" || m.NamesIssuer) {
		return who, pend, failed(CodeProviderError, errors.New("the response is from another issuer"))
	}
	switch {
	case a.Error == "access_denied":
		return who, pend, failed(CodeDenied, nil)
	case a.Error != "":
		return who, pend, failed(CodeProviderError, fmt.Errorf("the provider responded with the error %.50q", a.Error))
	case a.Code == "" || len(a.Code) > maxCode:
		return who, pend, failed(CodeProviderError, errors.New("the provider sent no code"))
	}
	who, err = s.redeem(ctx, p, m, a.Code, pend)
	return who, pend, err
}

// refused writes a failure to the log and the audit log, and returns it. It only returns other errors.
func (s *Service) refused(ctx context.Context, p store.OIDCProvider, who person, err error) error {
	var f *Failure
	if !errors.As(err, &f) {
		return err
	}
	// The request may have timed out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	s.cfg.Logger.WarnContext(ctx, "single sign-on failed", "provider", p.Slug, "code", f.Code, "error", f.Error())
	meta := map[string]any{"provider": p.Slug, "reason": f.Code}
	if who.subject != "" {
		meta["sub"] = who.subject
	}
	if who.email != "" {
		meta["email"] = who.email
	}
	if err := s.store.Tx(ctx, func(tx *store.Tx) error {
		return audit.AppendCounted(ctx, tx, s.cfg.Now(), p.ID, audit.Entry{Action: "SSO_LOGIN_FAILED", EntityType: "oidc_provider",
			EntityID: p.ID, Metadata: meta})
	}); err != nil {
		return fmt.Errorf("log failed sign-in: %w", err)
	}
	return f
}
