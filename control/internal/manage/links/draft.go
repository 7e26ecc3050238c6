package links

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// draftHash stands for the hash of a draft's password, which nobody enters. Hashing takes a tenth of a second.
const draftHash = "draft"

// Draft returns the link that Create would store, with the number 0, and stores nothing. It reports the same problems,
// except for a slug or an external id that is taken.
func (s *Service) Draft(ctx context.Context, p auth.Principal, in Creation) (store.Link, error) {
	u, err := s.checked(ctx, p, &in)
	if err != nil {
		return store.Link{}, err
	}
	return s.complete(ctx, &u, &in.Input)
}

// Redraft returns a stored link as Update would change it, and stores nothing. It reports the same problems, except for an
// external id that is taken. active is the number of active variants.
func (s *Service) Redraft(ctx context.Context, p auth.Principal, stored store.Link, in Input, active int) (store.Link, error) {
	u, err := s.edited(ctx, &in, stored)
	if err != nil {
		return store.Link{}, err
	}
	if err := needsVariant(&in, active); err != nil {
		return store.Link{}, err
	}
	if err := bundles.CheckVisible(ctx, s.store.Conn, p, bundleField, in.bundleIDs()); err != nil {
		return store.Link{}, err
	}
	return s.complete(ctx, &u, &in)
}

// complete adds to a draft what depends on other rows.
func (s *Service) complete(ctx context.Context, u *store.Link, in *Input) (store.Link, error) {
	switch {
	case in.Password == nil:
	case *in.Password == "":
		u.PasswordHash = ""
	default:
		u.PasswordHash = draftHash
	}
	var err error
	if u.ClickParameter = ""; u.TrackConversions {
		if u.ClickParameter, err = s.store.ClickParameter(ctx, u.Workspace); err != nil {
			return store.Link{}, fmt.Errorf("read the parameter of click ids: %w", err)
		}
	}
	if u.MaxClicks != 0 && u.ExhaustedAt == 0 {
		reached, err := s.store.LimitReached(ctx, u)
		if err != nil {
			return store.Link{}, fmt.Errorf("read the clicks of a limited link: %w", err)
		}
		if reached {
			u.ExhaustedAt = store.Now()
		}
	}
	return *u, nil
}

// needsVariant refuses to turn A/B testing on for a link without an active variant.
func needsVariant(in *Input, active int) error {
	if in.ABTesting != nil && *in.ABTesting && active == 0 {
		return problem.OfField("isABTesting", "cannot be turned on: the link has no active variant")
	}
	return nil
}
