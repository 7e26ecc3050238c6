package webhooks

import (
	"github.com/shortline/shortline/control/internal/manage/audit"
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
