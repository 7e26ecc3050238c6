package links

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Transfer moves links to another workspace, all or none, with their rules, variants and clicks. They leave the bundles
// and tags of their old workspace. The caller needs the role EDITOR in both workspaces; the caller of Transfer has checked the
// role in the present one. workspace is an id or a slug. It returns the given ids without duplicates, and the id of the
// workspace.
func (s *Service) Transfer(ctx context.Context, p auth.Principal, ids []string, workspace string) (moved []string, to string, err error) {
	ids, err = bulkIDs(ids)
	if err != nil {
		return nil, "", err
	}
	if workspace == "" {
		return nil, "", problem.OfField("workspaceId", "is required")
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		w, err := receiver(ctx, tx, p, workspace)
		if err != nil {
			return err
		}
		to = w.ID
		list, err := bundles.LockLinks(ctx, tx, p, "urlIds", ids)
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].Workspace == w.Num {
				return problem.OfField("urlIds", "the URL %q is in this workspace already", list[i].ID)
			}
			if list[i].Domain != 0 {
				return problem.New(problem.Conflict,
					"The URL %q is on the domain %s, which belongs to its workspace. Such URLs cannot be transferred.",
					list[i].Slug, list[i].Hostname)
			}
		}
		if err := fitExternalIDs(ctx, tx, list, w.Num); err != nil {
			return err
		}
		return transfer(ctx, tx, p, list, w)
	})
	if err != nil {
		return nil, "", fmt.Errorf("transfer links: %w", externalIDTaken(err, ""))
	}
	return ids, to, nil
}

// receiver returns the workspace that the caller wants to move links to, and keeps it from being deleted.
func receiver(ctx context.Context, tx *store.Tx, p auth.Principal, name string) (store.Workspace, error) {
	here := problem.OfField("workspaceId", "is the workspace in which the URLs are already")
	if name == p.Workspace.ID && !p.SeesAll() {
		return store.Workspace{}, here
	}
	w, err := auth.Receiver(ctx, tx.Conn, p, "workspaceId", name)
	switch {
	case err != nil:
		return w, err
	case w.Num == p.Workspace.Num && !p.SeesAll():
		return w, here
	}
	return w, auth.Missing("Workspace", tx.HoldWorkspace(ctx, w.Num)) // it may be deleted meanwhile
}

// transfer moves locked links to a workspace that is held, and tells both sides.
func transfer(ctx context.Context, tx *store.Tx, p auth.Principal, list []store.Link, to store.Workspace) error {
	sides := map[uint64][]map[string]any{} // what each old workspace is told
	ids, nums := make([]string, len(list)), make([]uint64, len(list))
	for i := range list {
		ids[i], nums[i] = list[i].ID, list[i].Num
		sides[list[i].Workspace] = nil
	}
	sources := slices.Sorted(maps.Keys(sides))
	if err := oneShard(ctx, tx, append(slices.Clone(sources), to.Num)...); err != nil {
		return err
	}
	names, err := tx.WorkspaceIDs(ctx, sources)
	if err != nil {
		return fmt.Errorf("find the workspaces of links: %w", err)
	}
	states, err := tx.StatesOf(ctx, list)
	if err != nil {
		return err
	}
	now := store.Now()
	left, err := tx.LeaveBundles(ctx, ids, now)
	if err != nil {
		return err
	}
	events := make([]webhooks.Event, len(list))
	var urls []map[string]any
	for i := range list {
		u := &list[i]
		from := u.Workspace
		told := map[string]any{"id": u.ID, "slug": u.Slug}
		if len(u.Tags) > 0 {
			told["tags"], u.Tags = u.Tags, nil
		}
		sides[from], urls = append(sides[from], told), append(urls, told)
		u.Workspace, u.UpdatedAt = to.Num, now
		events[i] = Updated(tx.Conn, u, map[string]webhooks.Change{"workspaceId": {Old: names[from], New: to.ID}})
		events[i].Left = from
	}
	if err := tx.LeaveTags(ctx, nums); err != nil {
		return err
	}
	if err := tx.MoveLinks(ctx, nums, to.Num, now); err != nil {
		return err
	}
	if err := tx.WriteHistory(ctx, p.UserID, "URL_TRANSFERRED", states); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, events...); err != nil {
		return err
	}
	entry := func(workspace uint64, from any, urls []map[string]any) audit.Entry {
		e := audit.Entry{UserID: p.UserID, Action: "URL_TRANSFERRED", EntityType: "url", Workspace: workspace,
			Old: map[string]any{"workspaceId": from}, New: map[string]any{"workspaceId": to.ID, "urls": urls},
			Metadata: map[string]any{"count": len(urls)}}
		if len(urls) == 1 {
			e.EntityID, _ = urls[0]["id"].(string)
		}
		return e
	}
	var entries []audit.Entry
	for _, from := range sources {
		e := entry(from, names[from], sides[from])
		if b := left[from]; len(b) > 0 {
			e.Metadata["leftBundleIds"] = b
		}
		entries = append(entries, e)
	}
	var from any = names[sources[0]]
	if len(sources) > 1 {
		from = slices.Collect(maps.Values(names))
	}
	return audit.Append(ctx, tx, append(entries, entry(to.Num, from, urls))...)
}

