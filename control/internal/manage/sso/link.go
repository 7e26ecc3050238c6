package sso

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// linkPlace is the place, in terms of package seal, of a pending link.
const linkPlace = "link"

// Link is a pending link of an account at a provider to a privileged user: an administrator, or a user with a second
// factor. An email in a provider's token is not enough to open such an account. The user confirms the link by signing
// in with password and code in the same browser.
type Link struct {
	UserID string
	s      *Service
	wait   waiting
}

// waiting is a pending link. The browser stores it in an encrypted cookie.
type waiting struct {
	Slug       string `json:"l"`
	ProviderID string `json:"p"`
	Issuer     string `json:"i"`
	Subject    string `json:"s"`
	Email      string `json:"e"`
	UserID     string `json:"u"`
	Until      int64  `json:"t"` // Unix milliseconds
}

// linkRequired returns the failure of a sign-in that requires confirmation of a link.
func (s *Service) linkRequired(p store.OIDCProvider, a store.OIDCAccount) error {
	text, err := json.Marshal(waiting{p.Slug, p.ID, a.Issuer, a.Subject, a.Email, a.UserID, s.cfg.Now().Add(PendingFor).UnixMilli()})
	if err != nil {
		return fmt.Errorf("encode pending link: %w", err)
	}
	return &Failure{Code: CodeLinkRequired, Link: s.cookies.Seal(linkPlace, string(text))}
}

// Link decrypts the cookie of a Failure with CodeLinkRequired.
func (s *Service) Link(cookie string) (*Link, error) {
	var w waiting
	text, err := s.cookies.Open(linkPlace, cookie)
	if err == nil {
		err = json.Unmarshal([]byte(text), &w)
	}
	if err != nil || s.cfg.Now().UnixMilli() >= w.Until {
		return nil, problem.OfField("linkAccount", "has expired: sign in through the identity provider again")
	}
	return &Link{UserID: w.UserID, s: s, wait: w}, nil
}

// Write links the account. Call it in the transaction that starts the session.
func (l *Link) Write(ctx context.Context, tx *store.Tx) error {
	w := l.wait
	p, err := tx.LockOIDCProvider(ctx, w.Slug)
	if errors.Is(err, store.ErrNotFound) || err == nil && (p.ID != w.ProviderID || !p.Active) {
		return problem.OfField("linkAccount", "is not possible: the identity provider is no longer active")
	}
	if err != nil {
		return fmt.Errorf("look up identity provider: %w", err)
	}
	have, err := tx.OIDCAccountBySubject(ctx, p.ID, w.Issuer, w.Subject)
	switch {
	case err == nil && have.UserID != w.UserID:
		return problem.New(problem.Conflict, "The account at the identity provider now belongs to another user.")
	case err == nil:
		return nil // confirmed twice
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("look up account: %w", err)
	}
	now := store.Now()
	a := store.OIDCAccount{
		ID: store.NewID(), ProviderID: p.ID, ProviderSlug: p.Slug, ProviderName: p.Name, UserID: w.UserID, Issuer: w.Issuer,
		Subject:   w.Subject,
		Email:     w.Email,
		CreatedAt: now, LastLoginAt: now,
	}
	if err := tx.InsertOIDCAccount(ctx, a); err != nil {
		return fmt.Errorf("write account: %w", err)
	}
	return audit.Append(ctx, tx, audit.Entry{
		UserID: w.UserID, Action: "OIDC_ACCOUNT_LINKED", EntityType: "oidc_account", EntityID: a.ID, New: loggedAccount(a),
		Metadata: map[string]any{"confirmed": true},
	})
}
