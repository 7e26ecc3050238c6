package workspaces

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	portion = 10_000 // links that one transaction moves or deletes, so that other changes need not wait
	rounds  = 5      // how often links that were created meanwhile are moved or deleted too
)

// Fate says what becomes of the links and bundles of workspaces that are deleted. With the zero value, only workspaces
// without links and bundles can be deleted.
type Fate struct {
	TransferTo  string // id or slug of the workspace that gets them; "": none
	DeleteLinks bool
}

// notEmpty tells that a workspace cannot be deleted without a Fate.
func notEmpty(lost store.Contents) error {
	e := problem.New(problem.Conflict,
		"Links and bundles would be lost (workspaces: %d, links: %d, bundles: %d). Say what becomes of them with transferTo or deleteLinks.",
		lost.Workspaces, lost.Links, lost.Bundles)
	e.Counts = &problem.Counts{Workspaces: lost.Workspaces, Links: lost.Links, Bundles: lost.Bundles}
	return e
}

// receiver returns the workspace that gets links and bundles, or nil for none. The caller needs the role EDITOR in it.
func (f Fate) receiver(ctx context.Context, c store.Conn, p auth.Principal) (*store.Workspace, error) {
	if f.TransferTo == "" {
		return nil, nil
	}
	if f.DeleteLinks {
		return nil, problem.OfField("transferTo", "contradicts deleteLinks")
	}
	w, err := auth.Receiver(ctx, c, p, "transferTo", f.TransferTo)
	if err != nil {
		return nil, err
	}
	return &w, nil
}

// Delete removes the workspace of the request with its webhooks and API keys. It requires the role OWNER. The error is a
// Conflict with counts while the workspace has links or bundles and f does not say what becomes of them. Links are moved
// or deleted first, in transactions of their own. If one fails, the rest stays, and another call goes on.
func (s *Service) Delete(ctx context.Context, p auth.Principal, f Fate) error {
	if p.Workspace.Personal {
		return problem.New(problem.Invalid, "A personal workspace can't be deleted. It goes with its user.")
	}
	to, err := f.receiver(ctx, s.store.Conn, p)
	if err != nil {
		return err
	}
	if to != nil && to.Num == p.Workspace.Num {
		return problem.OfField("transferTo", "is the workspace that is being deleted")
	}
	allowed := func(ctx context.Context, tx *store.Tx) error {
		_, err := lock(ctx, tx, p, auth.Owner)
		return err
	}
	for range rounds {
		var full []store.Workspace
		err = s.store.Tx(ctx, func(tx *store.Tx) error {
			if err := allowed(ctx, tx); err != nil {
				return err
			}
			w, err := get(ctx, tx.Conn, p, p.Workspace.Num)
			if err != nil {
				return err
			}
			lost, err := tx.ContentsOf(ctx, w.Num)
			if err != nil {
				return fmt.Errorf("count links and bundles: %w", err)
			}
			if full, err = f.judge(lost, []store.Workspace{w.Workspace}); err != nil {
				return err
			}
			if err := tx.DeleteWorkspace(ctx, w.Num); err != nil {
				return fmt.Errorf("delete a workspace: %w", err)
			}
			return audit.Append(ctx, tx, deleted(p.UserID, w.Workspace))
		})
		if !errors.Is(err, errFull) {
			return err
		}
		if err := empty(ctx, s.store, p.UserID, full, to, allowed); err != nil {
			return err
		}
	}
	return problem.New(problem.Conflict, "Links are being created in the workspace. Try again.")
}

// errFull tells that links must be moved or deleted first.
var errFull = errors.New("workspaces are not empty")

// judge returns nil if nothing would be lost, errFull with the workspaces that have to be emptied first, or the problem
// that f does not say how.
func (f Fate) judge(lost store.Contents, doomed []store.Workspace) ([]store.Workspace, error) {
	switch {
	case lost.Links+lost.Bundles == 0, f.DeleteLinks && lost.Links == 0: // bundles go with their workspace
		return nil, nil
	case f == Fate{}:
		return nil, notEmpty(lost)
	}
	return doomed, errFull
}

