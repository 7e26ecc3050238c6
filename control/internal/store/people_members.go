package store

import (
	"context"
	"errors"
	"slices"
)

// Member is a user's membership in a workspace.
type Member struct {
	UserID, Email, Name string
	Role                string
	JoinedAt            int64
}

const memberRows = `SELECT u.id, u.email, u.name, m.role, m.created_at FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE m.workspace_num = ?`

func scanMember(row interface{ Scan(...any) error }) (m Member, err error) {
	return m, row.Scan(&m.UserID, &m.Email, &m.Name, &m.Role, &m.JoinedAt)
}

// InsertMember adds a user to a workspace. A user who is a member already violates the primary key.
func (c Conn) InsertMember(ctx context.Context, workspace uint64, userID, role string, at int64) error {
	return c.Do(ctx, `INSERT INTO workspace_members (workspace_num, user_id, role, created_at) VALUES (?, ?, ?, ?)`, workspace,
		userID, role, at)
}

// Members reads one page of a workspace's members, who joined first, and counts all.
func (c Conn) Members(ctx context.Context, workspace uint64, limit, offset int) (list []Member, total int, err error) {
	if err := c.Row(ctx, `SELECT count(*) FROM workspace_members WHERE workspace_num = ?`, workspace).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = All(ctx, c, scanMember, memberRows+` ORDER BY m.created_at, u.num LIMIT ? OFFSET ?`, workspace, limit, offset)
	return list, total, err
}

// MemberOf reads one membership, or returns ErrNotFound.
func (c Conn) MemberOf(ctx context.Context, workspace uint64, userID string) (Member, error) {
	return scanMember(c.Row(ctx, memberRows+` AND m.user_id = ?`, workspace, userID))
}

// MemberRole returns the role of a user in a workspace, or "" if the user is not a member.
func (c Conn) MemberRole(ctx context.Context, workspace uint64, userID string) (role string, err error) {
	err = c.Row(ctx, `SELECT role FROM workspace_members WHERE workspace_num = ? AND user_id = ?`, workspace, userID).Scan(&role)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return role, err
}

// Owners lists the ids of a workspace's OWNERs, the longest-standing first.
func (c Conn) Owners(ctx context.Context, workspace uint64) ([]string, error) {
	return All(ctx, c, column[string],
		`SELECT user_id FROM workspace_members WHERE workspace_num = ? AND role = 'OWNER' ORDER BY created_at, user_id`, workspace)
}

// Notified lists the e-mail addresses of those who learn what happens to a link of a workspace: its OWNERs and ADMINs, and
// the user who created the link if still a member. It leaves out deactivated users and the user who caused the event, lists
// OWNERs first, and returns at most limit.
func (c Conn) Notified(ctx context.Context, workspace uint64, creator, cause string, limit int) ([]string, error) {
	return All(ctx, c, column[string],
		`SELECT u.email FROM workspace_members m JOIN users u ON u.id = m.user_id
		WHERE m.workspace_num = ? AND u.active AND u.id <> ? AND (m.role IN ('OWNER', 'ADMIN') OR u.id = ?)
		ORDER BY CASE m.role WHEN 'OWNER' THEN 0 ELSE 1 END, m.created_at, u.num LIMIT ?`, workspace, cause, creator, limit)
}

// WorkspaceName reads the id and the name of a workspace.
func (c Conn) WorkspaceName(ctx context.Context, num uint64) (id, name string, err error) {
	err = c.Row(ctx, `SELECT id, name FROM workspaces WHERE num = ?`, num).Scan(&id, &name)
	return id, name, err
}

// OwnedTeams counts the workspaces of teams of which a user is an OWNER.
func (c Conn) OwnedTeams(ctx context.Context, userID string) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM workspace_members m JOIN workspaces w ON w.num = m.workspace_num
		WHERE m.user_id = ? AND m.role = 'OWNER' AND w.personal_of IS NULL`, userID))
}

// SetMemberRole changes the role of a member.
func (tx *Tx) SetMemberRole(ctx context.Context, workspace uint64, userID, role string) error {
	return tx.Do(ctx, `UPDATE workspace_members SET role = ? WHERE workspace_num = ? AND user_id = ?`, role, workspace, userID)
}

// DeleteMember removes a member together with the member's API keys for the workspace, and returns the number of keys.
// The keys would work again if the user joined again.
func (tx *Tx) DeleteMember(ctx context.Context, workspace uint64, userID string) (keys int64, err error) {
	if keys, err = tx.Exec(ctx, `DELETE FROM api_keys WHERE workspace_num = ? AND user_id = ?`, workspace, userID); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `DELETE FROM workspace_members WHERE workspace_num = ? AND user_id = ?`, workspace, userID)
	return keys, err
}

// LockDoomed locks the workspaces of which a locked user is the only OWNER, and those in which other OWNERs remain. It
// returns the former, ordered by number: the personal one, and those of teams that would have no OWNER without the user.
func (tx *Tx) LockDoomed(ctx context.Context, userID string) ([]Workspace, error) {
	if tx.pg {
		if _, err := tx.Exec(ctx,
			`SELECT num FROM workspaces WHERE num IN (SELECT workspace_num FROM workspace_members WHERE user_id = ? AND role = 'OWNER') ORDER BY `+
				`num FOR UPDATE`, userID); err != nil {
			return nil, err
		}
	}
	return All(ctx, tx.Conn, func(row interface{ Scan(...any) error }) (w Workspace, err error) {
		return w, row.Scan(w.scanInto()...)
	},
		`SELECT `+workspaceColumns+` FROM workspaces w JOIN workspace_members m ON m.workspace_num = w.num WHERE m.user_id = ?
			AND m.role = 'OWNER'
		AND NOT EXISTS (SELECT 1 FROM workspace_members o WHERE o.workspace_num = w.num AND o.role = 'OWNER' AND o.user_id <> ?) ORDER BY w.num`,
		userID, userID)
}

// heir is a subquery for the OWNER who joined the workspace of a row of a table first, other than one user.
func heir(table string) string {
	return `(SELECT m.user_id FROM workspace_members m WHERE m.workspace_num = ` + table +
		`.workspace_num AND m.role = 'OWNER' AND m.user_id <> ? ORDER BY m.created_at, m.user_id LIMIT 1)`
}

// HandOver makes the OWNER who joined first the creator of the links and bundles that a user has created in workspaces with another
// OWNER. It changes up to limit links, and bundles once no links are left; call it until it returns less than limit.
func (tx *Tx) HandOver(ctx context.Context, userID string, limit int) (int, error) {
	for _, table := range []string{"urls", "bundles"} {
		next := heir(table)
		keys, err := All(ctx, tx.Conn, column[any],
			`SELECT num FROM `+table+` WHERE user_id = ? AND EXISTS `+next+` ORDER BY num LIMIT ?`+tx.forUpdate(), userID, userID, limit)
		if err != nil {
			return 0, err
		}
		for part := range slices.Chunk(keys, batch) {
			if _, err := tx.Exec(ctx, `UPDATE `+table+` SET user_id = `+next+` WHERE num IN (`+In(len(part))+`)`,
				append([]any{userID}, part...)...); err != nil {
				return 0, err
			}
		}
		if len(keys) == limit {
			return limit, nil
		}
	}
	return 0, nil
}
