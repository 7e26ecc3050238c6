// Package privacy erases what is stored of a visitor, who is known by an address alone.
//
// It does not reach what is on its way (spools of edges, Kafka), backups, logs, or the receivers of webhooks. See
// docs/operators/security.md for the whole list.
package privacy

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Service answers requests for erasure.
type Service struct {
	store  *store.Store
	clicks analytics.Store
}

// New makes a Service.
func New(st *store.Store, clicks analytics.Store) *Service { return &Service{st, clicks} }

// Erased is how much was erased.
type Erased struct {
	Clicks int64 // that have no address any more
	store.ErasedVisitor
}

// Erase removes an address and what belongs to it from the click store, from webhook deliveries and their log, and from the
// list of wrong passwords. The log of this operation does not name the address. It may be repeated.
func (s *Service) Erase(ctx context.Context, p auth.Principal, text string) (e Erased, err error) {
	if !p.IsAdmin() {
		return e, problem.New(problem.Forbidden, "Only administrators may erase visitors.")
	}
	ip, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil || ip.Zone() != "" || ip.IsUnspecified() {
		return e, problem.OfField("ip", "must be an IPv4 or IPv6 address")
	}
	ip = ip.Unmap()
	if e.Clicks, err = s.clicks.Erase(ctx, ip); err != nil {
		return e, fmt.Errorf("erase a visitor's clicks: %w", err)
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if e.ErasedVisitor, err = tx.EraseVisitor(ctx, ip); err != nil {
			return fmt.Errorf("erase a visitor: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "VISITOR_ERASED", EntityType: "visitor", Metadata: map[string]any{
			"clicks": e.Clicks, "webhookDeliveries": e.Deliveries, "webhookLogs": e.Logs, "passwordAttempts": e.LinkLockouts,
		}})
	})
	return e, err
}
