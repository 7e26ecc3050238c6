// Package routing implements the use cases for routing rules, their templates, a link's routing settings, and the
// variants of an A/B test.
//
// It validates rules and variants, limits how many a link may have, and keeps the link's switches consistent. The
// first rule turns smart routing on, and deleting the last rule turns it off. The first variant turns A/B testing on;
// it turns off when no active variant is left. Edges evaluate rules with package rule.
package routing

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Limits per link.
const (
	maxRules    = 100
	maxVariants = 100
	maxName     = 100
	maxPriority = 10_000
	maxWeight   = 100

	// maxConditions limits the total size of the conditions of all rules of a link in bytes, because every edge keeps
	// them in memory.
	maxConditions = 1 << 20
)

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	destinations link.Policy
	screen       links.Screen
	store        *store.Store
}

// New returns a Service for an open store. destinations restricts the targets of rules and variants.
func New(destinations link.Policy, s *store.Store) *Service {
	return &Service{destinations: destinations, store: s}
}

// Screening makes the service ask about the targets of rules and variants. Call it before the service is used.
func (s *Service) Screening(f links.Screen) *Service {
	s.screen = f
	return s
}

// screenTarget asks about a destination of a request for a link that the caller may see.
func (s *Service) screenTarget(ctx context.Context, p auth.Principal, urlID, field string, url *string) error {
	if s.screen == nil || url == nil {
		return nil
	}
	if _, err := s.visibleLink(ctx, p, urlID); err != nil {
		return err
	}
	return s.screen.Check(ctx, s.destinations, links.Target{Field: field, URL: url})
}

// change runs f in a transaction that locks the caller's link until the commit. f writes its own rows and returns the
// audit entry. Then change saves the link's switches, if f changed them, and logs the change of the link. It writes the
// resulting link to result, if given.
func (s *Service) change(ctx context.Context, p auth.Principal, urlID string, f func(tx *store.Tx, u *store.Link) (audited, error),
	result ...*store.Link) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := links.Visible(p)(tx.LockLink(ctx, urlID))
		if err != nil {
			return err
		}
		before, err := tx.StateOf(ctx, u)
		if err != nil {
			return err
		}
		entry, err := f(tx, &u)
		if err != nil {
			return err
		}
		if err := entry.finish(ctx, tx, p, before, &u); err != nil {
			return err
		}
		for _, r := range result {
			*r = u
		}
		return nil
	})
}

// visibleLink reads a link that the caller may see.
func (s *Service) visibleLink(ctx context.Context, p auth.Principal, urlID string) (store.Link, error) {
	return links.Visible(p)(s.store.LinkByID(ctx, urlID))
}

func checkName(raw string, to *string, v *problem.Fields) {
	name := strings.TrimSpace(raw)
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName {
		v.Add("name", "must be 1 to %d characters long", maxName)
		return
	}
	*to = name
}

func (s *Service) checkTarget(raw string, to *string, v *problem.Fields) {
	kept, err := link.CheckDestination(strings.TrimSpace(raw), s.destinations)
	if err != nil {
		v.Add("targetUrl", "%s", err)
		return
	}
	*to = kept
}

// need reports a missing field that is required for a new rule or variant.
func need[T any](field string, in *T, v *problem.Fields) {
	if in == nil {
		v.Add(field, "is required")
	}
}
