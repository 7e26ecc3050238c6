package links

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// StatusDeleted selects the trash in a list of links. It is not a state of a link that leads anywhere.
const StatusDeleted = "DELETED"

// Delete moves a link to the trash with its rules, variants, history and places in bundles, or deletes it for good if
// forGood is set or there is no trash. Visitors get 404, and the slug is free, unless the link is suspended. Its clicks stay
// in the analytics store.
// With forGood, the link may be in the trash already.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string, forGood bool) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := Visible(p)(tx.LockLink(ctx, id))
		if forGood && problem.Is(err, problem.NotFound) {
			return purge(ctx, tx, p, id)
		}
		if err != nil {
			return err
		}
		if err := version.Check(ctx, Version(&u), u); err != nil {
			return err
		}
		if err := tx.LockBundlesOf(ctx, []string{id}); err != nil {
			return err
		}
		if err := tx.Touch(ctx, u.Num, u.Key()); err != nil {
			return err
		}
		e := audit.Entry{UserID: p.UserID, Action: "URL_DELETED", EntityType: "url", EntityID: id, Workspace: u.Workspace, Old: Fields(&u)}
		if forGood {
			e.Metadata = map[string]any{"permanently": true}
			err = tx.DeleteLinks(ctx, []string{id})
		} else {
			err = tx.RemoveLinks(ctx, p.UserID, []store.Link{u})
		}
		if err != nil {
			return err
		}
		if err := webhooks.Emit(ctx, tx, deletedEvent(tx.Conn, &u)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, e)
	})
	return problem.Doing("delete link", err)
}

// purge deletes a link in the trash for good.
func purge(ctx context.Context, tx *store.Tx, p auth.Principal, id string) error {
	t, err := trashed(p)(tx.LockTrashed(ctx, id))
	if err != nil {
		return err
	}
	if err := version.Check(ctx, Version(&t.Link), t.Link); err != nil {
		return err
	}
	if err := tx.DeleteTrashed(ctx, []uint64{t.Link.Num}, true); err != nil {
		return err
	}
	return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "URL_DELETED", EntityType: "url", EntityID: id,
		Workspace: t.Workspace,
		Old:       Fields(&t.Link), Metadata: map[string]any{"permanently": true, "fromTrash": true}})
}

// trashed wraps a store call that returns a link in the trash, like Visible.
func trashed(p auth.Principal) func(store.TrashedLink, error) (store.TrashedLink, error) {
	return auth.Visible("URL", func(t *store.TrashedLink) bool { return p.Sees(t.Workspace) })
}

// Trashed is a link in the trash. Its Workspace is the one that it belongs to now.
type Trashed struct {
	store.Link
	DeletedAt int64
	PurgeAt   int64  // when it is deleted for good, at the earliest
	DeletedBy string // id of a user
}

// Trash reads a page of the workspace's trash, newest first, and counts all links in it. For an ADMIN who chose no
// workspace it lists the trash of all workspaces, also of those that were deleted.
func (s *Service) Trash(ctx context.Context, p auth.Principal, q Query) ([]Trashed, int, error) {
	var v problem.Fields
	if _, ok := store.TrashSorts[q.SortBy]; q.SortBy != "" && !ok {
		v.Add("sortBy", "must be one of deletedAt, createdAt, updatedAt, clickCount, title, expiresAt, slug")
	}
	if len(q.Search) > maxSearch {
		v.Add("search", "must be at most %d bytes long", maxSearch)
	}
	if err := v.Err(); err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.Trash(ctx, store.LinkFilter{Workspace: p.Scope(), Search: q.Search, SortBy: q.SortBy,
		Ascending: q.Ascending,
		Offset:    q.Offset, Limit: q.Limit})
	if err != nil {
		return nil, 0, fmt.Errorf("list the trash: %w", err)
	}
	out := make([]Trashed, len(list))
	for i, t := range list {
		out[i] = Trashed{t.Link, t.DeletedAt, t.DeletedAt + s.store.TrashTime().Milliseconds(), t.DeletedBy}
		out[i].Workspace = t.Workspace
	}
	return out, total, nil
}

