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

// linkPlace binds the sealed text of a link that waits to be confirmed.
const linkPlace = "link"

// Link is an account at a provider that its owner has just shown to have, and that belongs to a user who has more to
// lose than others: an administrator, or one with a second factor. A provider's word about an email alone must not open
// such a user's account. The user confirms the link by signing in with password and code in the same browser.
type Link struct {
	UserID string
	s      *Service
	wait   waiting
}

// waiting is a link that waits to be confirmed. Sealed, it is kept by the browser.
type waiting struct {
	Slug       string `json:"l"`
	ProviderID string `json:"p"`
	Issuer     string `json:"i"`
	Subject    string `json:"s"`
	Email      string `json:"e"`
	UserID     string `json:"u"`
	Until      int64  `json:"t"` // Unix milliseconds
}

// linkRequired is the failure of a sign-in that needs a link to be confirmed.
func (s *Service) linkRequired(p store.OIDCProvider, a store.OIDCAccount) error {
	text, err := json.Marshal(waiting{p.Slug, p.ID, a.Issuer, a.Subject, a.Email, a.UserID, s.cfg.Now().Add(PendingFor).UnixMilli()})
	if err != nil {
		return fmt.Errorf("encode a link: %w", err)
	}
	return &Failure{Code: CodeLinkRequired, Link: s.cookies.Seal(linkPlace, string(text))}
}

// Link opens the cookie of a Failure with CodeLinkRequired.
func (s *Service) Link(cookie string) (*Link, error) {
	var w waiting
	text, err := s.cookies.Open(linkPlace, cookie)
	if err == nil {
		err = json.Unmarshal([]byte(text), &w)
	}
	if err != nil || s.cfg.Now().UnixMilli() >= w.Until {
		return nil, problem.OfField("linkAccount", "has nothing to link any more: sign in through the identity provider again")
	}
	return &Link{UserID: w.UserID, s: s, wait: w}, nil
}

// Write links the account, in the transaction that begins the session of the user who has confirmed it.
func (l *Link) Write(ctx context.Context, tx *store.Tx) error {
	w := l.wait
	p, err := tx.LockOIDCProvider(ctx, w.Slug)
	if errors.Is(err, store.ErrNotFound) || err == nil && (p.ID != w.ProviderID || !p.Active) {
		return problem.OfField("linkAccount", "can't be done: the identity provider is no longer active")
	}
	if err != nil {
		return fmt.Errorf("look up an identity provider: %w", err)
	}
	have, err := tx.OIDCAccountBySubject(ctx, p.ID, w.Issuer, w.Subject)
	switch {
	case err == nil && have.UserID != w.UserID:
		return problem.New(problem.Conflict, "The account at the identity provider belongs to another user by now.")
	case err == nil:
		return nil // confirmed twice
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("look up an account: %w", err)
	}
	now := store.Now()
	a := store.OIDCAccount{
		ID: store.NewID(), ProviderID: p.ID, ProviderSlug: p.Slug, ProviderName: p.Name, UserID: w.UserID, Issuer: w.Issuer, Subject: w.Subject, Email: w.Email,
		CreatedAt: now, LastLoginAt: now,
	}
	if err := tx.InsertOIDCAccount(ctx, a); err != nil {
		return fmt.Errorf("write an account: %w", err)
	}
	return audit.Append(ctx, tx, audit.Entry{
		UserID: w.UserID, Action: "OIDC_ACCOUNT_LINKED", EntityType: "oidc_account", EntityID: a.ID, New: loggedAccount(a), Metadata: map[string]any{"confirmed": true},
	})
}
