package links

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// write plans the items again with links that nobody else can change, and writes what is planned.
func (r *upsert) write(ctx context.Context, tx *store.Tx) ([]planning, error) {
	// Upserts into one workspace wait for each other, so each finds the links of the one before. Other requests can still create or
	// delete links meanwhile.
	if err := tx.LockExternalIDs(ctx, r.p.Workspace.Num); err != nil {
		return nil, err
	}
	there, err := r.find(ctx, tx.Conn, tx.LockLinks)
	if err != nil {
		return nil, err
	}
	plans, err := r.plan(ctx, there)
	if err != nil {
		return nil, err
	}
	var made, changed []*planning
	for i := range plans {
		one := &plans[i]
		if one.Problem == nil && r.unknown(one) {
			return nil, ErrChanged
		}
		switch one.Result {
		case Created:
			made = append(made, one)
		case Changed:
			changed = append(changed, one)
		}
	}
	if len(made)+len(changed) == 0 {
		return plans, nil
	}
	refused := 0
	for i := range plans {
		if plans[i].Problem != nil {
			refused++
		}
	}
	return plans, r.writeAll(ctx, tx, there, made, changed, refused)
}

// unknown reports whether a plan needs what was not learnt, because its link was another one then.
func (r *upsert) unknown(one *planning) bool {
	if one.after.Link.PasswordHash == draftHash {
		return true
	}
	return r.service.cfg.Screen != nil && slices.ContainsFunc(one.targets, func(t Target) bool {
		_, known := r.screened[*t.URL]
		return !known
	})
}

func (r *upsert) writeAll(ctx context.Context, tx *store.Tx, there *present, made, changed []*planning, refused int) error {
	if err := insertPlanned(ctx, tx, made); err != nil {
		return err
	}
	tagged := map[*store.Link][]string{}
	for _, one := range slices.Concat(made, changed) {
		tagged[&one.after.Link] = one.tags
	}
	if err := setTags(ctx, tx, tagged); err != nil {
		return err
	}
	for _, one := range slices.Concat(made, changed) {
		one.tags = one.after.Link.Tags // in the spelling of the tags that exist
		if c, ok := one.Changes[tagField]; ok {
			one.Changes[tagField] = Difference{Old: c.Old, New: one.tags}
		}
	}
	bundled, err := r.writeBundles(ctx, tx, there, made, changed)
	if err != nil {
		return err
	}
	var refs []store.LinkRef
	var events []webhooks.Event
	var histories []store.LinkState
	var entries []audit.Entry
	if len(made) > 0 {
		list := make([]*store.Link, len(made))
		for i, one := range made {
			list[i] = &one.after.Link
		}
		var created audit.Entry
		refs, events, created = creations(tx.Conn, r.p, list, refused)
		entries = append(entries, created)
		for _, one := range made {
			if err := tx.RestoreParts(ctx, &store.LinkState{Link: one.after.Link}, &one.after); err != nil {
				return err
			}
			events = append(events, rollbackEvents(tx.Conn, &one.after.Link, nil, ruleChanges(nil, one.after.Rules), &one.before,
				&one.after)...)
		}
	}
	before, after, list := map[string]any{}, map[string]any{}, []store.Link{}
	for _, one := range changed {
		if !one.differs() { // only its bundles
			continue
		}
		if err := one.update(ctx, tx); err != nil {
			return err
		}
		u := &one.after.Link
		refs, histories, list = append(refs, store.LinkRef{Num: u.Num, Key: u.Key()}), append(histories, one.before), append(list, *u)
		before[u.ID], after[u.ID] = one.sides()
		events = append(events, rollbackEvents(tx.Conn, u, one.fields(), one.Rules, &one.before, &one.after)...)
	}
	entries = append(entries, bulkEntries(r.p, "URL_BULK_UPDATED", list, before, after)...)
	if err := tx.TouchAll(ctx, refs); err != nil {
		return err
	}
	for _, one := range slices.Concat(made, changed) {
		if one.Result == Created || one.differs() {
			one.after.Link.Revision = tx.Revision()
		}
	}
	for _, one := range changed {
		if len(one.Variants) == 0 {
			continue
		}
		if err := tx.FollowVariants(ctx, one.after.Link.Num, one.before.Variants, one.after.Variants); err != nil {
			return fmt.Errorf("keep the experiment of a link in step: %w", err)
		}
	}
	if len(histories) > 0 {
		if err := tx.WriteHistory(ctx, r.p.UserID, "URL_BULK_UPDATED", histories); err != nil {
			return err
		}
	}
	if err := webhooks.Emit(ctx, tx, events...); err != nil {
		return err
	}
	return audit.Append(ctx, tx, append(entries, bundled...)...)
}