// Restoration says what differs from the deleted link.
type Restoration struct {
	Slug       string  // "": as before
	Domain     *string // nil: as before; "": the host of BASE_URL
	ExternalID *string // nil: as before; "" removes it
}

// Restore brings a link back from the trash with its number, so that clicks and counters come back too. A slug or external
// id that another link has is a Conflict, and so is a domain that was deleted or is FAILED; the caller can choose another. A link of a
// workspace that was deleted goes to the caller's workspace. If the creator was deleted, the caller becomes the creator. A destination
// that is not allowed today is Invalid.
func (s *Service) Restore(ctx context.Context, p auth.Principal, id string, in Restoration) (store.Link, error) {
	var v problem.Fields
	if in.Slug != "" {
		checkAnySlug("slug", in.Slug, &v)
	}
	if in.ExternalID != nil {
		s.applyTexts(map[string]string{"externalId": *in.ExternalID}, &store.Link{}, &v)
	}
	if err := v.Err(); err != nil {
		return store.Link{}, err
	}
	if err := s.screenTrashed(ctx, p, id); err != nil {
		return store.Link{}, err
	}
	var u store.Link
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		t, err := trashed(p)(tx.LockTrashed(ctx, id))
		if err != nil {
			return err
		}
		if err := s.allowed(&t.Link, &t.LinkState); err != nil {
			return err
		}
		before := t.LinkState
		if err := rehome(ctx, tx, p, &t, in); err != nil {
			return err
		}
		if err := s.rehost(ctx, tx, &t.Link, in.Domain); err != nil {
			return err
		}
		if in.Slug != "" {
			rules, err := rulesOf(ctx, tx.Conn, t.Link.Domain)
			if err != nil {
				return err
			}
			if t.Link.Slug, err = chosenSlug("slug", in.Slug, rules); err != nil {
				return err
			}
		}
		if err := tx.DeleteTrashed(ctx, []uint64{t.Link.Num}, false); err != nil {
			return err
		}
		if t.Link.ExternalID != "" {
			taken, err := tx.ExternalIDs(ctx, t.Link.Workspace, []string{t.Link.ExternalID})
			if err != nil {
				return err
			}
			if len(taken) > 0 {
				return externalIDsTaken(taken)
			}
		}
		taken, err := tx.RestoreLink(ctx, &t.LinkState)
		if err != nil {
			return externalIDTaken(err, t.Link.ExternalID)
		}
		if taken {
			return &problem.Error{Kind: problem.Conflict, Message: "The slug was taken meanwhile. Choose another.",
				Fields: []problem.Field{{Field: "slug", Message: fmt.Sprintf("%q is already taken", t.Link.Name())}}}
		}
		u = t.Link
		u.Tags = nil
		if err := exhaust(ctx, tx, &u); err != nil {
			return err
		}
		if err := setTags(ctx, tx, map[*store.Link][]string{&u: t.Link.Tags}); err != nil {
			return err
		}
		put, err := tx.RestoreBundles(ctx, &t.LinkState, bundles.MaxURLs)
		if err != nil {
			return err
		}
		return restored(ctx, tx, p, &u, before, put)
	})
	return u, problem.Doing("restore link", err)
}

// screenTrashed asks the operator's check service about the destinations of a link in the trash. They do not change there.
func (s *Service) screenTrashed(ctx context.Context, p auth.Principal, id string) error {
	if s.cfg.Screen == nil {
		return nil
	}
	t, err := trashed(p)(s.store.TrashedByID(ctx, id))
	if err != nil {
		return err
	}
	return s.screenAll(ctx, &t.LinkState)
}

