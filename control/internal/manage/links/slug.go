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
	named := ""
	if domain != nil {
		named = strings.TrimSpace(*domain)
	}
	d, err := s.findDomain(ctx, s.store.Conn, a.Link.Workspace, domain, named)
	if err != nil {
		return a, err
	}
	slug = d.Slugs.Normal(slug)
	a.Link.Domain, a.Link.Hostname, a.Link.Slug = d.Num, d.Hostname, slug
	if a.State, err = s.slugState(ctx, &d, slug); err != nil || a.State == SlugFree || a.State == SlugInvalid {
		return a, err
	}
	for n := 2; n < 2+suggestions; n++ {
		end := fmt.Sprintf("-%d", n)
		next := strings.ToValidUTF8(slug[:min(len(slug), link.MaxSlug-len(end))], "") + end
		state, err := s.slugState(ctx, &d, next)
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

func (s *Service) slugState(ctx context.Context, d *store.Domain, slug string) (string, error) {
	switch {
	case !d.Slugs.Valid(slug):
		return SlugInvalid, nil
	case d.Slugs.Reserves(slug):
		return SlugReserved, nil
	}
	_, err := s.store.LinkBySlug(ctx, d.Num, slug)
	taken := err == nil
	if errors.Is(err, store.ErrNotFound) {
		taken, err = s.store.SlugSuspended(ctx, d, slug)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("look up a slug: %w", err)
	case taken:
		return SlugTaken, nil
	}
	return SlugFree, nil
}

// anySlugs are the rules of a host that allows everything which any host may allow.
var anySlugs = link.SlugRules{Extended: true, Min: 1}

// checkAnySlug adds a problem if no host can have a slug. chosenSlug checks it when the host is known.
func checkAnySlug(field, slug string, v *problem.Fields) {
	if err := slugProblem(anySlugs.Normal(slug), anySlugs); err != nil {
		v.Add(field, "%s", err)
	}
}

// chosenSlug returns the form in which a slug is stored, or a problem if the host cannot have it.
func chosenSlug(field, slug string, rules link.SlugRules) (string, error) {
	slug = rules.Normal(slug)
	if err := slugProblem(slug, rules); err != nil {
		return slug, problem.OfField(field, "%s", err)
	}
	return slug, nil
}

// Problems of slugs.
var (
	errSlug      = errors.New("must be 3 to 50 letters, digits, hyphens or underscores")
	errReserved  = errors.New("is a reserved word")
	errShortSlug = errors.New("is too short for this host or has other characters than letters, digits, hyphens and underscores")
	errExtended  = errors.New("must have letters of one script, digits, - and _, with single dots and slashes between them; see the least length of this host")
)

func slugProblem(slug string, rules link.SlugRules) error {
	switch {
	case rules.Valid(slug) && rules.Reserves(slug):
		return errReserved
	case rules.Valid(slug):
		return nil
	case rules == anySlugs || !rules.Extended && (rules.Min == 0 || rules.Min == link.MinSlug):
		return errSlug
	case rules.Extended:
		return errExtended
	}
	return errShortSlug
}

// rulesOf returns the rules for slugs of a domain; 0 is the host of BASE_URL.
func rulesOf(ctx context.Context, c store.Conn, domain uint64) (link.SlugRules, error) {
	if domain == 0 {
		return c.BaseSlugs(ctx)
	}
	d, err := c.DomainByNum(ctx, domain)
	return d.Slugs, err
}
