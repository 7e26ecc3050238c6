package workspaces

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
)

// maxNotified limits the members who learn of paused webhooks.
const maxNotified = 50

// Notices sends e-mails about paused webhooks to OWNERs and ADMINs of their workspace. The zero value sends none.
type Notices struct {
	Mail    *mail.Service
	Console string // address of the console
}

// Mail makes s tell OWNERs and ADMINs of a workspace by e-mail when webhooks are paused because of their maker. console is
// the address of the console. Call it before other methods.
func (s *Service) Mail(m *mail.Service, console string) {
	s.notices = Notices{m, console}
}

// pauseWebhooks pauses the webhooks that a member who leaves, or may no longer manage webhooks, has made in the caller's workspace: only
// this member may know where their data goes. It tells those who can go on with them, and returns the entries for the audit log. reason is
// one of store.PauseReasons.
func (s *Service) pauseWebhooks(ctx context.Context, tx *store.Tx, p auth.Principal, m store.Member, reason string) (log []audit.Entry,
	err error) {
	paused, err := tx.PauseWebhooksOf(ctx, p.Workspace.Num, m.UserID, reason)
	if err != nil {
		return nil, fmt.Errorf("pause the webhooks of a member: %w", err)
	}
	return webhooks.PausedEntries(p.UserID, reason, paused), s.notices.paused(ctx, tx, p.UserID, m.Email, paused)
}

// paused tells of webhooks that are paused because the member who made them has left, was deleted or may no longer manage them. actor
// is the id of the user who did it, who gets no e-mail.
func (n Notices) paused(ctx context.Context, tx *store.Tx, actor, member string, list []store.Paused) error {
	if len(list) == 0 || !n.Mail.Enabled() {
		return nil
	}
	names := map[uint64][]string{}
	for _, w := range list {
		names[w.Workspace] = append(names[w.Workspace], w.Name)
	}
	for _, workspace := range slices.Sorted(maps.Keys(names)) {
		to, err := tx.Notified(ctx, workspace, "", actor, maxNotified)
		if err != nil {
			return fmt.Errorf("find who learns of paused webhooks: %w", err)
		}
		_, name, err := tx.WorkspaceName(ctx, workspace)
		if err != nil {
			return auth.Missing("Workspace", err)
		}
		for _, address := range to {
			if err := n.Mail.Send(ctx, tx, address, mail.WebhooksPaused{
				At: time.Now(), Workspace: name, Member: member, Webhooks: names[workspace], Link: strings.TrimSuffix(n.Console, "/") +
					"/console/webhooks",
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