// empty moves the links and bundles of workspaces to another one, or deletes the links if to is nil. Each transaction
// calls allowed first, and goes on only if a workspace is still to be deleted.
func empty(ctx context.Context, st *store.Store, userID string, list []store.Workspace, to *store.Workspace,
	allowed func(context.Context, *store.Tx) error) error {
	for _, w := range list {
		for n := portion; n == portion; {
			err := st.Tx(ctx, func(tx *store.Tx) error {
				if err := allowed(ctx, tx); err != nil {
					return err
				}
				if to == nil {
					var err error
					n, err = links.DeleteSome(ctx, tx, userID, w, portion)
					return err
				}
				if err := tx.HoldWorkspace(ctx, to.Num); err != nil {
					return auth.Missing("Workspace", err)
				}
				var err error
				n, err = links.MoveSome(ctx, tx, userID, w, *to, portion)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func deleted(userID string, w store.Workspace) audit.Entry {
	return audit.Entry{UserID: userID, Action: "WORKSPACE_DELETED", EntityType: "workspace", EntityID: w.ID, Workspace: w.Num,
		Old: logged(w)}
}

// RemoveUser deletes a user, with the workspaces that would lose their last OWNER: the personal one, and maybe those of
// teams. The error is a Conflict with counts if these have links or bundles and f does not say what becomes of them. In
// workspaces that stay, what the user has created is handed to the OWNER who joined first, and the user's webhooks are paused, of
// which n tells. allowed is called at the beginning of each transaction, and gone with the user after the deletion. The rules for
// links are those of Delete.
func (n Notices) RemoveUser(ctx context.Context, st *store.Store, p auth.Principal, userID string, f Fate,
	allowed func(context.Context, *store.Tx) error,
	gone func(u store.User) audit.Entry) error {
	to, err := f.receiver(ctx, st.Conn, p)
	if err != nil {
		return err
	}
	begin := func(ctx context.Context, tx *store.Tx) (u store.User, doomed []store.Workspace, err error) {
		if err := allowed(ctx, tx); err != nil {
			return u, nil, err
		}
		if u, err = tx.LockUser(ctx, userID); err != nil {
			return u, nil, auth.Missing("User", err)
		}
		if doomed, err = tx.LockDoomed(ctx, userID); err != nil {
			return u, nil, fmt.Errorf("lock workspaces: %w", err)
		}
		for _, w := range doomed {
			if to != nil && w.Num == to.Num {
				return u, nil, problem.OfField("transferTo", "is a workspace that would be deleted with the user")
			}
		}
		return u, doomed, nil
	}
	for range rounds {
		var full []store.Workspace
		for more := true; more && err == nil; {
			err = st.Tx(ctx, func(tx *store.Tx) error {
				u, doomed, err := begin(ctx, tx)
				if err != nil {
					return err
				}
				full, more, err = n.removeUser(ctx, tx, p.UserID, u, doomed, f, gone)
				return err
			})
		}
		if !errors.Is(err, errFull) {
			return err
		}
		for _, w := range full {
			still := func(ctx context.Context, tx *store.Tx) error {
				_, doomed, err := begin(ctx, tx)
				if err == nil && !slices.ContainsFunc(doomed, func(d store.Workspace) bool { return d.Num == w.Num }) {
					err = problem.New(problem.Conflict, "A workspace of the user has got another OWNER meanwhile. Try again.")
				}
				return err
			}
			if err := empty(ctx, st, p.UserID, []store.Workspace{w}, to, still); err != nil {
				return err
			}
		}
		err = nil
	}
	return problem.New(problem.Conflict, "Links are being created in workspaces of the user. Try again.")
}

// removeUser deletes a locked user with locked workspaces, or returns errFull and those that are not empty. If more is true,
// it has only handed over a part of what the user has created.
func (n Notices) removeUser(ctx context.Context, tx *store.Tx, by string, u store.User, doomed []store.Workspace, f Fate,
	gone func(store.User) audit.Entry) (full []store.Workspace, more bool, err error) {
	var lost store.Contents
	for _, w := range doomed {
		has, err := tx.ContentsOf(ctx, w.Num)
		if err != nil {
			return nil, false, fmt.Errorf("count links and bundles: %w", err)
		}
		if has.Links+has.Bundles > 0 {
			full = append(full, w)
			lost.Workspaces, lost.Links, lost.Bundles = lost.Workspaces+1, lost.Links+has.Links, lost.Bundles+has.Bundles
		}
	}
	if full, err = f.judge(lost, full); err != nil {
		return full, false, err
	}
	moved, err := tx.HandOver(ctx, u.ID, portion)
	if err != nil {
		return nil, false, fmt.Errorf("hand over what the user has created: %w", err)
	}
	if moved == portion {
		return nil, true, nil
	}
	paused, err := tx.HandOverWebhooks(ctx, u.ID)
	if err != nil {
		return nil, false, fmt.Errorf("hand over the webhooks of the user: %w", err)
	}
	log := webhooks.PausedEntries(by, store.PausedUserDeleted, paused)
	for _, w := range doomed {
		if !w.IsPersonal() {
			log = append(log, deleted(by, w))
		}
		if err := tx.DeleteWorkspace(ctx, w.Num); err != nil {
			return nil, false, fmt.Errorf("delete a workspace: %w", err)
		}
	}
	if err := tx.DeleteUser(ctx, u.ID); err != nil {
		return nil, false, fmt.Errorf("delete the user: %w", err)
	}
	if err := n.paused(ctx, tx, by, u.Email, paused); err != nil {
		return nil, false, err
	}
	e := gone(u)
	e.Metadata = map[string]any{"deletedWorkspaces": len(doomed)}
	if f.TransferTo != "" {
		e.Metadata["transferTo"] = f.TransferTo
	}
	return nil, false, audit.Append(ctx, tx, append(log, e)...)
}
