package workspaces

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Delete removes the workspace of the request with its webhooks and API keys. It requires the role OWNER. The error is a
// Conflict while the workspace has links or bundles.
func (s *Service) Delete(ctx context.Context, p auth.Principal) error {
	if p.Workspace.Personal {
		return problem.New(problem.Invalid, "A personal workspace can't be deleted. It goes with its user.")
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := lock(ctx, tx, p, auth.Owner); err != nil {
			return err
		}
		w, err := get(ctx, tx.Conn, p, p.Workspace.Num)
		if err != nil {
			return err
		}
		has, err := tx.ContentsOf(ctx, w.Num)
		if err != nil {
			return fmt.Errorf("count links and bundles: %w", err)
		}
		if has.Links+has.Bundles > 0 {
			return problem.New(problem.Conflict, "The workspace has %d links and %d bundles.", has.Links, has.Bundles)
		}
		if err := tx.DeleteWorkspace(ctx, w.Num); err != nil {
			return fmt.Errorf("delete a workspace: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WORKSPACE_DELETED", EntityType: "workspace", EntityID: w.ID, Workspace: w.Num, Old: logged(w.Workspace)})
	})
}
