package bundles

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// AddLink appends a link to a bundle. A link that is already in the bundle is a Conflict.
func (s *Service) AddLink(ctx context.Context, p auth.Principal, id, urlID string) (Bundle, error) {
	if urlID == "" {
		return Bundle{}, problem.OfField("urlId", "is required")
	}
	return s.addLinks(ctx, p, id, "urlId", []string{urlID}, true)
}

// AddMany appends links to a bundle in the given order, all or none. It skips links that are already in the bundle.
func (s *Service) AddMany(ctx context.Context, p auth.Principal, id string, urlIDs []string) (Bundle, error) {
	urlIDs = store.Distinct(urlIDs)
	if len(urlIDs) == 0 || len(urlIDs) > MaxURLs {
		return Bundle{}, problem.OfField("urlIds", "must hold 1 to %d ids", MaxURLs)
	}
	return s.addLinks(ctx, p, id, "urlIds", urlIDs, false)
}

func (s *Service) addLinks(ctx context.Context, p auth.Principal, id, field string, urlIDs []string, once bool) (Bundle, error) {
	var out Bundle
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		// Check the bundle before the links: a request with a foreign bundle must not reveal which links exist.
		if _, err := visible(p)(tx.BundleByID(ctx, id)); err != nil {
			return err
		}
		urls, err := LockLinks(ctx, tx, p, field, urlIDs)
		if err != nil {
			return err
		}
		b, err := lock(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if err := checkVersion(ctx, tx, p, b); err != nil {
			return err
		}
		added, entry, err := insert(ctx, tx, p, &b, field, urls, urlIDs)
		if err != nil {
			return err
		}
		if once && len(added) == 0 {
			return problem.New(problem.Conflict, "The URL is already in this bundle.")
		}
		if out, err = withLinks(ctx, tx.Conn, p, b); err != nil || len(added) == 0 {
			return err
		}
		return audit.Append(ctx, tx, entry)
	})
	return out, problem.Doing("add to bundle", err)
}

// LockLinks locks links. It fails and names the missing ids unless the caller may see all of them.
func LockLinks(ctx context.Context, tx *store.Tx, p auth.Principal, field string, ids []string) ([]store.Link, error) {
	list, err := tx.LockLinks(ctx, ids)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(list))
	for i := range list {
		seen[list[i].ID] = p.Sees(list[i].Workspace)
	}
	e := problem.Missing("URL")
	for _, id := range ids {
		if !seen[id] && len(e.Fields) < 100 {
			e.Fields = append(e.Fields, problem.Field{Field: field, Message: fmt.Sprintf("there is no URL %q", problem.Clip(id))})
		}
	}
	if len(e.Fields) > 0 {
		return nil, e
	}
	return list, nil
}

// insert adds links, which the caller may see, to a locked bundle in the given order. It skips links that are already
// in the bundle. If it added any, the caller must append the audit entry.
func insert(ctx context.Context, tx *store.Tx, p auth.Principal, b *store.Bundle, field string, urls []store.Link,
	order []string) (added []string, e audit.Entry, err error) {
	for i := range urls {
		// An administrator's personal bundle may contain links of all workspaces. In other bundles, links of another
		// workspace would be invisible to the members.
		if urls[i].Workspace != b.Workspace && b.Workspace != p.UserNum {
			return nil, e, problem.OfField(field, "the URL %q and the bundle belong to different workspaces", urls[i].Name())
		}
	}
	if added, err = tx.AddToBundle(ctx, b.ID, order); err != nil || len(added) == 0 {
		return nil, e, err
	}
	n, err := tx.CountBundleLinks(ctx, b.ID)
	if err != nil {
		return nil, e, err
	}
	if n > MaxURLs {
		return nil, e, problem.OfField(field, "a bundle can hold at most %d URLs", MaxURLs)
	}
	return added, updated(p, b, map[string]any{"addedUrlIds": added}), touch(ctx, tx, b)
}

func updated(p auth.Principal, b *store.Bundle, is any) audit.Entry {
	return audit.Entry{UserID: p.UserID, Action: "BUNDLE_UPDATED", EntityType: "bundle", EntityID: b.ID, Workspace: b.Workspace, New: is}
}

func touch(ctx context.Context, tx *store.Tx, b *store.Bundle) error {
	b.UpdatedAt = store.Now()
	return tx.UpdateBundle(ctx, b)
}

// Remove removes a link from a bundle.
func (s *Service) Remove(ctx context.Context, p auth.Principal, id, urlID string) (Bundle, error) {
	return s.inside(ctx, p, "remove from bundle", id, func(tx *store.Tx, b *store.Bundle) (any, error) {
		was, err := tx.RemoveFromBundle(ctx, id, urlID)
		if err == nil && !was {
			err = problem.Missing("URL in this bundle")
		}
		return map[string]any{"removedUrlIds": []string{urlID}}, err
	})
}

// Move gives a link in a bundle another order, from 0, and shifts the others. An order past the end means the end.
func (s *Service) Move(ctx context.Context, p auth.Principal, id, urlID string, order int) (Bundle, error) {
	if order < 0 {
		return Bundle{}, problem.OfField("order", "must not be negative")
	}
	return s.inside(ctx, p, "move in bundle", id, func(tx *store.Tx, b *store.Bundle) (any, error) {
		now, err := withLinks(ctx, tx.Conn, p, *b)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(now.URLs))
		for i := range ids {
			ids[i] = now.URLs[i].Link.ID
		}
		at := slices.Index(ids, urlID)
		if at < 0 {
			return nil, problem.Missing("URL in this bundle")
		}
		order := min(order, len(ids)-1)
		if order == at {
			return nil, nil
		}
		ids = slices.Insert(slices.Delete(ids, at, at+1), order, urlID)
		return map[string]any{"urlId": urlID, "order": order, "oldOrder": at}, tx.OrderBundle(ctx, id, ids)
	})
}

