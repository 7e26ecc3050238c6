package workspaces

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Members returns a page of the members of the workspace of the request, and their number.
func (s *Service) Members(ctx context.Context, p auth.Principal, limit, offset int) ([]store.Member, int, error) {
	list, total, err := s.store.Members(ctx, p.Workspace.Num, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list members: %w", err)
	}
	return list, total, nil
}

// SetRole changes the role of a member. An ADMIN manages members below OWNER; only an OWNER makes or demotes OWNERs.
// The last OWNER cannot be demoted. An API key makes nobody an ADMIN or OWNER. The webhooks of a member who can no longer manage them are
// paused.
func (s *Service) SetRole(ctx context.Context, p auth.Principal, userID, role string) (m store.Member, err error) {
	want := auth.ParseWorkspaceRole(role)
	if want == auth.NoMember {
		return m, problem.OfField("role", "must be OWNER, ADMIN, EDITOR or VIEWER")
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		mine, err := lock(ctx, tx, p, auth.WorkspaceAdmin)
		if err != nil {
			return err
		}
		if m, err = member(ctx, tx, p, userID); err != nil {
			return err
		}
		old := m.Role
		has := auth.ParseWorkspaceRole(old)
		if mine < auth.Owner && max(has, want) == auth.Owner {
			return problem.New(problem.Forbidden, "Only an OWNER can make or demote an OWNER.")
		}
		if p.KeyID != "" && want > has && want >= auth.WorkspaceAdmin {
			return problem.New(problem.Forbidden, "An API key can't make an %s; sign in instead.", want)
		}
		if old == role {
			return nil
		}
		if has == auth.Owner {
			if err := otherOwner(ctx, tx, p.Workspace.Num); err != nil {
				return err
			}
		}
		if err := tx.SetMemberRole(ctx, p.Workspace.Num, userID, role); err != nil {
			return fmt.Errorf("change role: %w", err)
		}
		m.Role = role
		var paused []audit.Entry
		if has >= auth.WorkspaceAdmin && want < auth.WorkspaceAdmin {
			if paused, err = s.pauseWebhooks(ctx, tx, p, m, store.PausedMemberDemoted); err != nil {
				return err
			}
		}
		return audit.Append(ctx, tx, append(paused, audit.Entry{
			UserID: p.UserID, Action: "MEMBER_UPDATED", EntityType: "member", EntityID: userID, Workspace: p.Workspace.Num,
			Old: map[string]any{"email": m.Email, "role": old}, New: map[string]any{"email": m.Email, "role": role},
		})...)
	})
	return m, err
}

// Remove removes a member, whose API keys for the workspace are deleted and whose webhooks are paused. Everybody can leave; to
// remove others takes the role ADMIN, and OWNER to remove an OWNER. The last OWNER cannot leave.
func (s *Service) Remove(ctx context.Context, p auth.Principal, userID string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		least := auth.WorkspaceAdmin
		if userID == p.UserID {
			least = auth.Viewer
		}
		mine, err := lock(ctx, tx, p, least)
		if err != nil {
			return err
		}
		m, err := member(ctx, tx, p, userID)
		if err != nil {
			return err
		}
		if m.Role == store.RoleOwner {
			if mine < auth.Owner {
				return problem.New(problem.Forbidden, "Only an OWNER can remove an OWNER.")
			}
			if err := otherOwner(ctx, tx, p.Workspace.Num); err != nil {
				return err
			}
		}
		keys, err := tx.DeleteMember(ctx, p.Workspace.Num, userID)
		if err != nil {
			return fmt.Errorf("remove a member: %w", err)
		}
		paused, err := s.pauseWebhooks(ctx, tx, p, m, store.PausedMemberRemoved)
		if err != nil {
			return err
		}
		return audit.Append(ctx, tx, append(paused, audit.Entry{
			UserID: p.UserID, Action: "MEMBER_REMOVED", EntityType: "member", EntityID: userID, Workspace: p.Workspace.Num,
			Old: map[string]any{"email": m.Email, "role": m.Role}, Metadata: map[string]any{"revokedApiKeys": keys,
				"pausedWebhooks": len(paused)},
		})...)
	})
}

func member(ctx context.Context, tx *store.Tx, p auth.Principal, userID string) (store.Member, error) {
	m, err := tx.MemberOf(ctx, p.Workspace.Num, userID)
	return m, auth.Missing("Member", err)
}

// otherOwner returns an error if an OWNER of a locked workspace is its only one.
func otherOwner(ctx context.Context, tx *store.Tx, workspace uint64) error {
	owners, err := tx.Owners(ctx, workspace)
	if err != nil {
		return fmt.Errorf("count owners: %w", err)
	}
	if len(owners) < 2 {
		return problem.New(problem.Invalid, "The last OWNER of a workspace must stay.")
	}
	return nil
}
