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
	// HidesPreviews means that visitors of /slug+ do not see where its links lead.
	HidesPreviews bool
}

// IsPersonal reports whether the workspace belongs to one user.
func (w *Workspace) IsPersonal() bool { return w.PersonalOf != "" }

const workspaceColumns = `w.num, w.id, w.name, w.slug, w.personal_of, w.created_at, w.updated_at, w.hides_previews`

func (w *Workspace) scanInto() []any {
	return []any{&w.Num, &w.ID, &w.Name, &w.Slug, orZero(&w.PersonalOf), &w.CreatedAt, &w.UpdatedAt, &w.HidesPreviews}
}

// Membership is a workspace with the role that one user has in it.
type Membership struct {
	Workspace
	Role string // "": not a member
}

const membershipColumns = workspaceColumns + `, m.role`

func (m *Membership) scanInto() []any { return append(m.Workspace.scanInto(), orZero(&m.Role)) }

// WorkspaceFor finds a workspace by its id or its slug, with the user's role in it. It returns ErrNotFound if there is
// no such workspace.
func (c Conn) WorkspaceFor(ctx context.Context, userID, choice string) (m Membership, err error) {
	err = c.Row(ctx, `SELECT `+membershipColumns+` FROM workspaces w LEFT JOIN workspace_members m ON m.workspace_num = w.num AND m.user_id = ?
		WHERE w.id = ? OR w.slug = ?`, userID, choice, choice).Scan(m.scanInto()...)
	return m, err
}

// LockWorkspace locks a workspace until the commit, so that two transactions that count its objects follow each other.
func (tx *Tx) LockWorkspace(ctx context.Context, num uint64) error {
	return tx.Row(ctx, `SELECT num FROM workspaces WHERE num = ?`+tx.forUpdate(), num).Scan(&num)
}

// CountForLimit makes transactions wait for each other that add rows of a workspace to a table, and counts the rows.
func (tx *Tx) CountForLimit(ctx context.Context, table string, workspace uint64) (int, error) {
	if tx.pg {
		if _, err := tx.Exec(ctx, `SELECT num FROM workspaces WHERE num = ? FOR NO KEY UPDATE`, workspace); err != nil {
			return 0, err
		}
	}
	return column[int](tx.Row(ctx, `SELECT count(*) FROM `+table+` WHERE workspace_num = ?`, workspace))
}

// WorkspaceRow is a workspace as lists show it.
type WorkspaceRow struct {
	Membership
	OwnerEmail     string // of a personal workspace; "": a team's
	Members, Links int
}

// WorkspaceFilter selects workspaces.
type WorkspaceFilter struct {
	UserID string // whose role the rows contain, and whose workspaces come first
	All    bool   // also those of which this user is not a member
	Num    uint64 // only this one; 0: all
	Search string // text in name, slug or owner's email, case-insensitive; "": all
}

// Workspaces reads one page of workspaces and counts all that the filter selects. The user's personal workspace comes
// first, then those of which the user is a member, then the others, each by name.
func (c Conn) Workspaces(ctx context.Context, f WorkspaceFilter, limit, offset int) (list []WorkspaceRow, total int, err error) {
	const from = `workspaces w LEFT JOIN workspace_members m ON m.workspace_num = w.num AND m.user_id = ?
		LEFT JOIN users u ON u.id = w.personal_of`
	w, like := conditions{args: []any{f.UserID}}, LikeContains(f.Search)
	w.and(!f.All, `m.role IS NOT NULL`)
	w.and(f.Num != 0, `w.num = ?`, f.Num)
	w.and(f.Search != "", `(LOWER(w.name) LIKE ? ESCAPE '\' OR w.slug LIKE ? ESCAPE '\' OR u.email_key LIKE ? ESCAPE '\')`,
		like, like, like)
	if err := c.Row(ctx, `SELECT count(*) FROM `+from+w.String(), w.args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	// The page is chosen first, so that members and links are counted only for its rows.
	const order = ` ORDER BY CASE WHEN w.personal_of = ? THEN 0 WHEN m.role IS NOT NULL THEN 1 ELSE 2 END, LOWER(w.name), w.num`
	page := `SELECT w.num FROM ` + from + w.String() + order + ` LIMIT ? OFFSET ?`
	args := append(append([]any{f.UserID}, w.args...), f.UserID, limit, offset, f.UserID)
	list, err = All(ctx, c, func(row interface{ Scan(...any) error }) (r WorkspaceRow, err error) {
		return r, row.Scan(append(r.Membership.scanInto(), orZero(&r.OwnerEmail), &r.Members, &r.Links)...)
	}, `SELECT `+membershipColumns+`, u.email, (SELECT count(*) FROM workspace_members x WHERE x.workspace_num = w.num),
		(SELECT count(*) FROM urls WHERE urls.workspace_num = w.num) FROM `+from+` WHERE w.num IN (`+page+`)`+order, args...)
	return list, total, err
}

// WorkspaceRow reads one workspace with the user's role in it, or returns ErrNotFound.
func (c Conn) WorkspaceRow(ctx context.Context, userID string, num uint64) (WorkspaceRow, error) {
	list, _, err := c.Workspaces(ctx, WorkspaceFilter{UserID: userID, All: true, Num: num}, 1, 0)
	return first(list, err)
}

// UpdateWorkspace writes name, slug, HidesPreviews and the time of the update. A slug in use violates the unique constraint on slug.
func (tx *Tx) UpdateWorkspace(ctx context.Context, w *Workspace) error {
	return tx.Do(ctx, `UPDATE workspaces SET name = ?, slug = ?, updated_at = ?, hides_previews = ? WHERE num = ?`, w.Name, w.Slug,
		w.UpdatedAt, w.HidesPreviews, w.Num)
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

// Contents counts what is lost with workspaces.
type Contents struct{ Workspaces, Links, Bundles int }

// ContentsOf counts the links and bundles of a workspace.
func (c Conn) ContentsOf(ctx context.Context, workspace uint64) (n Contents, err error) {
	err = c.Row(ctx,
		`SELECT 1, (SELECT count(*) FROM urls WHERE workspace_num = ?), (SELECT count(*) FROM bundles WHERE workspace_num = ?)`,
		workspace, workspace).Scan(&n.Workspaces, &n.Links, &n.Bundles)
	return n, err
}

// DeleteWorkspace removes a workspace that has no links, with its members, bundles, domains, webhooks and API keys.
func (tx *Tx) DeleteWorkspace(ctx context.Context, num uint64) error {
	if err := tx.deleteDomains(ctx, num); err != nil {
		return err
	}
	if removed, err := tx.Exec(ctx, `DELETE FROM conversion_sources WHERE workspace_num = ?`, num); err != nil {
		return err
	} else if removed > 0 {
		if err := tx.AnnounceConversions(ctx, conversionSources); err != nil {
			return err
		}
	}
	return tx.Do(ctx, `DELETE FROM workspaces WHERE num = ?`, num)
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
	}, `SELECT workspace_num, user_id, role FROM workspace_members WHERE `+
		strings.TrimSuffix(strings.Repeat(`workspace_num = ? AND user_id = ? OR `, len(list)), ` OR `), args...)
	return roles, err
}
