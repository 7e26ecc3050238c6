package domains

import (
	"context"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/slugs"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Update changes the fields that the input sets. A host name never changes.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.Domain, error) {
	var after store.Domain
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visible(p)(tx.LockDomain(ctx, id))
		if err != nil {
			return err
		}
		after = before
		var v problem.Fields
		s.applyInput(&in, &after, &v)
		if err := v.Err(); err != nil || after == before {
			return err
		}
		if err := slugs.Change(ctx, tx, after.Num, before.Slugs, after.Slugs); err != nil {
			return err
		}
		return s.storeChange(ctx, tx, p.UserID, &before, &after)
	})
	return after, problem.Doing("update domain", err)
}

// storeChange stores a changed domain, tells edges if the change concerns them, and writes an audit entry if it concerns owners.
func (s *Service) storeChange(ctx context.Context, tx *store.Tx, userID string, before, after *store.Domain) error {
	seen := *after // as owners see it: without the times of checks
	seen.Proof, seen.Route, seen.CheckedAt, seen.ProvedAt = before.Proof, before.Route, before.CheckedAt, before.ProvedAt
	if seen == *before {
		return tx.UpdateDomain(ctx, after)
	}
	after.UpdatedAt = s.now()
	if err := tx.UpdateDomain(ctx, after); err != nil {
		return err
	}
	if before.Status == store.DomainActive || after.Status == store.DomainActive {
		if err := tx.TouchDomain(ctx, after); err != nil {
			return err
		}
	}
	if before.Status != after.Status {
		name := map[string]string{store.DomainActive: webhooks.DomainVerified, store.DomainFailed: webhooks.DomainLost}[after.Status]
		if name != "" {
			if err := webhooks.Emit(ctx, tx, webhooks.Event{Name: name, Workspace: after.Workspace,
				Data: webhooks.DomainEvent(after)}); err != nil {
				return err
			}
		}
	}
	return audit.Append(ctx, tx, audit.Entry{UserID: userID, Action: "DOMAIN_UPDATED", EntityType: "domain", EntityID: after.ID,
		Workspace: after.Workspace, Old: fields(before), New: fields(after)})
}

// maxCounted is the number up to which a Conflict counts the links of a domain.
const maxCounted = 1000

// Delete removes a domain without links. A domain with links is a Conflict, and so is a suspended one unless the caller is an
// ADMIN.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		d, err := visible(p)(tx.LockDomain(ctx, id))
		if err != nil {
			return err
		}
		if d.Status == store.DomainSuspended && p.Role != auth.Admin {
			// else its owner could add it again
			return problem.New(problem.Conflict, "The domain is suspended. Only an administrator of the service can delete it.")
		}
		switch n, err := tx.CountLinksOf(ctx, d.Num, maxCounted); {
		case err != nil:
			return err
		case n > maxCounted:
			return problem.New(problem.Conflict, "The domain has more than %d links. Delete them first.", maxCounted)
		case n > 0:
			return problem.New(problem.Conflict, "The domain has %d links. Delete them first.", n)
		}
		if err := tx.DeleteDomain(ctx, &d); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "DOMAIN_DELETED", EntityType: "domain", EntityID: id,
			Workspace: d.Workspace, Old: fields(&d)})
	})
	return problem.Doing("delete domain", err)
}