// rehome gives a link from the trash the chosen slug and external id, and a workspace and a creator that exist.
func rehome(ctx context.Context, tx *store.Tx, p auth.Principal, t *store.TrashedLink, in Restoration) error {
	u := &t.Link
	if in.Slug != "" {
		u.Slug = in.Slug
	}
	if in.ExternalID != nil {
		u.ExternalID = strings.TrimSpace(*in.ExternalID)
	}
	u.Workspace = t.Workspace
	err := tx.HoldWorkspace(ctx, u.Workspace)
	if errors.Is(err, store.ErrNotFound) { // only an ADMIN gets here
		u.Workspace = p.Workspace.Num
		err = tx.HoldWorkspace(ctx, u.Workspace)
	}
	if err != nil {
		return fmt.Errorf("find the workspace of a deleted link: %w", err)
	}
	if _, err := tx.UserByID(ctx, u.UserID); errors.Is(err, store.ErrNotFound) {
		u.UserID = p.UserID
	} else if err != nil {
		return fmt.Errorf("find the creator of a deleted link: %w", err)
	}
	return nil
}

// restored logs a restored link for edges, for webhooks and in history.
func restored(ctx context.Context, tx *store.Tx, p auth.Principal, u *store.Link, before store.LinkState, put []string) error {
	to := u.Workspace
	if before.Link.Workspace != to {
		if err := oneShard(ctx, tx, before.Link.Workspace, to); err != nil {
			return err
		}
		// The log of moves must name both workspaces, so that the clicks follow.
		if err := tx.LogMove(ctx, u.Num, before.Link.Workspace, to); err != nil {
			return err
		}
	}
	u.Revision = 0
	if err := RecordChange(ctx, tx, p, "URL_RESTORED", u, before); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, restoredEvent(tx.Conn, u)); err != nil {
		return err
	}
	e := audit.Entry{UserID: p.UserID, Action: "URL_RESTORED", EntityType: "url", EntityID: u.ID, Workspace: to, New: Fields(u)}
	if len(put) > 0 {
		e.Metadata = map[string]any{"bundleIds": put}
	}
	return audit.Append(ctx, tx, e)
}

const (
	purgeEvery = 10 * time.Minute
	purgeBatch = 500
	// Rows of history without a link are rare, so they are searched for less often than the trash.
	sweepEvery = 24 * time.Hour
)

// jobs are what time does to links. Work that finds what is due, locks the row and checks again may run in several processes.
func (s *Service) jobs() job.Group {
	purge := func(ctx context.Context) error { _, err := s.Purge(ctx); return err }
	history := func(ctx context.Context) (more bool, err error) {
		n, err := s.store.PurgeHistory(ctx, purgeBatch)
		return n == purgeBatch, err
	}
	return job.Group{
		{Name: "trash", Every: purgeEvery, Do: purge, Logger: s.cfg.Logger},
		{Name: "link_events", Every: tellEvery, Do: job.UntilDone(s.tellDue), Logger: s.cfg.Logger},
		{Name: "history", Every: sweepEvery, Do: job.UntilDone(history), Lease: s.store.Lease("history"), Logger: s.cfg.Logger},
		{Name: "link_edits", Every: editPoll, Do: job.UntilDone(s.NextEdit), Wake: s.edits, Logger: s.cfg.Logger},
		{Name: "old_link_edits", Every: sweepEvery, Do: s.sweepEdits, Logger: s.cfg.Logger},
	}
}

// Purge deletes the links for good that have been in the trash for long enough, and returns their number.
func (s *Service) Purge(ctx context.Context) (all int, err error) {
	before := s.cfg.Now().Add(-s.store.TrashTime()).UnixMilli()
	for n := purgeBatch; n == purgeBatch && err == nil && ctx.Err() == nil; {
		n, err = s.store.PurgeTrash(ctx, before, purgeBatch)
		all += n
	}
	if all > 0 {
		s.cfg.Logger.Info("trash emptied", "links", all)
	}
	return all, err
}
