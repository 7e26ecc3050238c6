package routing

import (
	"context"

	"github.com/shortline/shortline/control/internal/audit"
	"github.com/shortline/shortline/control/internal/auth"
	"github.com/shortline/shortline/control/internal/links"
	"github.com/shortline/shortline/control/internal/store"
)

// audited is one change of a rule, a variant or the settings: what the log shall tell. A change whose before and
// after are equal is none, and isn't told.
type audited struct {
	action, entityType, id string
	before, after          map[string]any // nil: it was not, or is no more
}

// finish ends a transaction: the link's own row if its switches changed, its place in the log of changes, and
// the audit row, which also tells of the switches.
func (a audited) finish(ctx context.Context, tx *store.Tx, p auth.Principal, before, after *store.URL) error {
	switches := links.Changes(before, after)
	if a.before != nil && a.after != nil {
		a.before, a.after = differences(a.before, a.after)
		if len(a.after) == 0 && len(switches) == 0 {
			return nil
		}
	}
	if len(switches) > 0 {
		after.UpdatedAt = store.Now()
		if err := tx.UpdateURL(ctx, after); err != nil {
			return err
		}
	}
	if err := tx.Touch(ctx, after.Num, after.Slug); err != nil {
		return err
	}
	e := audit.Entry{UserID: p.UserID, Action: a.action, EntityType: a.entityType, EntityID: a.id, Metadata: map[string]any{"urlId": after.ID}}
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

// differences leaves on both sides only what differs.
func differences(before, after map[string]any) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	for name, v := range after {
		if before[name] != v {
			was[name], is[name] = before[name], v
		}
	}
	return was, is
}
