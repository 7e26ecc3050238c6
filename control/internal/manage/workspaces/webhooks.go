package workspaces

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
)

// maxNotified limits the members who learn of paused webhooks.
const maxNotified = 50

// notices sends e-mails about paused webhooks. The zero value sends none.
type notices struct {
	mail    *mail.Service
	console string
}

// Mail makes s tell OWNERs and ADMINs of a workspace by e-mail when webhooks are paused because their maker has left. console is
// the address of the console. Call it before other methods.
func (s *Service) Mail(m *mail.Service, console string) {
	s.notices = notices{m, strings.TrimSuffix(console, "/")}
}

// pauseWebhooks pauses the webhooks that a member who leaves has made in a workspace: only this member may know where their data
// goes. It tells those who can go on with them, and returns the entries for the audit log. actor is the id of a user.
func (s *Service) pauseWebhooks(ctx context.Context, tx *store.Tx, actor string, workspace uint64, m store.Member) (log []audit.Entry, err error) {
	paused, err := tx.PauseWebhooksOf(ctx, workspace, m.UserID)
	if err != nil {
		return nil, fmt.Errorf("pause the webhooks of a member: %w", err)
	}
	log = webhooks.PausedEntries(actor, "MEMBER_REMOVED", paused)
	if len(paused) == 0 || !s.notices.mail.Enabled() {
		return log, nil
	}
	to, err := tx.Notified(ctx, workspace, "", actor, maxNotified)
	if err != nil {
		return nil, fmt.Errorf("find who learns of paused webhooks: %w", err)
	}
	_, name, err := tx.WorkspaceName(ctx, workspace)
	if err != nil {
		return nil, missing(err)
	}
	var names []string
	for _, w := range paused {
		names = append(names, w.Name)
	}
	for _, address := range to {
		if err := s.notices.mail.Send(ctx, tx, address, mail.WebhooksPaused{
			At: time.Now(), Workspace: name, Member: m.Email, Webhooks: names, Link: s.notices.console + "/console/webhooks",
		}); err != nil {
			return nil, err
		}
	}
	return log, nil
}
