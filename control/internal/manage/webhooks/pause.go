package webhooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
)

// PausedEntries returns the entries for the audit log about webhooks that were paused for a reason, such as store.PausedMemberRemoved.
// actor is the id of a user.
func PausedEntries(actor, reason string, list []store.Paused) []audit.Entry {
	log := make([]audit.Entry, len(list))
	for i, w := range list {
		log[i] = audit.Entry{
			UserID: actor, Action: "WEBHOOK_UPDATED", EntityType: "webhook", EntityID: w.ID, Workspace: w.Workspace,
			Old: map[string]any{"isActive": true}, New: map[string]any{"isActive": false}, Metadata: map[string]any{"reason": reason},
		}
	}
	return log
}

// A webhook is paused when a delivery is given up, at least pauseStreak attempts in a row have failed, and the first of them was made
// pauseAfter ago. One delivery with long retries takes as many attempts and as long.
const (
	pauseStreak = 12
	pauseAfter  = 3 * 24 * time.Hour
)

// maxNotified limits the members who learn that a webhook was paused.
const maxNotified = 50

// notices sends e-mails about webhooks that fail. The zero value sends none.
type notices struct {
	mail    *mail.Service
	console string // address of the console
}

// Mail makes s tell OWNERs and ADMINs of a workspace, and the member who made the webhook, by e-mail when it is paused because it fails.
// console is the address of the console. Call it before other methods.
func (s *Service) Mail(m *mail.Service, console string) {
	s.notices = notices{m, strings.TrimSuffix(console, "/")}
}

// pauseFailing pauses the webhooks of deliveries that were given up if nothing could be delivered to them for long. It must be the last
// call in a transaction.
func (s *Service) pauseFailing(ctx context.Context, tx *store.Tx, list []outcome) error {
	lost := map[string]string{} // the last error by webhook
	for i := range list {
		if list[i].lost() {
			lost[list[i].log.WebhookID] = list[i].log.Error
		}
	}
	var entries []audit.Entry
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		paused, err := tx.PauseFailing(ctx, id, pauseStreak, s.now()-pauseAfter.Milliseconds())
		if err != nil {
			return fmt.Errorf("pause a webhook that fails: %w", err)
		}
		if !paused {
			continue
		}
		w, err := tx.WebhookByID(ctx, id)
		if err != nil {
			return fmt.Errorf("read webhook: %w", err)
		}
		s.cfg.Logger.Warn("failing webhook paused", "webhook_id", id)
		entries = append(entries, PausedEntries("", store.PausedFailing, []store.Paused{{ID: id, Name: w.Name, Workspace: w.Workspace}})...)
		if err := s.notices.failing(ctx, tx, &w, lost[id]); err != nil {
			return err
		}
		tx.AfterCommit(s.clicks.invalidate)
	}
	return audit.Append(ctx, tx, entries...)
}

// failing tells of a webhook that was paused because it fails.
func (n notices) failing(ctx context.Context, tx *store.Tx, w *store.Webhook, reason string) error {
	if !n.mail.Enabled() {
		return nil
	}
	to, err := tx.Notified(ctx, w.Workspace, w.UserID, "", maxNotified)
	if err != nil {
		return fmt.Errorf("find who learns of a paused webhook: %w", err)
	}
	_, name, err := tx.WorkspaceName(ctx, w.Workspace)
	if err != nil {
		return fmt.Errorf("read the workspace of a webhook: %w", err)
	}
	for _, address := range to {
		if err := n.mail.Send(ctx, tx, address, mail.WebhookFails{
			At: time.Now(), Workspace: name, Webhook: w.Name, Since: time.UnixMilli(w.FailingSince), Reason: reason,
			Link: n.console + "/console/webhooks",
		}); err != nil {
			return err
		}
	}
	return nil
}
