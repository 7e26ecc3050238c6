// Package privacy erases the stored data of a visitor, who is identified by an IP address alone.
//
// It does not reach data in transit (spools of edges, Kafka), backups, logs, or the receivers of webhooks. See
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

// Service handles requests for erasure.
type Service struct {
	store  *store.Store
	clicks analytics.Store
}

// New returns a Service.
func New(st *store.Store, clicks analytics.Store) *Service { return &Service{st, clicks} }

// Erased counts the erased data.
type Erased struct {
	Clicks int64 // clicks that lost their address
	store.ErasedVisitor
}

// Erase removes an address and its data from the click store, from webhook deliveries and their log, and from the link
// lockouts. The audit entry does not contain the address. Erase may be repeated.
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
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "VISITOR_ERASED", EntityType: "visitor",
			Metadata: map[string]any{
				"clicks": e.Clicks, "webhookDeliveries": e.Deliveries, "webhookLogs": e.Logs, "passwordAttempts": e.LinkLockouts,
			}})
	})
	return e, err
}
