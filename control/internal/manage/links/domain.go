package links

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

const domainField = "domain"

// putOnDomain gives a new link the domain that a request names: nil stands for the default domain of the link's workspace.
func (s *Service) putOnDomain(ctx context.Context, u *store.Link, named *string) error {
	return s.putOnKnownDomain(ctx, u, named, domainCache{})
}

// domainCache has the domains that a request has used, by the name in the request; the default of the workspace has the
// name "-", which is not a host name.
type domainCache map[string]store.Domain

// putOnKnownDomain is putOnDomain for many links of one workspace.
func (s *Service) putOnKnownDomain(ctx context.Context, u *store.Link, named *string, known domainCache) error {
	name := "-"
	if named != nil {
		name = strings.TrimSpace(*named)
	}
	d, ok := known[name]
	if !ok {
		var err error
		if d, err = s.findDomain(ctx, s.store.Conn, u.Workspace, named, name); err != nil {
			return err
		}
		known[name] = d
	}
	u.Domain, u.Hostname = d.Num, d.Hostname
	if slugProblem(anySlugs.Normal(u.Slug), anySlugs) != nil {
		return nil // the draft of the link has reported it
	}
	var err error
	u.Slug, err = chosenSlug("customSlug", u.Slug, d.Slugs)
	return err
}

// findDomain returns a Domain with nothing but the rules for slugs for the host of BASE_URL.
func (s *Service) findDomain(ctx context.Context, c store.Conn, workspace uint64, named *string, name string) (store.Domain, error) {
	if named == nil {
		d, err := c.DefaultDomain(ctx, workspace)
		if errors.Is(err, store.ErrNotFound) {
			d = store.Domain{}
			d.Slugs, err = c.BaseSlugs(ctx)
		}
		return d, err
	}
	if name = store.WithoutPort(name); name == "" || strings.EqualFold(name, s.host) {
		var d store.Domain
		var err error
		d.Slugs, err = c.BaseSlugs(ctx)
		return d, err
	}
	host, err := link.Host(name)
	if err != nil {
		return store.Domain{}, problem.OfField(domainField, "must be a host name, such as go.example.com")
	}
	d, err := c.DomainOf(ctx, workspace, host)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return d, problem.OfField(domainField, "the workspace has no domain %q", problem.Clip(name))
	case err != nil:
		return d, fmt.Errorf("find the domain of a link: %w", err)
	}
	return d, nil
}

// domainsNamed returns the numbers of the domains with a host name that the caller may see; 0 stands for the host of
// BASE_URL. An ADMIN who chose no workspace may see several.
func (s *Service) domainsNamed(ctx context.Context, p auth.Principal, name string) ([]uint64, error) {
	if name = store.WithoutPort(name); strings.EqualFold(name, s.host) {
		return []uint64{0}, nil
	}
	host, err := link.Host(name)
	if err != nil {
		return nil, nil
	}
	nums, err := s.store.DomainsNamed(ctx, p.Scope(), []string{host})
	if err != nil {
		return nil, fmt.Errorf("find the domain of links: %w", err)
	}
	return nums, nil
}

// holdDomains makes sure that the domains of new links are not deleted before the commit.
func holdDomains(ctx context.Context, tx *store.Tx, list []*store.Link) error {
	held := map[uint64]bool{0: true}
	for _, u := range list {
		if held[u.Domain] {
			continue
		}
		held[u.Domain] = true
		switch err := tx.HoldDomain(ctx, u.Domain); {
		case errors.Is(err, store.ErrNotFound):
			return problem.OfField(domainField, "the domain %q was deleted meanwhile", u.Hostname)
		case err != nil:
			return fmt.Errorf("hold a domain: %w", err)
		}
	}
	return nil
}

// rehost gives a link from the trash, whose workspace is known, the domain that the request names, or makes sure that its own one
// still exists and may be in service.
func (s *Service) rehost(ctx context.Context, tx *store.Tx, u *store.Link, named *string) error {
	if named != nil {
		d, err := s.findDomain(ctx, tx.Conn, u.Workspace, named, strings.TrimSpace(*named))
		if err != nil {
			return err
		}
		u.Domain, u.Hostname = d.Num, d.Hostname
	}
	if u.Domain == 0 {
		return nil
	}
	message := ""
	d, err := tx.DomainOf(ctx, u.Workspace, u.Hostname)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && d.Num != u.Domain:
		message = fmt.Sprintf("the domain %q was deleted; choose another, or null for the host of the service", u.Hostname)
	case err != nil:
		return fmt.Errorf("find the domain of a deleted link: %w", err)
	case d.Status == store.DomainFailed:
		message = fmt.Sprintf("the domain %q is not in service, because its TXT record is missing; verify it again, or choose another",
			u.Hostname)
	default:
		return holdDomains(ctx, tx, []*store.Link{u})
	}
	return &problem.Error{Kind: problem.Conflict, Message: "The domain of the link is not available.",
		Fields: []problem.Field{{Field: domainField, Message: message}}}
}
