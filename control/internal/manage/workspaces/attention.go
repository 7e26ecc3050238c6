package workspaces

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	attentionStreak = 3 // failures of a webhook in a row that are no accident
	attentionOrders = 3 // orders of a certificate
	attentionEnds   = 3 * 24 * time.Hour
	attentionLinks  = 1000

	// attentionKept is how long counts are kept: consoles ask every minute and at each change of the screen.
	attentionKept = 5 * time.Second
)

// AttentionKinds lists the kinds of things that need a person.
var AttentionKinds = []string{store.AttentionWebhook, store.AttentionDomain, store.AttentionCertificate, store.AttentionDestination,
	store.AttentionAlert, store.AttentionAbuse}

// mends is who can do something about a kind, as those who change such objects. Others get no count of a kind.
var mends = map[string]struct {
	role  auth.WorkspaceRole
	scope auth.Scopes
}{
	store.AttentionWebhook:     {auth.WorkspaceAdmin, auth.WebhooksScope},
	store.AttentionAlert:       {auth.WorkspaceAdmin, auth.WebhooksScope},
	store.AttentionDomain:      {auth.WorkspaceAdmin, auth.DomainsScope},
	store.AttentionCertificate: {auth.WorkspaceAdmin, auth.DomainsScope},
	store.AttentionDestination: {auth.Editor, auth.LinksWrite},
}

type counted struct {
	at   time.Time
	list []store.Attention
}

// counts keeps the counts of workspaces for a moment. The zero value is ready.
type counts struct {
	mu   sync.Mutex
	kept map[uint64]counted
}

func (c *counts) recent(workspace uint64, now time.Time) (list []store.Attention, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.kept[workspace]
	return found.list, now.Sub(found.at) < attentionKept
}

func (c *counts) remember(workspace uint64, now time.Time, list []store.Attention) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one, old := range c.kept {
		if now.Sub(old.at) >= attentionKept {
			delete(c.kept, one)
		}
	}
	if c.kept == nil {
		c.kept = map[uint64]counted{}
	}
	c.kept[workspace] = counted{now, list}
}

// Attention counts what needs the caller in the workspace of the request. Administrators of the system also see the reports about links of
// all workspaces.
func (s *Service) Attention(ctx context.Context, p auth.Principal) ([]store.Attention, error) {
	now := time.Now()
	list, ok := s.counts.recent(p.Workspace.Num, now)
	if !ok {
		var err error
		list, err = s.store.Attention(ctx, p.Workspace.Num, store.AttentionLimits{Streak: attentionStreak, Orders: attentionOrders,
			EndsBefore: now.Add(attentionEnds).UnixMilli(), Links: attentionLinks})
		if err != nil {
			return nil, fmt.Errorf("count what needs attention: %w", err)
		}
		s.counts.remember(p.Workspace.Num, now, list)
	}
	return slices.DeleteFunc(slices.Clone(list), func(a store.Attention) bool {
		if a.Kind == store.AttentionAbuse {
			return !p.IsAdmin()
		}
		who := mends[a.Kind]
		return p.Workspace.Role < who.role || !p.Scopes.Allow(who.scope)
	}), nil
}
