// Package workspaces holds the use cases of workspaces and their members.
//
// The caller's Principal names the workspace on which a use case works. Changes lock the row of the workspace and read
// the caller's role again, because it may have changed since the request was authenticated. So concurrent changes follow
// each other, and one OWNER always remains. Package invitations adds members.
package workspaces

import (
	"cmp"
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// DefaultPerUser is the default limit of workspaces of teams that a user owns.
const DefaultPerUser = 20

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store   *store.Store
	perUser int
	notices Notices
	counts  counts
}

// New returns a Service. perUser limits the workspaces that one user owns; 0 means DefaultPerUser.
func New(st *store.Store, perUser int) *Service {
	return &Service{store: st, perUser: cmp.Or(perUser, DefaultPerUser)}
}

// Row is a workspace with the caller's role in it.
type Row struct {
	store.WorkspaceRow
	Role auth.WorkspaceRole // of a member; Owner for an administrator of the system
}

func rowFor(p auth.Principal) func(store.WorkspaceRow) Row {
	return func(w store.WorkspaceRow) Row {
		if p.IsAdmin() {
			return Row{w, auth.Owner}
		}
		return Row{w, auth.ParseWorkspaceRole(w.Role)}
	}
}

// List returns a page of the workspaces that the caller reaches, and their number. The personal one comes first.
func (s *Service) List(ctx context.Context, p auth.Principal, search string, limit, offset int) ([]Row, int, error) {
	f := store.WorkspaceFilter{UserID: p.UserID, All: p.SeesAll(), Search: search}
	if p.KeyID != "" && !p.IsAdmin() {
		f.Num = p.Workspace.Num
	}
	list, total, err := s.store.Workspaces(ctx, f, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list workspaces: %w", err)
	}
	rows := each.Of(list, rowFor(p))
	return rows, total, nil
}

// Get returns the workspace of the request.
func (s *Service) Get(ctx context.Context, p auth.Principal) (Row, error) {
	return get(ctx, s.store.Conn, p, p.Workspace.Num)
}

func get(ctx context.Context, c store.Conn, p auth.Principal, num uint64) (Row, error) {
	w, err := c.WorkspaceRow(ctx, p.UserID, num)
	if err != nil {
		return Row{}, auth.Missing("Workspace", err)
	}
	return rowFor(p)(w), nil
}

// Input names a workspace. In a change, a nil field stays as it is. In Create, a nil Slug is derived from the name.
type Input struct {
	Name, Slug *string
	Previews   *bool
}

// Create makes a workspace for a team. The caller becomes its OWNER. The error is a Conflict if the slug is taken or the
// caller owns too many workspaces.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (row Row, err error) {
	var v problem.Fields
	if in.Name == nil {
		v.Add("name", "is required")
	}
	w := store.Workspace{ID: store.NewID(), CreatedAt: store.Now(), UpdatedAt: store.Now()}
	in.apply(&v, &w)
	if err := v.Err(); err != nil {
		return row, err
	}
	if p.KeyID != "" && !p.Workspace.Personal {
		return row, problem.New(problem.Forbidden, "This API key belongs to a workspace and can't create others.")
	}
	for again := range 3 {
		try := w
		if in.Slug == nil {
			try.Slug = deriveSlug(w.Name, again > 0)
		}
		row, err = s.insert(ctx, p, try)
		if _, taken := store.Unique(err); !taken {
			return row, err
		}
		if in.Slug != nil {
			return Row{}, slugTaken()
		}
	}
	return Row{}, err
}

func (s *Service) insert(ctx context.Context, p auth.Principal, w store.Workspace) (row Row, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, p.UserID); err != nil { // concurrent calls must count each other's workspaces
			return fmt.Errorf("lock the user: %w", err)
		}
		have, err := tx.OwnedTeams(ctx, p.UserID)
		if err != nil {
			return fmt.Errorf("count workspaces: %w", err)
		}
		if have >= s.perUser {
			return problem.New(problem.Conflict, "You own %d workspaces already, which is the limit.", have)
		}
		if err := tx.InsertWorkspace(ctx, &w, p.UserID); err != nil {
			return fmt.Errorf("insert a workspace: %w", err)
		}
		if row, err = get(ctx, tx.Conn, p, w.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WORKSPACE_CREATED", EntityType: "workspace", EntityID: w.ID,
			Workspace: w.Num, New: logged(w)})
	})
	return row, err
}

// Update changes name, slug and previews of the workspace of the request. It requires the role ADMIN.
func (s *Service) Update(ctx context.Context, p auth.Principal, in Input) (row Row, err error) {
	var v problem.Fields
	in.apply(&v, &store.Workspace{})
	if err := v.Err(); err != nil {
		return row, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := lock(ctx, tx, p, auth.WorkspaceAdmin); err != nil {
			return err
		}
		old, err := get(ctx, tx.Conn, p, p.Workspace.Num)
		if err != nil {
			return err
		}
		w := old.Workspace
		in.apply(&v, &w)
		w.UpdatedAt = store.Now()
		if err := tx.UpdateWorkspace(ctx, &w); err != nil {
			if _, taken := store.Unique(err); taken {
				return slugTaken()
			}
			return fmt.Errorf("update a workspace: %w", err)
		}
		if w.HidesPreviews != old.HidesPreviews {
			if err := tx.TouchBase(ctx); err != nil {
				return fmt.Errorf("tell edges of previews: %w", err)
			}
		}
		row = old
		row.Workspace = w
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WORKSPACE_UPDATED", EntityType: "workspace", EntityID: w.ID,
			Workspace: w.Num, Old: logged(old.Workspace), New: logged(w)})
	})
	return row, err
}

// lock locks the workspace of the request until the commit, and returns the caller's present role in it. The error is a
// Forbidden if the role is lower than least, and NotFound if the caller is not a member any more.
func lock(ctx context.Context, tx *store.Tx, p auth.Principal, least auth.WorkspaceRole) (auth.WorkspaceRole, error) {
	if err := tx.LockWorkspace(ctx, p.Workspace.Num); err != nil {
		return auth.NoMember, auth.Missing("Workspace", err)
	}
	if p.IsAdmin() {
		return auth.Owner, nil
	}
	name, err := tx.MemberRole(ctx, p.Workspace.Num, p.UserID)
	if err != nil {
		return auth.NoMember, fmt.Errorf("look up role: %w", err)
	}
	switch role := auth.ParseWorkspaceRole(name); {
	case role == auth.NoMember:
		return role, problem.Missing("Workspace")
	case role < least:
		return role, problem.New(problem.Forbidden, "This needs the role %s in the workspace; you are %s.", least, role)
	default:
		return role, nil
	}
}

func slugTaken() error {
	return &problem.Error{Kind: problem.Conflict, Message: "A workspace with this slug already exists.",
		Fields: []problem.Field{{Field: "slug", Message: "is in use"}}}
}

func logged(w store.Workspace) map[string]any {
	return map[string]any{"name": w.Name, "slug": w.Slug, "isPersonal": w.IsPersonal(), "previews": !w.HidesPreviews}
}