// oneShard refuses workspaces whose clicks are in different click stores. A link's clicks must stay in one of them.
func oneShard(ctx context.Context, tx *store.Tx, workspaces ...uint64) error {
	same, err := tx.SameClickShard(ctx, workspaces)
	switch {
	case errors.Is(err, store.ErrClicksMove):
		return problem.New(problem.Conflict,
			"The clicks of one of the two workspaces are moving to another server at the moment. Transfer the URLs when that has ended.")
	case err == nil && !same:
		return problem.New(problem.Conflict,
			"The clicks of the two workspaces are on different servers, so URLs cannot be transferred between them with their clicks. An "+
				"administrator can move a workspace to the other server with control move-workspace.")
	}
	return err
}

// MoveSome moves up to limit links of a workspace to another, for a workspace that is about to be deleted. If it returns
// less than limit, no link is left, and the bundles, domains and the trash have moved too. Call it in transactions of their own with a
// limit of 10,000 until it returns less, so that other changes need not wait, and at last in the transaction that deletes the
// workspace. The caller has locked both workspaces and checked the rights. It writes an audit entry in each workspace, so no statement
// that locks other rows may follow. It sends no webhook events.
func MoveSome(ctx context.Context, tx *store.Tx, userID string, from, to store.Workspace, limit int) (int, error) {
	if err := oneShard(ctx, tx, from.Num, to.Num); err != nil {
		return 0, err
	}
	list, err := tx.LockLinksOf(ctx, from.Num, limit)
	if err != nil {
		return 0, fmt.Errorf("move the links of a workspace: %w", err)
	}
	if err := fitExternalIDs(ctx, tx, list, to.Num); err != nil {
		return 0, err
	}
	bundles := int64(0)
	if len(list) < limit {
		if bundles, err = tx.MoveBundles(ctx, from.Num, to.Num); err != nil {
			return 0, err
		}
		switch both, err := tx.MoveDomains(ctx, from.Num, to.Num); {
		case err != nil:
			return 0, err
		case both != "":
			return 0, problem.New(problem.Conflict, "Both workspaces have links on the domain %s. Delete one of the domains first.", both)
		}
		if err := tx.MoveTrash(ctx, from.Num, to.Num); err != nil {
			return 0, fmt.Errorf("move the trash of a workspace: %w", err)
		}
	}
	states, err := tx.StatesOf(ctx, list)
	if err != nil {
		return 0, err
	}
	nums := each.At(list, func(l *store.Link) uint64 { return l.Num })
	if err := tx.LeaveTags(ctx, nums); err != nil {
		return 0, err
	}
	if err := tx.MoveLinks(ctx, nums, to.Num, store.Now()); err != nil {
		return 0, externalIDTaken(err, "")
	}
	if len(list) > 0 {
		if err := tx.WriteHistory(ctx, userID, "URL_TRANSFERRED", states); err != nil {
			return 0, err
		}
	}
	if len(list) == 0 && bundles == 0 {
		return 0, nil
	}
	e := audit.Entry{UserID: userID, Action: "URL_TRANSFERRED", EntityType: "url", Workspace: from.Num,
		Old: map[string]any{"workspaceId": from.ID}, New: map[string]any{"workspaceId": to.ID},
		Metadata: map[string]any{"count": len(list), "bundles": bundles}}
	into := e
	into.Workspace = to.Num
	return len(list), audit.Append(ctx, tx, e, into)
}

// DeleteSome deletes up to limit links of a workspace that is about to be deleted, like Delete. If it returns less than limit, no link
// is left. Call it like MoveSome. Bundles are deleted with the workspace.
func DeleteSome(ctx context.Context, tx *store.Tx, userID string, from store.Workspace, limit int) (int, error) {
	list, err := tx.LockLinksOf(ctx, from.Num, limit)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	ids := make([]string, len(list))
	refs := make([]store.LinkRef, len(list))
	for i := range list {
		ids[i], refs[i] = list[i].ID, store.LinkRef{Num: list[i].Num, Key: list[i].Key()}
	}
	for part := range slices.Chunk(ids, 10_000) {
		if err := tx.LockBundlesOf(ctx, part); err != nil {
			return 0, err
		}
	}
	if err := tx.TouchAll(ctx, refs); err != nil {
		return 0, err
	}
	if err := tx.RemoveLinks(ctx, userID, list); err != nil {
		return 0, fmt.Errorf("delete the links of a workspace: %w", err)
	}
	return len(list), audit.Append(ctx, tx, audit.Entry{UserID: userID, Action: "URL_BULK_DELETED", EntityType: "url", Workspace: from.Num,
		Old: map[string]any{"workspaceId": from.ID}, Metadata: map[string]any{"count": len(list)}})
}
