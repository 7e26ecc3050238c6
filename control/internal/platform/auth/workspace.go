package auth

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// workspaceForm has the ids and the slugs of workspaces. PostgreSQL rejects some characters of other texts.
var workspaceForm = regexp.MustCompile(`^[0-9A-Za-z-]{1,40}$`)

// named returns the workspace with an id or a slug, and the caller's role in it. The error is NotFound if there is no such
// workspace or the caller is not a member. An ADMIN has all permissions in every workspace.
func named(ctx context.Context, c store.Conn, p Principal, name string) (store.Workspace, WorkspaceRole, error) {
	if !workspaceForm.MatchString(name) {
		return store.Workspace{}, NoMember, problem.Missing("Workspace")
	}
	m, err := c.WorkspaceFor(ctx, p.UserID, name)
	role := ParseWorkspaceRole(m.Role)
	if p.IsAdmin() {
		role = Owner
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && role == NoMember:
		return store.Workspace{}, NoMember, problem.Missing("Workspace")
	case err != nil:
		return store.Workspace{}, NoMember, fmt.Errorf("look up workspace: %w", err)
	}
	return m.Workspace, role, nil
}

// Choose lets a caller work in the workspace with an id or a slug. The error is NotFound if there is no such workspace
// or the caller is not a member, and Forbidden if an API key belongs to another workspace. An ADMIN may choose every
// workspace, and has all permissions in it.
func (a *Authenticator) Choose(ctx context.Context, p Principal, choice string) (Principal, error) {
	w, role, err := named(ctx, a.store.Conn, p, choice)
	if err != nil {
		return p, err
	}
	if p.KeyID != "" && !p.IsAdmin() && w.Num != p.Workspace.Num {
		return p, problem.New(problem.Forbidden, "This API key belongs to another workspace.")
	}
	p.Workspace, p.Chosen = Workspace{Num: w.Num, ID: w.ID, Personal: w.IsPersonal(), Role: role}, true
	return p, nil
}

// Receiver returns the workspace with an id or a slug, to which a caller wants to move links. field is its name in the
// request. The error is NotFound as in Choose, and Forbidden if the caller may not change links in that workspace.
func Receiver(ctx context.Context, c store.Conn, p Principal, field, name string) (store.Workspace, error) {
	w, role, err := named(ctx, c, p, name)
	var missing *problem.Error
	switch {
	case errors.As(err, &missing) && missing.Kind == problem.NotFound:
		missing.Fields = []problem.Field{{Field: field, Message: "is not a workspace of yours"}}
		return w, missing
	case err != nil:
		return w, err
	case p.KeyID != "" && !p.IsAdmin():
		return w, problem.New(problem.Forbidden, "This API key belongs to one workspace and can't move URLs to another.")
	case role < Editor:
		return w, problem.New(problem.Forbidden, "This needs the role %s in the other workspace; you are %s.", Editor, role)
	}
	return w, nil
}

// ActingFor returns a user with the permissions that the user has now in a workspace, for work that goes on after the request that
// began it. Kind is what the user has begun, such as "import", for the errors. refused says why the user may no longer do it, which
// takes an active user with at least a role; else it is "". The error is store.ErrNotFound if the user or the workspace was deleted.
func ActingFor(ctx context.Context, c store.Conn, workspace uint64, userID, kind string, least WorkspaceRole) (p Principal, refused string,
	err error) {
	u, err := c.UserByID(ctx, userID)
	if err != nil {
		return p, "", fmt.Errorf("read the user of the %s: %w", kind, err)
	}
	id, _, err := c.WorkspaceName(ctx, workspace)
	if err != nil {
		return p, "", fmt.Errorf("read the workspace of the %s: %w", kind, err)
	}
	name, err := c.MemberRole(ctx, workspace, userID)
	if err != nil {
		return p, "", fmt.Errorf("read the role of a user: %w", err)
	}
	role := ParseWorkspaceRole(name)
	if Role(u.Role) == Admin {
		role = Owner
	}
	switch {
	case !u.Active:
		refused = "The user who started this was deactivated."
	case role < least:
		refused = fmt.Sprintf("The user who started this no longer has the role %s in the workspace.", least)
	}
	return Principal{UserID: u.ID, UserNum: u.Num, Email: u.Email, Role: User, Chosen: true,
		Workspace: Workspace{Num: workspace, ID: id, Role: role}}, refused, nil
}
