package links

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// States of a slug that somebody wants for a link.
const (
	SlugFree     = "FREE"
	SlugTaken    = "TAKEN"
	SlugReserved = "RESERVED"
	SlugInvalid  = "INVALID"
)

// Availability says whether a link can have a slug.
type Availability struct {
	Link       store.Link // with Domain, Hostname and Slug only
	State      string
	Suggestion string // a similar slug that is free; "" if there is none, or if State is SlugFree
}

// suggestions is how many similar slugs are tried. Each costs a read by primary key.
const suggestions = 8

// CheckSlug says whether a new link can have a slug. domain is as in Creation. Another request can take the slug at any time, so
// Create still answers Conflict.
func (s *Service) CheckSlug(ctx context.Context, p auth.Principal, slug string, domain *string) (Availability, error) {
	a := Availability{Link: store.Link{Workspace: p.Workspace.Num, Slug: slug}, State: SlugFree}
	if err := s.putOnDomain(ctx, &a.Link, domain); err != nil {
		return a, err
	}
	var err error
	if a.State, err = s.slugState(ctx, a.Link.Domain, slug); err != nil || a.State == SlugFree || a.State == SlugInvalid {
		return a, err
	}
	for n := 2; n < 2+suggestions; n++ {
		end := fmt.Sprintf("-%d", n)
		next := slug[:min(len(slug), link.MaxSlug-len(end))] + end
		state, err := s.slugState(ctx, a.Link.Domain, next)
		if err != nil {
			return a, err
		}
		if state == SlugFree {
			a.Suggestion = next
			break
		}
	}
	return a, nil
}

func (s *Service) slugState(ctx context.Context, domain uint64, slug string) (string, error) {
	switch {
	case !link.ValidSlug(slug):
		return SlugInvalid, nil
	case link.Reserved(slug):
		return SlugReserved, nil
	}
	_, err := s.store.LinkBySlug(ctx, domain, slug)
	taken := err == nil
	if errors.Is(err, store.ErrNotFound) {
		taken, err = s.store.SlugSuspended(ctx, domain, slug)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("look up a slug: %w", err)
	case taken:
		return SlugTaken, nil
	}
	return SlugFree, nil
}
