package abuse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// maxReason is the length of a suspension's reason in characters. Owners and visitors of the API see it.
const maxReason = 500

// Cases lists a page of the queue, the latest report first.
func (s *Service) Cases(ctx context.Context, p auth.Principal, f store.CaseFilter) ([]store.AbuseCase, int, error) {
	if err := auth.AdminOnly(p); err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.Cases(ctx, f)
	if err != nil {
		return nil, 0, fmt.Errorf("list abuse cases: %w", err)
	}
	return list, total, nil
}

// Case reads one case.
func (s *Service) Case(ctx context.Context, p auth.Principal, id string) (store.AbuseCase, error) {
	if err := auth.AdminOnly(p); err != nil {
		return store.AbuseCase{}, err
	}
	return found(s.store.Case(ctx, id))
}

func found(c store.AbuseCase, err error) (store.AbuseCase, error) {
	return c, auth.Missing("Report", err)
}

// Dismiss closes an open case without a consequence. If a check suspended the link, the suspension is lifted, and the check
// does not suspend the link for the same reason again.
func (s *Service) Dismiss(ctx context.Context, p auth.Principal, id string) (store.AbuseCase, error) {
	return s.resolve(ctx, p, id, func(tx *store.Tx, c *store.AbuseCase, u *store.Link, entry audit.Entry) error {
		if u == nil || u.SuspendedAt == 0 || c.Source == store.SourceVisitor {
			return audit.Append(ctx, tx, entry)
		}
		open, err := tx.OpenCases(ctx, u.ID)
		if err != nil {
			return err
		}
		if byCheck(open) != nil { // another check still suspends it
			return audit.Append(ctx, tx, entry)
		}
		return s.suspend(ctx, tx, p.UserID, u, "", entry)
	}, store.CaseDismissed)
}

// SuspendCase suspends the link of an open case.
func (s *Service) SuspendCase(ctx context.Context, p auth.Principal, id, reason string) (store.AbuseCase, error) {
	if err := checkReason(&reason); err != nil {
		return store.AbuseCase{}, err
	}
	return s.resolve(ctx, p, id, func(tx *store.Tx, _ *store.AbuseCase, u *store.Link, entry audit.Entry) error {
		if u == nil {
			return problem.New(problem.Conflict, "The link was deleted, so it cannot be suspended.")
		}
		if err := s.closeAll(ctx, tx, p, u.ID, store.CaseActioned); err != nil {
			return err
		}
		return s.suspend(ctx, tx, p.UserID, u, reason, entry)
	}, store.CaseActioned)
}

// resolve changes the status of an open case. then must be the end of the transaction and log entry. u is nil if the link was
// deleted.
func (s *Service) resolve(ctx context.Context, p auth.Principal, id string, then func(tx *store.Tx, c *store.AbuseCase, u *store.Link,
	entry audit.Entry) error, status string) (store.AbuseCase, error) {
	now, err := s.Case(ctx, p, id)
	if err != nil {
		return now, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockLink(ctx, now.URLID) // links are locked before cases
		link := &u
		if errors.Is(err, store.ErrNotFound) {
			link = nil
		} else if err != nil {
			return err
		}
		c, err := found(tx.LockCase(ctx, id))
		if err != nil {
			return err
		}
		if c.Status != store.CaseOpen {
			return problem.New(problem.Conflict, "This report was already resolved.")
		}
		if err := s.closeCase(ctx, tx, p, &c, status); err != nil {
			return err
		}
		return then(tx, &c, link, audit.Entry{UserID: p.UserID, Action: "ABUSE_REPORT_" + status, EntityType: "abuse_report",
			EntityID: c.ID,
			Metadata: map[string]any{"urlId": c.URLID, "domain": analytics.OrNull(c.Hostname), "slug": c.Slug}})
	})
	if err != nil {
		return store.AbuseCase{}, err
	}
	return s.Case(ctx, p, id)
}

// closeCase resolves one case. The addresses of reporters are not needed any more.
func (s *Service) closeCase(ctx context.Context, tx *store.Tx, p auth.Principal, c *store.AbuseCase, status string) error {
	c.Status, c.ResolvedAt, c.ResolvedBy = status, s.cfg.Now().UnixMilli(), p.UserID
	for i := range c.Messages {
		c.Messages[i].Email = ""
	}
	return tx.SaveCase(ctx, *c)
}

// closeAll resolves all open cases of a link.
func (s *Service) closeAll(ctx context.Context, tx *store.Tx, p auth.Principal, urlID, status string) error {
	open, err := tx.OpenCases(ctx, urlID)
	if err != nil {
		return err
	}
	for i := range open {
		if err := s.closeCase(ctx, tx, p, &open[i], status); err != nil {
			return err
		}
	}
	return nil
}

// byCheck returns the first case that a check opened; nil if there is none.
func byCheck(open []store.AbuseCase) *store.AbuseCase {
	for i := range open {
		if open[i].Source != store.SourceVisitor {
			return &open[i]
		}
	}
	return nil
}

func checkReason(reason *string) error {
	*reason = strings.TrimSpace(*reason)
	if n := utf8.RuneCountInString(*reason); n < 1 || n > maxReason {
		return problem.OfField("reason", "must be 1 to %d characters long", maxReason)
	}
	return nil
}

// Suspend suspends a link and resolves its open cases. Suspending a suspended link replaces the reason.
func (s *Service) Suspend(ctx context.Context, p auth.Principal, urlID, reason string) (store.Link, error) {
	if err := checkReason(&reason); err != nil {
		return store.Link{}, err
	}
	return s.setSuspended(ctx, p, urlID, reason, store.CaseActioned)
}

// Lift lifts a suspension and dismisses the link's open cases. Without a suspension it changes nothing.
func (s *Service) Lift(ctx context.Context, p auth.Principal, urlID string) (store.Link, error) {
	return s.setSuspended(ctx, p, urlID, "", store.CaseDismissed)
}

func (s *Service) setSuspended(ctx context.Context, p auth.Principal, urlID, reason, cases string) (u store.Link, err error) {
	if err := auth.AdminOnly(p); err != nil {
		return u, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if u, err = links.Visible(p)(tx.LockLink(ctx, urlID)); err != nil {
			return err
		}
		if reason == u.SuspendReason && (reason == "") == (u.SuspendedAt == 0) {
			return nil
		}
		if err := s.closeAll(ctx, tx, p, urlID, cases); err != nil {
			return err
		}
		return s.suspend(ctx, tx, p.UserID, &u, reason)
	})
	return u, err
}
