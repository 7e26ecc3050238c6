package links

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// Entry is one change of a link. A rollback to its revision restores the state right after it.
type Entry struct {
	Revision uint64
	At       int64       // Unix milliseconds; 0: unknown
	User     *store.User // who made the change, with ID only if the user was deleted; nil: unknown, or the system
	Action   string      // of the audit entry; ActionEarlier for the oldest state if its change is not known
	Changes  map[string]webhooks.Change
	Rules    []PartChange
	Variants []PartChange
}

// PartChange is the change of a rule or a variant. All old values of a new one are nil, and all new values of a deleted one.
type PartChange struct {
	ID, Name string
	Changes  map[string]webhooks.Change
}

// ActionEarlier is the action of the oldest known state of a link, unless that is how it was created.
const ActionEarlier = "EARLIER"

// History reads a page of the changes of a link, newest first, and counts them. The last entry is the oldest known state.
// A change by a program that writes no history, such as one of the previous release, appears as a part of the entry
// before it.
func (s *Service) History(ctx context.Context, p auth.Principal, id string, limit, offset int) (out []Entry, total int, err error) {
	err = s.store.View(ctx, func(c store.Conn) error {
		u, err := Visible(p)(c.LinkByID(ctx, id))
		if err != nil {
			return err
		}
		count, err := c.CountHistory(ctx, u.Num)
		if err != nil {
			return fmt.Errorf("count the history of a link: %w", err)
		}
		if total = count + 1; offset >= total {
			return nil
		}
		// The state after a change is the one before the next change, so the page needs the entry before its first one.
		skip := max(offset-1, 0)
		list, err := c.History(ctx, u.Num, offset-skip+limit, skip)
		if err != nil {
			return fmt.Errorf("read the history of a link: %w", err)
		}
		own := []store.Link{u}
		if err := c.ReadTags(ctx, own); err != nil {
			return err
		}
		after, err := c.StateOf(ctx, own[0])
		if err != nil {
			return err
		}
		oldest := int64(1)
		if len(list) > 0 {
			oldest = list[len(list)-1].Nth
		}
		if offset > 0 {
			after, list = list[0].Before, list[1:]
		}
		for i := range list {
			e := Entry{Revision: after.Link.Revision, At: list[i].At, User: &store.User{ID: list[i].UserID}, Action: list[i].Action}
			if err := e.compare(ctx, c, &list[i].Before, &after); err != nil {
				return err
			}
			out, after = append(out, e), list[i].Before
		}
		if len(out) < limit {
			out = append(out, first(&after, oldest == 1))
		}
		return names(ctx, c, out)
	})
	if err != nil {
		return nil, 0, err
	}
	return out, total, nil
}

// first returns the entry of the oldest known state. whole reports that no older changes were deleted.
func first(s *store.LinkState, whole bool) Entry {
	e := Entry{Revision: s.Link.Revision, Action: ActionEarlier, Changes: map[string]webhooks.Change{}}
	if whole && s.Link.CreatedAt == s.Link.UpdatedAt && len(s.Rules)+len(s.Variants) == 0 {
		e.Action, e.At, e.User = "URL_CREATED", s.Link.CreatedAt, &store.User{ID: s.Link.UserID}
	}
	return e
}

// names adds the users of entries.
func names(ctx context.Context, c store.Conn, list []Entry) error {
	var ids []string
	for i := range list {
		if list[i].User != nil && list[i].User.ID != "" {
			ids = append(ids, list[i].User.ID)
		}
	}
	users, err := c.UsersByID(ctx, store.Distinct(ids))
	if err != nil {
		return fmt.Errorf("find the users of a history: %w", err)
	}
	for i := range list {
		switch u := list[i].User; {
		case u == nil:
		case u.ID == "":
			list[i].User = nil
		default:
			if known, ok := users[u.ID]; ok {
				list[i].User = &known
			}
		}
	}
	return nil
}

// compare sets what differs between two states.
func (e *Entry) compare(ctx context.Context, c store.Conn, before, after *store.LinkState) error {
	e.Changes = Changes(&before.Link, &after.Link)
	if was, is := before.Link.Workspace, after.Link.Workspace; was != is {
		ids, err := c.WorkspaceIDs(ctx, []uint64{was, is})
		if err != nil {
			return fmt.Errorf("find workspaces: %w", err)
		}
		e.Changes["workspaceId"] = webhooks.Change{Old: orNil(ids[was]), New: orNil(ids[is])}
	}
	e.Rules, e.Variants = ruleChanges(before.Rules, after.Rules), variantChanges(before.Variants, after.Variants)
	return nil
}

func ruleChanges(before, after []store.Rule) []PartChange {
	return compareParts(before, after, func(r *store.Rule) (string, string, map[string]any) { return r.ID, r.Name, RuleFields(r) })
}

func variantChanges(before, after []store.Variant) []PartChange {
	return compareParts(before, after, func(v *store.Variant) (string, string, map[string]any) { return v.ID, v.Name, VariantFields(v) })
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// compareParts returns the changes of rules or variants: first those of the parts that exist after it.
func compareParts[T any](before, after []T, of func(*T) (id, name string, fields map[string]any)) []PartChange {
	var out []PartChange
	was := map[string]map[string]any{}
	for i := range before {
		id, _, fields := of(&before[i])
		was[id] = fields
	}
	is := map[string]bool{}
	for i := range after {
		id, name, fields := of(&after[i])
		is[id] = true
		if c := differences(was[id], fields); len(c) > 0 {
			out = append(out, PartChange{id, name, c})
		}
	}
	for i := range before {
		if id, name, fields := of(&before[i]); !is[id] {
			out = append(out, PartChange{id, name, differences(fields, nil)})
		}
	}
	return out
}

// differences compares fields; nil stands for a part that does not exist.
func differences(before, after map[string]any) map[string]webhooks.Change {
	out := map[string]webhooks.Change{}
	for name := range after {
		if before[name] != after[name] {
			out[name] = webhooks.Change{Old: before[name], New: after[name]}
		}
	}
	if after == nil {
		for name, v := range before {
			out[name] = webhooks.Change{Old: v}
		}
	}
	return out
}

// conditions are compared as text and shown as JSON.
type conditions string

// MarshalJSON writes the group itself, not a string that contains it.
func (c conditions) MarshalJSON() ([]byte, error) { return []byte(c), nil }

// RuleFields returns the fields of a rule that an owner can set, by the API's names. Values are comparable.
func RuleFields(r *store.Rule) map[string]any {
	return map[string]any{"name": r.Name, "targetUrl": r.TargetURL, "priority": r.Priority, "isActive": r.Active,
		"conditions": conditions(r.Conditions)}
}

// VariantFields is RuleFields for a variant.
func VariantFields(v *store.Variant) map[string]any {
	return map[string]any{"name": v.Name, "targetUrl": v.TargetURL, "weight": v.Weight, "isActive": v.Active}
}

// stateAt reads the state of a locked link at an earlier revision, or returns store.ErrNotFound.
func stateAt(ctx context.Context, tx *store.Tx, present *store.LinkState, revision uint64) (store.LinkState, error) {
	if revision == present.Link.Revision {
		return *present, nil
	}
	s, err := tx.StateAt(ctx, present.Link.Num, revision)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("read an earlier state of a link: %w", err)
	}
	return s, err
}
