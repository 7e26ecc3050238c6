package sso

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Accounts returns a user's accounts at identity providers.
func (s *Service) Accounts(ctx context.Context, p auth.Principal, userID string) ([]store.OIDCAccount, error) {
	if err := auth.AdminOnly(p); err != nil {
		return nil, err
	}
	if _, err := s.store.UserByID(ctx, userID); errors.Is(err, store.ErrNotFound) {
		return nil, problem.Missing("User")
	} else if err != nil {
		return nil, fmt.Errorf("look up user: %w", err)
	}
	list, err := s.store.OIDCAccounts(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("list accounts at identity providers: %w", err)
	}
	return list, nil
}

// Unlink removes an account from a user. The next sign-in may link it again, by its email.
func (s *Service) Unlink(ctx context.Context, p auth.Principal, userID, id string) error {
	if err := auth.AdminOnly(p); err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		was, err := tx.DeleteOIDCAccount(ctx, userID, id)
		if errors.Is(err, store.ErrNotFound) {
			return problem.Missing("Account")
		}
		if err != nil {
			return fmt.Errorf("unlink account: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "OIDC_ACCOUNT_UNLINKED", EntityType: "oidc_account",
			EntityID: id,
			Old:      loggedAccount(was)})
	})
}

func loggedAccount(a store.OIDCAccount) map[string]any {
	return map[string]any{"userId": a.UserID, "provider": a.ProviderSlug, "issuer": a.Issuer, "sub": a.Subject, "email": a.Email}
}
