package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
)

// GetByExternalID reads the link of the caller's workspace with an external id.
func (s *Service) GetByExternalID(ctx context.Context, p auth.Principal, externalID string) (store.Link, error) {
	return Visible(p)(s.store.LinkByExternalID(ctx, p.Workspace.Num, strings.TrimSpace(externalID)))
}

// putTries limits how often Put starts again because another call has created or deleted the link meanwhile.
const putTries = 5

// Put updates the link of the caller's workspace with an external id, or creates it. Concurrent calls with the same id
// make one link. A slug is only for a new link: one that differs from an existing link's slug is Invalid.
func (s *Service) Put(ctx context.Context, p auth.Principal, externalID string, in Creation) (u store.Link, created bool, err error) {
	externalID = strings.TrimSpace(externalID)
	var v problem.Fields
	if externalID == "" {
		v.Add("externalId", "is required")
	}
	if given, ok := in.Texts["externalId"]; ok && strings.TrimSpace(given) != externalID {
		v.Add("externalId", "differs from the one in the address")
	}
	if err := v.Err(); err != nil {
		return u, false, err
	}
	in.Texts["externalId"] = externalID
	for range putTries {
		u, err = s.GetByExternalID(ctx, p, externalID)
		switch {
		case err == nil:
			if in.CustomSlug != "" && in.CustomSlug != u.Slug {
				return u, false, problem.OfField("customSlug", "cannot be changed; the link is %q", u.Name())
			}
			if in.Domain != nil && !strings.EqualFold(cmp.Or(store.WithoutPort(strings.TrimSpace(*in.Domain)), s.host), s.Host(&u)) {
				return u, false, problem.OfField(domainField, "cannot be changed; the link is on %q", s.Host(&u))
			}
			u, err = s.Update(ctx, p, u.ID, in.Input)
			if !problem.Is(err, problem.NotFound) {
				return u, false, err
			}
		case problem.Is(err, problem.NotFound):
			if err := version.CheckMissing(ctx); err != nil {
				return u, false, err
			}
			u, err = s.Create(ctx, p, in)
			if !aboutExternalID(err) {
				return u, true, err
			}
		default:
			return u, false, err
		}
	}
	return u, false, fmt.Errorf("create or update the link: %w", err)
}

// aboutExternalID reports whether another call has created a link with the external id.
func aboutExternalID(err error) bool {
	var e *problem.Error
	return errors.As(err, &e) && e.Kind == problem.Conflict && len(e.Fields) > 0 && e.Fields[0].Field == "externalId"
}
