package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Roles of members of a workspace, from most to least rights.
const (
	RoleOwner  = "OWNER"
	RoleAdmin  = "ADMIN"
	RoleEditor = "EDITOR"
	RoleViewer = "VIEWER"
)

// Workspace owns links, bundles, webhooks and API keys. Each user has a personal workspace with the same number and id.
// The database creates it together with the user.
type Workspace struct {
	Num        uint64 // the owner in link records and clicks; from the same sequence as the numbers of users
	ID         string
	Name       string
	Slug       string
	PersonalOf string // id of the user; "": a team's
	CreatedAt  int64
	UpdatedAt  int64
}

// IsPersonal reports whether the workspace belongs to one user.
func (w *Workspace) IsPersonal() bool { return w.PersonalOf != "" }

const workspaceColumns = `w.num, w.id, w.name, w.slug, w.personal_of, w.created_at, w.updated_at`

func (w *Workspace) fields() []any {
	return []any{&w.Num, &w.ID, &w.Name, &w.Slug, orZero(&w.PersonalOf), &w.CreatedAt, &w.UpdatedAt}
}

// Membership is a workspace with the role that one user has in it.
type Membership struct {
	Workspace
	Role string // "": not a member
}

const membershipColumns = workspaceColumns + `, m.role`

func (m *Membership) fields() []any { return append(m.Workspace.fields(), orZero(&m.Role)) }

// WorkspaceFor finds a workspace by its id or its slug, with the user's role in it. It returns ErrNotFound if there is
// no such workspace.
func (c Conn) WorkspaceFor(ctx context.Context, userID, choice string) (m Membership, err error) {
	err = c.Row(ctx, `SELECT `+membershipColumns+` FROM workspaces w LEFT JOIN workspace_members m ON m.workspace_num = w.num AND m.user_id = ?
		WHERE w.id = ? OR w.slug = ?`, userID, choice, choice).Scan(m.fields()...)
	return m, err
}

// LockWorkspace locks a workspace until the commit, so that two transactions that count its objects follow each other.
func (tx *Tx) LockWorkspace(ctx context.Context, num uint64) error {
	return tx.Row(ctx, `SELECT num FROM workspaces WHERE num = ?`+tx.forUpdate(), num).Scan(&num)
}

// InsertWorkspace adds a workspace for a team, with a number of its own and one OWNER. A slug in use violates the unique
// constraint on slug.
func (tx *Tx) InsertWorkspace(ctx context.Context, w *Workspace, ownerID string) error {
	next := `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'users' RETURNING seq`
	if tx.pg {
		next = `SELECT nextval(pg_get_serial_sequence('users', 'num'))`
	}
	if err := tx.Row(ctx, next).Scan(&w.Num); err != nil {
		return fmt.Errorf("number a workspace: %w", err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO workspaces (num, id, name, slug, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
		w.Num, w.ID, w.Name, w.Slug, w.CreatedAt, w.UpdatedAt); err != nil {
		return err
	}
	return tx.InsertMember(ctx, w.Num, ownerID, RoleOwner, w.CreatedAt)
}

// InsertMember adds a user to a workspace.
func (c Conn) InsertMember(ctx context.Context, workspace uint64, userID, role string, at int64) error {
	_, err := c.Exec(ctx, `INSERT INTO workspace_members (workspace_num, user_id, role, created_at) VALUES (?, ?, ?, ?)`, workspace, userID, role, at)
	return err
}

// MemberRef names a user in a workspace.
type MemberRef struct {
	Workspace uint64 // number
	UserID    string
}

// MemberRoles returns the roles of those that are members.
func (c Conn) MemberRoles(ctx context.Context, list []MemberRef) (roles map[MemberRef]string, err error) {
	roles = map[MemberRef]string{}
	if len(list) == 0 {
		return roles, nil
	}
	args := make([]any, 0, 2*len(list))
	for _, m := range list {
		args = append(args, m.Workspace, m.UserID)
	}
	err = c.each(ctx, func(rows *sql.Rows) error {
		var m MemberRef
		var role string
		err := rows.Scan(&m.Workspace, &m.UserID, &role)
		roles[m] = role
		return err
	}, `SELECT workspace_num, user_id, role FROM workspace_members WHERE `+strings.TrimSuffix(strings.Repeat(`workspace_num = ? AND user_id = ? OR `, len(list)), ` OR `), args...)
	return roles, err
}
