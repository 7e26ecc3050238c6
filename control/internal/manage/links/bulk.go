package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/control/internal/store"
)

// maxPasswords limits the distinct passwords of one bulk creation. Hashing one takes a tenth of a second, so the largest one
// takes three seconds of the ten that a request has.
const maxPasswords = 30

// Made is a created link and the index of its item in the request.
type Made struct {
	Index int
	URL   store.Link
}

// Failed is an item that was not created, with its first problem.
type Failed struct {
	Index          int
	Field, Message string
}

// CreateMany creates links independently of each other. It creates all valid items in one transaction with one
// revision and returns the problems of the others. Both lists follow the order of the request.
func (s *Service) CreateMany(ctx context.Context, p auth.Principal, items []Creation) ([]Made, []Failed, error) {
	if len(items) == 0 || len(items) > maxBulk {
		return nil, nil, problem.OfField("urls", "must hold 1 to %d items", maxBulk)
	}
	var failed []Failed
	fail := func(i int, err error) {
		var e *problem.Error
		if !errors.As(err, &e) || len(e.Fields) == 0 {
			panic("BUG: an item's problem has no field")
		}
		failed = append(failed, Failed{i, e.Fields[0].Field, e.Fields[0].Message})
	}
	var drafts []*store.Link
	draft := func(ctx context.Context) (err error) {
		drafts, err = s.draftMany(ctx, p, items, fail)
		return err
	}
	var err error
	if slices.ContainsFunc(items, func(c Creation) bool { return c.Password != nil }) {
		err = work.Lend(ctx, func() error { return s.hashing(ctx, p, draft) }) // hashing waits for its own turns
	} else {
		err = draft(ctx)
	}
	if err != nil {
		return nil, nil, err
	}

	place := map[*store.Link]int{}
	var good []*store.Link
	for i, u := range drafts {
		if u != nil {
			place[u] = i
			good = append(good, u)
		}
	}
	// InsertLinks wants links with chosen slugs sorted by key; they go last. The other links keep their order.
	chosenKey := func(u *store.Link) string {
		if items[place[u]].CustomSlug == "" {
			return ""
		}
		return u.Key()
	}
	slices.SortStableFunc(good, func(a, b *store.Link) int { return cmp.Compare(chosenKey(a), chosenKey(b)) })
	made := []Made{}
	if len(good) > 0 {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			list, err := insertMany(ctx, tx, p, items, drafts, good, fail)
			if err != nil || len(list) == 0 {
				return err
			}
			made = list
			return logMany(ctx, tx, p, items, made, len(failed))
		})
		if err != nil {
			return nil, nil, fmt.Errorf("create links: %w", err)
		}
	}
	slices.SortFunc(failed, func(a, b Failed) int { return cmp.Compare(a.Index, b.Index) })
	return made, failed, nil
}

// hashing calls draft, which may hash many passwords, with the user's slot for computations. The next bulk of the same user waits:
// together they would only time out.
func (s *Service) hashing(ctx context.Context, p auth.Principal, draft func(context.Context) error) error {
	slot, err := s.cfg.Computing.Enter(ctx, p.UserID)
	if err != nil {
		return err
	}
	defer slot.Leave()
	return draft(work.Holding(ctx, slot))
}

// insertMany inserts the valid drafts of items, which good holds in the order of InsertLinks, with their tags. It returns
// the links that were created, in the order of the items. The others, whose slug or external id is taken, go to fail.
func insertMany(ctx context.Context, tx *store.Tx, p auth.Principal, items []Creation, drafts, good []*store.Link,
	fail func(int, error)) (made []Made, err error) {
	chosen, tagged := map[*store.Link]bool{}, map[*store.Link][]string{}
	for i, u := range drafts {
		chosen[u] = items[i].CustomSlug != ""
	}
	if err := holdDomains(ctx, tx, good); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(good, func(u *store.Link) bool { return u.ExternalID != "" }) {
		if err := tx.LockExternalIDs(ctx, p.Workspace.Num); err != nil {
			return nil, err
		}
	}
	if err := insert(ctx, tx, good, func(u *store.Link) bool { return chosen[u] }); err != nil {
		return nil, err
	}
	for i, u := range drafts {
		if u != nil && u.Num != 0 {
			tagged[u] = items[i].tags()
		}
	}
	if err := setTags(ctx, tx, tagged); err != nil {
		return nil, err
	}
	for i, u := range drafts {
		switch {
		case u == nil:
		case u.Num == 0:
			taken := notInserted(ctx, tx, u)
			if !problem.Is(taken, problem.Conflict) {
				return nil, taken
			}
			fail(i, taken)
		default:
			made = append(made, Made{i, *u})
		}
	}
	return made, nil
}

