package links

import (
	"context"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
)

// Suspend suspends a link that was locked in tx, or lifts its suspension if reason is "". It writes the change-log entry,
// the webhook event and the audit entry, followed by more entries. actor is the id of a user, or "" for the service itself.
// It must be the last call in a transaction. Whether the actor may suspend links is up to the caller.
func Suspend(ctx context.Context, tx *store.Tx, actor string, u *store.Link, reason string, more ...audit.Entry) error {
	now := store.Now()
	before := suspension(u, now)
	u.SuspendReason, u.SuspendedAt, u.UpdatedAt = reason, 0, now
	action := "URL_UNSUSPENDED"
	if reason != "" {
		u.SuspendedAt, action = now, "URL_SUSPENDED"
	}
	after := suspension(u, now)
	if err := tx.UpdateLink(ctx, u); err != nil {
		return err
	}
	if err := tx.Touch(ctx, u.Num, u.Key()); err != nil {
		return err
	}
	changes := map[string]webhooks.Change{}
	for name, v := range after {
		if before[name] != v {
			changes[name] = webhooks.Change{Old: before[name], New: v}
		}
	}
	if err := webhooks.Emit(ctx, tx, Updated(tx.Conn, u, changes)); err != nil {
		return err
	}
	entry := audit.Entry{UserID: actor, Action: action, EntityType: "url", EntityID: u.ID, Workspace: u.Workspace, Old: before, New: after}
	return audit.Append(ctx, tx, append([]audit.Entry{entry}, more...)...)
}

func suspension(u *store.Link, now int64) map[string]any {
	out := map[string]any{"status": u.Status(now), "suspendedReason": nil}
	if u.SuspendReason != "" {
		out["suspendedReason"] = u.SuspendReason
	}
	return out
}
