// Package routing holds the use cases that decide where a link leads besides its destination: routing rules,
// their templates and the link's routing settings, and the variants of an A/B test.
//
// It owns what a rule and a variant may hold, how many a link may have, and the switches that follow from them:
// the first rule turns smart routing on and the last one that goes turns it off; the first variant turns A/B
// testing on, and it goes off when no active variant is left. Evaluation is package rule's, and happens on edges.
package routing

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Bounds of what a link may have.
const (
	maxRules    = 100
	maxVariants = 100
	maxName     = 100
	maxPriority = 10_000
	maxWeight   = 100

	// maxConditions bounds what edges must hold of one link: bytes of all its rules' conditions together.
	maxConditions = 1 << 20
)

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	destinations link.Policy
	store        *store.Store
}

// New makes the use cases on an open store; destinations says where rules and variants may lead.
func New(destinations link.Policy, s *store.Store) *Service {
	return &Service{destinations: destinations, store: s}
}

// change runs f in a transaction on a link of the caller's, which stays locked to its end. f writes what is its
// own to write; then the link's switches are saved, if f changed them, and the link is noted as changed. f ends
// with what it returns: the audit entry of the whole change.
func (s *Service) change(ctx context.Context, p auth.Principal, urlID string, f func(tx *store.Tx, u *store.Link) (audited, error)) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := links.Visible(p)(tx.LockLink(ctx, urlID))
		if err != nil {
			return err
		}
		before := u
		entry, err := f(tx, &u)
		if err != nil {
			return err
		}
		return entry.finish(ctx, tx, p, &before, &u)
	})
}

// visible is the link, if the caller may know of it.
func (s *Service) visible(ctx context.Context, p auth.Principal, urlID string) (store.Link, error) {
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

// need notes a field that a new thing must have.
func need[T any](field string, in *T, v *problem.Fields) {
	if in == nil {
		v.Add(field, "is required")
	}
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