// logMany puts created links into their bundles and logs them for edges, for webhooks and in the audit log. failed is the
// number of the other items.
func logMany(ctx context.Context, tx *store.Tx, p auth.Principal, items []Creation, made []Made, failed int) error {
	places := make([]bundles.Placement, len(made))
	list := make([]*store.Link, len(made))
	for i := range made {
		places[i] = bundles.Placement{BundleIDs: items[made[i].Index].bundleIDs(), URLs: []store.Link{made[i].URL}}
		list[i] = &made[i].URL
	}
	bundled, err := bundles.Put(ctx, tx, p, bundleField, places...)
	if err != nil {
		return err
	}
	refs, events, created := creations(tx.Conn, p, list, failed)
	if err := tx.TouchAll(ctx, refs); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, events...); err != nil {
		return err
	}
	return audit.Append(ctx, tx, append([]audit.Entry{created}, bundled...)...)
}

// creations returns what a bulk request logs about the links that it has created.
func creations(c store.Conn, p auth.Principal, made []*store.Link, failed int) ([]store.LinkRef, []webhooks.Event, audit.Entry) {
	refs, events := make([]store.LinkRef, len(made)), make([]webhooks.Event, len(made))
	list := make([]map[string]any, len(made))
	for i, u := range made {
		refs[i] = store.LinkRef{Num: u.Num, Key: u.Key()}
		events[i] = createdEvent(c, u)
		list[i] = map[string]any{"id": u.ID, "slug": u.Slug, "originalUrl": u.OriginalURL}
		if u.Hostname != "" {
			list[i][domainField] = u.Hostname
		}
	}
	return refs, events, audit.Entry{UserID: p.UserID, Action: "URL_BULK_CREATED", EntityType: "url", Workspace: p.Workspace.Num,
		New: map[string]any{"urls": list}, Metadata: map[string]any{"count": len(made), "failed": failed}}
}

// draftMany returns a draft of each item's link, in the order of the items. The draft of an invalid item is nil, and its
// problem goes to fail.
func (s *Service) draftMany(ctx context.Context, p auth.Principal, items []Creation, fail func(int, error)) ([]*store.Link, error) {
	drafts := make([]*store.Link, len(items))
	hashes := map[string]string{} // by password, so equal passwords are hashed once
	keys, externalIDs := map[string]bool{}, map[string]bool{}
	known := domainCache{}
	for i := range items {
		var u store.Link
		err := items[i].Problems.Err()
		if err == nil {
			u, err = s.draft(p, &items[i])
		}
		if err == nil {
			err = s.putOnKnownDomain(ctx, &u, items[i].Domain, known)
		}
		if err == nil && items[i].CustomSlug != "" && keys[u.Key()] {
			err = slugTaken(&u)
		}
		if err == nil && u.ExternalID != "" && externalIDs[u.ExternalID] {
			err = problem.OfField("externalId", "%q occurs twice in the request", problem.Clip(u.ExternalID))
		}
		if err == nil {
			err = bundles.CheckVisible(ctx, s.store.Conn, p, bundleField, items[i].bundleIDs())
		}
		if err == nil {
			u.PasswordHash, err = s.hashOnce(ctx, p, items[i].Password, hashes)
		}
		switch {
		case problem.Is(err, problem.Invalid), problem.Is(err, problem.Conflict):
			fail(i, err)
			continue
		case err != nil:
			return nil, err
		}
		keys[u.Key()], externalIDs[u.ExternalID] = true, true
		drafts[i] = &u
	}
	return drafts, s.screenMany(ctx, items, drafts, fail)
}

// hashOnce is hash with a cache of the hashes that the request needed before.
func (s *Service) hashOnce(ctx context.Context, p auth.Principal, password *string, done map[string]string) (string, error) {
	if password == nil {
		return "", nil
	}
	if h, ok := done[*password]; ok {
		return h, nil
	}
	if len(done) == maxPasswords {
		return "", problem.OfField("password", "one request can set at most %d different passwords", maxPasswords)
	}
	h, err := s.hash(ctx, p, password)
	if err != nil {
		return "", err
	}
	done[*password] = h
	return h, work.Lend(ctx, func() error { return nil }) // gives other users a turn
}

