package domains

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// maxReason is the length of a suspension's reason in characters. Owners see it.
const maxReason = 500

// Suspend takes a domain out of service, for the reason that its owners see. They keep the name and cannot lift the
// suspension. Suspending a suspended domain replaces the reason. A domain that never was in service is a Conflict. Callers
// check that the principal is an ADMIN.
func (s *Service) Suspend(ctx context.Context, p auth.Principal, id, reason string) (store.Domain, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n < 1 || n > maxReason {
		return store.Domain{}, problem.OfField("reason", "must be 1 to %d characters long", maxReason)
	}
	return s.setSuspended(ctx, p, id, func(d *store.Domain) error {
		if d.Status == store.DomainPending || d.Status == store.DomainFailed {
			return problem.New(problem.Conflict, "Only a domain in service can be suspended. This one is %s.", d.Status)
		}
		d.Status, d.Suspended = store.DomainSuspended, reason
		return nil
	})
}

// Lift puts a suspended domain back into service. The next check then judges its records. Without a suspension nothing
// changes.
func (s *Service) Lift(ctx context.Context, p auth.Principal, id string) (store.Domain, error) {
	return s.setSuspended(ctx, p, id, func(d *store.Domain) error {
		if d.Status == store.DomainSuspended {
			// The record was not looked for during the suspension, so its owners get the whole time again.
			d.Status, d.Suspended, d.ProvedAt = store.DomainActive, "", s.now()
		}
		return nil
	})
}

func (s *Service) setSuspended(ctx context.Context, p auth.Principal, id string, change func(*store.Domain) error) (after store.Domain,
	err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visible(p)(tx.LockDomain(ctx, id))
		if err != nil {
			return err
		}
		after = before
		if err := change(&after); err != nil || after == before {
			return err
		}
		return s.storeChange(ctx, tx, p.UserID, &before, &after)
	})
	return after, problem.Doing("change the suspension of a domain", err)
}
