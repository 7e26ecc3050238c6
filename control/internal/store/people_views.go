package store

import (
	"context"
)

// View is a saved query of one of the console's screens.
type View struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64 // number of the workspace that owns it
	UserID    string // who saved it
	Screen    string
	Name      string // unique by TagKey among the user's views of the screen in the workspace
	Query     string // without the question mark
	Shared    bool   // all members of the workspace see it
	Position  int    // in lists, ascending
	CreatedAt int64
	UpdatedAt int64
}

const viewColumns = `num, id, workspace_num, user_id, screen, name, query, shared, position, created_at, updated_at`

func scanView(row interface{ Scan(...any) error }) (v View, err error) {
	return v, row.Scan(&v.Num, &v.ID, &v.Workspace, &v.UserID, &v.Screen, &v.Name, &v.Query, &v.Shared, &v.Position, &v.CreatedAt,
		&v.UpdatedAt)
}

// Views reads one page of a user's own views in a workspace and of those that others share, ordered by position and name,
// and counts all of them. The screen "" stands for all.
func (c Conn) Views(ctx context.Context, workspace uint64, userID, screen string, offset, limit int) (list []View, total int, err error) {
	var w conditions
	w.and(true, `workspace_num = ? AND (user_id = ? OR shared)`, workspace, userID)
	w.and(screen != "", `screen = ?`, screen)
	return pageOf(ctx, c, scanView, viewColumns, `saved_views`+w.String(), `position, name_key, num`, w.args, limit, offset)
}

// LockView reads a view and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockView(ctx context.Context, id string) (View, error) {
	return scanView(tx.Row(ctx, `SELECT `+viewColumns+` FROM saved_views WHERE id = ?`+tx.forUpdate(), id))
}

// LockViewsOf makes transactions wait for each other that add views of a user, and returns how many views the user has
// in a workspace, and the position after the last of them.
func (tx *Tx) LockViewsOf(ctx context.Context, workspace uint64, userID string) (count, next int, err error) {
	if tx.pg {
		if _, err := tx.Exec(ctx, `SELECT num FROM users WHERE id = ? FOR NO KEY UPDATE`, userID); err != nil {
			return 0, 0, err
		}
	}
	err = tx.Row(ctx, `SELECT count(*), coalesce(max(position) + 1, 0) FROM saved_views WHERE workspace_num = ? AND user_id = ?`, workspace,
		userID).Scan(&count, &next)
	return count, next, err
}

// InsertView adds a view and reports whether its name was free.
func (tx *Tx) InsertView(ctx context.Context, v *View) (bool, error) {
	err := tx.Row(ctx, `INSERT INTO saved_views (id, workspace_num, user_id, screen, name, name_key, query, shared, position, created_at, updated_at) VALUES (`+In(11)+`)
		ON CONFLICT (workspace_num, user_id, screen, name_key) DO NOTHING RETURNING num`,
		v.ID, v.Workspace, v.UserID, v.Screen, v.Name, TagKey(v.Name), v.Query, v.Shared, v.Position, v.CreatedAt, v.UpdatedAt).Scan(&v.Num)
	return inserted(err)
}

// UpdateView writes a view. It reports whether the name was free, and writes nothing if it was not. The caller has locked
// the view.
func (tx *Tx) UpdateView(ctx context.Context, v *View) (bool, error) {
	taken := tx.Row(ctx,
		`SELECT EXISTS (SELECT 1 FROM saved_views WHERE workspace_num = ? AND user_id = ? AND screen = ? AND name_key = ? AND num <> ?)`,
		v.Workspace, v.UserID, v.Screen, TagKey(v.Name), v.Num)
	return tx.unlessTaken(ctx, taken,
		`UPDATE saved_views SET screen = ?, name = ?, name_key = ?, query = ?, shared = ?, position = ?, updated_at = ? WHERE num = ?`,
		v.Screen, v.Name, TagKey(v.Name), v.Query, v.Shared, v.Position, v.UpdatedAt, v.Num)
}

// DeleteView removes a view.
func (tx *Tx) DeleteView(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM saved_views WHERE num = ?`, num)
}