// insertPlanned creates links. It returns ErrChanged if another call has taken a slug or an external id.
func insertPlanned(ctx context.Context, tx *store.Tx, made []*planning) error {
	var list []*store.Link
	chosen := map[*store.Link]string{} // their keys
	for _, one := range made {
		u := &one.after.Link
		if list = append(list, u); one.item.CustomSlug != "" {
			chosen[u] = u.Key()
		}
	}
	slices.SortStableFunc(list, func(a, b *store.Link) int { return cmp.Compare(chosen[a], chosen[b]) }) // as InsertLinks wants them
	switch err := holdDomains(ctx, tx, list); {
	case problem.Is(err, problem.Invalid):
		return ErrChanged
	case err != nil:
		return err
	}
	if err := insert(ctx, tx, list, func(u *store.Link) bool { return chosen[u] != "" }); err != nil {
		return err
	}
	for _, u := range list {
		if u.Num == 0 {
			return ErrChanged
		}
	}
	return nil
}

// writeBundles puts links into their bundles. It locks all bundles at first, so that concurrent calls cannot deadlock.
func (r *upsert) writeBundles(ctx context.Context, tx *store.Tx, there *present, made, changed []*planning) ([]audit.Entry, error) {
	var ids []string
	for _, one := range slices.Concat(made, changed) {
		if one.Result == Created || one.rebundle {
			ids = append(append(ids, one.item.bundleIDs()...), there.bundles[one.before.Link.ID]...)
		}
	}
	if ids = store.Distinct(ids); len(ids) == 0 {
		return nil, nil
	}
	if _, err := tx.LockBundles(ctx, ids); err != nil {
		return nil, err
	}
	var places []bundles.Placement
	for _, one := range made {
		places = append(places, bundles.Placement{BundleIDs: one.item.bundleIDs(), URLs: []store.Link{one.after.Link}})
	}
	entries, err := bundles.Put(ctx, tx, r.p, bundleField, places...)
	if err != nil {
		return nil, err
	}
	for _, one := range changed {
		if !one.rebundle {
			continue
		}
		more, err := bundles.Replace(ctx, tx, r.p, bundleField, one.item.bundleIDs(), &one.after.Link)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

// update writes the changed row of a link, its rules and its variants.
func (one *planning) update(ctx context.Context, tx *store.Tx) error {
	u := &one.after.Link
	if len(one.fields()) > 0 {
		u.UpdatedAt = store.Now()
	}
	if err := tx.UpdateLink(ctx, u); err != nil {
		return err
	}
	if err := exhaust(ctx, tx, u); err != nil {
		return err
	}
	if len(one.Rules)+len(one.Variants) == 0 {
		return nil
	}
	return tx.RestoreParts(ctx, &one.before, &one.after)
}

// fields returns the changes that belong to the link itself.
func (one *planning) fields() map[string]Difference {
	out := maps.Clone(one.Changes)
	delete(out, bundleField)
	return out
}

// differs reports whether the link, its rules or its variants change.
func (one *planning) differs() bool { return len(one.fields())+len(one.Rules)+len(one.Variants) > 0 }

// sides returns both sides of an audit entry.
func (one *planning) sides() (before, after map[string]any) {
	before, after = sides(one.fields())
	for name, parts := range map[string][]PartChange{"routingRules": one.Rules, "variants": one.Variants} {
		if len(parts) == 0 {
			continue
		}
		was, is := map[string]any{}, map[string]any{}
		for _, part := range parts {
			was[part.ID], is[part.ID] = sides(part.Changes)
		}
		before[name], after[name] = was, is
	}
	return before, after
}