// inside lets f change the links of a bundle. f returns the value for the audit entry, or nil if it changed nothing.
func (s *Service) inside(ctx context.Context, p auth.Principal, what, id string, f func(*store.Tx, *store.Bundle) (any, error)) (Bundle,
	error) {
	var out Bundle
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		b, err := lock(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if err := checkVersion(ctx, tx, p, b); err != nil {
			return err
		}
		told, err := f(tx, &b)
		if err != nil {
			return err
		}
		if told != nil {
			if err := touch(ctx, tx, &b); err != nil {
				return err
			}
		}
		if out, err = withLinks(ctx, tx.Conn, p, b); err != nil || told == nil {
			return err
		}
		return audit.Append(ctx, tx, updated(p, &b, told))
	})
	if err != nil {
		return Bundle{}, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// maxBundles limits the bundles that one request names.
const maxBundles = 100

// CheckVisible returns an Invalid that lists the bundles that the caller may not see. field is the name of the list in the
// request; the problems name positions, such as bundleIds.0.
func CheckVisible(ctx context.Context, c store.Conn, p auth.Principal, field string, ids []string) error {
	if len(ids) > maxBundles {
		return problem.OfField(field, "must hold at most %d ids", maxBundles)
	}
	list, err := c.BundlesByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("read bundles: %w", err)
	}
	seen := map[string]bool{}
	for _, b := range list {
		seen[b.ID] = p.Sees(b.Workspace)
	}
	var v problem.Fields
	for i, id := range ids {
		if !seen[id] {
			v.Add(fmt.Sprintf("%s.%d", field, i), "there is no bundle %q", problem.Clip(id))
		}
	}
	return v.Err()
}

// Placement assigns links to bundles.
type Placement struct {
	BundleIDs []string
	URLs      []store.Link
}

// Put appends links to bundles. The caller has locked or created the links and may see them. Put skips links that are
// already in a bundle, and returns a NotFound for a bundle that the caller may not see. Call it before Touch, and
// append the audit entries that it returns at the end of the transaction. field is the name of the bundles in the
// request.
func Put(ctx context.Context, tx *store.Tx, p auth.Principal, field string, placements ...Placement) ([]audit.Entry, error) {
	var ids []string
	for _, at := range placements {
		ids = append(ids, at.BundleIDs...)
	}
	if ids = store.Distinct(ids); len(ids) > maxBundles {
		return nil, problem.OfField(field, "one request can name at most %d bundles", maxBundles)
	}
	list, err := tx.LockBundles(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if _, err := visible(p)(list[i], nil); err != nil {
			return nil, err
		}
	}
	if len(list) < len(ids) {
		return nil, problem.Missing("Bundle")
	}
	var entries []audit.Entry
	for i := range list {
		var urls []store.Link
		var order []string
		for _, at := range placements {
			if slices.Contains(at.BundleIDs, list[i].ID) {
				for _, u := range at.URLs {
					urls, order = append(urls, u), append(order, u.ID)
				}
			}
		}
		added, e, err := insert(ctx, tx, p, &list[i], field, urls, order)
		if err != nil {
			return nil, err
		}
		if len(added) > 0 {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// TakeOut removes links, which the caller may see, from bundles, by the ids of these. It skips links that are not in a bundle, and bundles
// that the caller may not see. It returns audit entries like Put.
func TakeOut(ctx context.Context, tx *store.Tx, p auth.Principal, urlIDs map[string][]string) ([]audit.Entry, error) {
	list, err := tx.LockBundles(ctx, slices.Sorted(maps.Keys(urlIDs)))
	if err != nil {
		return nil, err
	}
	var entries []audit.Entry
	for i := range list {
		b := &list[i]
		if !p.Sees(b.Workspace) {
			continue
		}
		var gone []string
		for _, id := range urlIDs[b.ID] {
			was, err := tx.RemoveFromBundle(ctx, b.ID, id)
			if err != nil {
				return nil, err
			}
			if was {
				gone = append(gone, id)
			}
		}
		if len(gone) == 0 {
			continue
		}
		if err := touch(ctx, tx, b); err != nil {
			return nil, err
		}
		entries = append(entries, updated(p, b, map[string]any{"removedUrlIds": gone}))
	}
	return entries, nil
}

// Replace puts a link into exactly these bundles, apart from bundles that the caller may not see. The caller has
// locked the link and may see it. It returns audit entries like Put.
func Replace(ctx context.Context, tx *store.Tx, p auth.Principal, field string, ids []string, u *store.Link) ([]audit.Entry, error) {
	if err := CheckVisible(ctx, tx.Conn, p, field, ids); err != nil {
		return nil, err
	}
	current, err := tx.BundlesOf(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	list, err := tx.LockBundles(ctx, store.Distinct(append(slices.Clone(ids), current...)))
	if err != nil {
		return nil, err
	}
	var entries []audit.Entry
	for i := range list {
		b := &list[i]
		switch {
		case slices.Contains(ids, b.ID):
			added, e, err := insert(ctx, tx, p, b, field, []store.Link{*u}, []string{u.ID})
			if err != nil {
				return nil, err
			}
			if len(added) > 0 {
				entries = append(entries, e)
			}
		case p.Sees(b.Workspace):
			was, err := tx.RemoveFromBundle(ctx, b.ID, u.ID)
			if err != nil {
				return nil, err
			}
			if was {
				if err := touch(ctx, tx, b); err != nil {
					return nil, err
				}
				entries = append(entries, updated(p, b, map[string]any{"removedUrlIds": []string{u.ID}}))
			}
		}
	}
	return entries, nil
}