// UpdateMany changes the same fields of many links, all or none, and adds the links to the bundles that the input
// names. It returns the given ids without duplicates.
func (s *Service) UpdateMany(ctx context.Context, p auth.Principal, ids []string, in Input) ([]string, error) {
	ids, err := bulkIDs(ids)
	if err != nil {
		return nil, err
	}
	if err := s.screen(ctx, &in, &store.Link{}); err != nil {
		return nil, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		list, err := bundles.LockLinks(ctx, tx, p, "urlIds", ids)
		if err != nil {
			return err
		}
		place := make(map[string]int, len(ids))
		for i, id := range ids {
			place[id] = i
		}
		was := slices.Clone(list)
		if err := retag(ctx, tx, list, in.tags(), in.NoTags); err != nil {
			return err
		}
		given := slices.SortedFunc(slices.Values(list), func(a, b store.Link) int { return cmp.Compare(place[a.ID], place[b.ID]) })
		bundled, err := bundles.Put(ctx, tx, p, bundleField, bundles.Placement{BundleIDs: in.bundleIDs(), URLs: given})
		if err != nil {
			return err
		}
		var refs []store.LinkRef
		var events []webhooks.Event
		states, err := tx.StatesOf(ctx, was)
		if err != nil {
			return err
		}
		var changed []store.LinkState
		before, after := map[string]any{}, map[string]any{}
		for i := range list {
			is := &list[i]
			var v problem.Fields
			s.applyInput(&in, is, &v, 0)
			if err := v.Err(); err != nil {
				return err
			}
			changes := Changes(&was[i], is)
			if len(changes) == 0 {
				continue
			}
			is.UpdatedAt = store.Now()
			if err := tx.UpdateLink(ctx, is); err != nil {
				return err
			}
			refs, changed = append(refs, store.LinkRef{Num: is.Num, Key: is.Key()}), append(changed, states[i])
			before[is.ID], after[is.ID] = sides(changes)
			events = append(events, Updated(tx.Conn, is, changes))
		}
		if len(refs) == 0 {
			return audit.Append(ctx, tx, bundled...)
		}
		if err := tx.TouchAll(ctx, refs); err != nil {
			return err
		}
		if err := tx.WriteHistory(ctx, p.UserID, "URL_BULK_UPDATED", changed); err != nil {
			return err
		}
		if err := webhooks.Emit(ctx, tx, events...); err != nil {
			return err
		}
		return audit.Append(ctx, tx, append(bulkEntries(p, "URL_BULK_UPDATED", list, before, after), bundled...)...)
	})
	if err != nil {
		return nil, fmt.Errorf("update links: %w", err)
	}
	return ids, nil
}

// bulkEntries returns the audit entries of a change of many links, one for each workspace: an ADMIN may change links of
// several. old and is hold the changed links by id; is may be nil.
func bulkEntries(p auth.Principal, action string, list []store.Link, old, is map[string]any) (entries []audit.Entry) {
	type sides struct{ old, is map[string]any }
	of, order := map[uint64]*sides{}, []uint64(nil)
	for i := range list {
		id, workspace := list[i].ID, list[i].Workspace
		if _, changed := old[id]; !changed {
			continue
		}
		if of[workspace] == nil {
			of[workspace], order = &sides{map[string]any{}, map[string]any{}}, append(order, workspace)
		}
		of[workspace].old[id] = old[id]
		if is != nil {
			of[workspace].is[id] = is[id]
		}
	}
	for _, workspace := range order {
		s := of[workspace]
		e := audit.Entry{UserID: p.UserID, Action: action, EntityType: "url", Workspace: workspace, Old: s.old,
			Metadata: map[string]any{"count": len(s.old)}}
		if is != nil {
			e.New = s.is
		}
		entries = append(entries, e)
	}
	return entries
}

// DeleteMany deletes links like Delete, all or none. It returns the given ids without duplicates.
func (s *Service) DeleteMany(ctx context.Context, p auth.Principal, ids []string) ([]string, error) {
	ids, err := bulkIDs(ids)
	if err != nil {
		return nil, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		list, err := bundles.LockLinks(ctx, tx, p, "urlIds", ids)
		if err != nil {
			return err
		}
		if err := tx.LockBundlesOf(ctx, ids); err != nil {
			return err
		}
		refs, events := make([]store.LinkRef, len(list)), make([]webhooks.Event, len(list))
		old := map[string]any{}
		for i := range list {
			refs[i] = store.LinkRef{Num: list[i].Num, Key: list[i].Key()}
			old[list[i].ID] = Fields(&list[i])
			events[i] = deletedEvent(tx.Conn, &list[i])
		}
		if err := tx.TouchAll(ctx, refs); err != nil {
			return err
		}
		if err := tx.RemoveLinks(ctx, p.UserID, list); err != nil {
			return err
		}
		if err := webhooks.Emit(ctx, tx, events...); err != nil {
			return err
		}
		return audit.Append(ctx, tx, bulkEntries(p, "URL_BULK_DELETED", list, old, nil)...)
	})
	if err != nil {
		return nil, fmt.Errorf("delete links: %w", err)
	}
	return ids, nil
}

// bulkIDs checks the number of ids and removes duplicates.
func bulkIDs(ids []string) ([]string, error) {
	if len(ids) == 0 || len(ids) > maxBulk {
		return nil, problem.OfField("urlIds", "must hold 1 to %d ids", maxBulk)
	}
	return store.Distinct(ids), nil
}
