package routing

import (
	"context"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// audited describes one change of a rule, a variant or the settings for the audit log. If before and after are equal,
// nothing changed and nothing is logged.
type audited struct {
	action, entityType, id string
	before, after          map[string]any // nil: created or deleted
}

// finish ends a transaction. It writes the link's row if its switches changed, the change-log entry, the history, the webhook
// events, and the audit row, which includes the switches.
func (a audited) finish(ctx context.Context, tx *store.Tx, p auth.Principal, before store.LinkState, after *store.Link) error {
	switches := links.Changes(&before.Link, after)
	events := a.events(tx.Conn, after, switches)
	if a.before != nil && a.after != nil {
		a.before, a.after = differences(a.before, a.after)
		if len(a.after) == 0 && len(switches) == 0 {
			return nil
		}
	}
	if len(switches) > 0 {
		after.UpdatedAt = store.Now()
		if err := tx.UpdateLink(ctx, after); err != nil {
			return err
		}
	}
	if err := links.RecordChange(ctx, tx, p, a.action, after, before); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, events...); err != nil {
		return err
	}
	e := audit.Entry{UserID: p.UserID, Action: a.action, EntityType: a.entityType, EntityID: a.id, Workspace: after.Workspace,
		Metadata: map[string]any{"urlId": after.ID}}
	if a.before != nil {
		e.Old = a.before
	}
	if a.after != nil {
		e.New = a.after
	}
	if len(switches) > 0 && a.entityType != "url" {
		e.Metadata["urlChanges"] = switches
	}
	return audit.Append(ctx, tx, e)
}

// ruleEvents maps actions on rules to webhook events.
var ruleEvents = map[string]string{
	"ROUTING_RULE_CREATED": webhooks.RuleCreated, "ROUTING_RULE_UPDATED": webhooks.RuleUpdated,
	"ROUTING_RULE_DELETED": webhooks.RuleDeleted,
}

// events returns the webhook events of the change. An event about a rule carries the rule's new state, or its last
// state if the rule was deleted. It includes the switches of the link that the change flipped, so that one action is
// one event. Changes of a variant or of the settings are sent as an update of the link.
func (a audited) events(c store.Conn, u *store.Link, switches map[string]webhooks.Change) []webhooks.Event {
	var updated []webhooks.Event
	if len(switches) > 0 {
		updated = []webhooks.Event{links.Updated(c, u, switches)}
	}
	name, fields := ruleEvents[a.action], a.after
	if name == "" {
		return updated
	}
	if fields == nil {
		fields = a.before
	}
	ruleName, _ := fields["name"].(string)
	target, _ := fields["targetUrl"].(string)
	priority, _ := fields["priority"].(int)
	e := webhooks.Event{Name: name, Workspace: u.Workspace, Data: webhooks.RuleChanged{
		ID: a.id, URLID: u.ID, Name: ruleName, TargetURL: target, Priority: priority, UserID: u.UserID, RuleID: a.id, Changes: switches,
	}}
	if len(updated) > 0 {
		e.Otherwise = &updated[0]
	}
	return []webhooks.Event{e}
}

// differences removes the fields that are equal on both sides.
func differences(before, after map[string]any) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	for name, v := range after {
		if before[name] != v {
			was[name], is[name] = before[name], v
		}
	}
	return was, is
}
