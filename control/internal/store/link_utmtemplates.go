package store

import (
	"context"

	"github.com/shortline/shortline/shared/link"
)

// UTMTemplate is a named set of campaign fields in one workspace. A field that is "" is unset.
type UTMTemplate struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64 // number of the workspace that owns it
	Name      string // unique in the workspace by TagKey
	UTM       link.UTM
	CreatedAt int64
	UpdatedAt int64
}

const templateColumns = `num, id, workspace_num, name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, created_at, updated_at`

func scanTemplate(row interface{ Scan(...any) error }) (t UTMTemplate, err error) {
	u := &t.UTM
	return t, row.Scan(&t.Num, &t.ID, &t.Workspace, &t.Name, orZero(&u.Source), orZero(&u.Medium), orZero(&u.Campaign), orZero(&u.Term),
		orZero(&u.Content),
		orZero(&u.ID), orZero(&u.SourcePlatform), &t.CreatedAt, &t.UpdatedAt)
}

// values returns what statements write to the columns from name to updated_at, without created_at.
func (t *UTMTemplate) values() []any {
	u := &t.UTM
	return []any{t.Name, TagKey(t.Name), null(u.Source), null(u.Medium), null(u.Campaign), null(u.Term), null(u.Content), null(u.ID),
		null(u.SourcePlatform), t.UpdatedAt}
}

// UTMTemplates reads one page of templates, ordered by name, and counts all of them. Workspace 0 stands for all.
func (c Conn) UTMTemplates(ctx context.Context, workspace uint64, search string, offset, limit int) (list []UTMTemplate, total int,
	err error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	w.and(search != "", `name_key LIKE ? ESCAPE '\'`, LikeContains(search))
	return pageOf(ctx, c, scanTemplate, templateColumns, `utm_templates`+w.String(), `name_key, num`, w.args, limit, offset)
}

// LockUTMTemplate reads a template and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockUTMTemplate(ctx context.Context, id string) (UTMTemplate, error) {
	return scanTemplate(tx.Row(ctx, `SELECT `+templateColumns+` FROM utm_templates WHERE id = ?`+tx.forUpdate(), id))
}

// InsertUTMTemplate adds a template and reports whether its name was free in the workspace.
func (tx *Tx) InsertUTMTemplate(ctx context.Context, t *UTMTemplate) (bool, error) {
	err := tx.Row(ctx, `INSERT INTO utm_templates (id, workspace_num, created_at, name, name_key, utm_source, utm_medium, utm_campaign,
		utm_term, utm_content, utm_id,
		utm_source_platform, updated_at) VALUES (`+In(13)+`) ON CONFLICT (workspace_num, name_key) DO NOTHING RETURNING num`,
		append([]any{t.ID, t.Workspace, t.CreatedAt}, t.values()...)...).Scan(&t.Num)
	return inserted(err)
}

// UpdateUTMTemplate writes a template. It reports whether the name was free in the workspace, and writes nothing if it
// was not. The caller has locked the template.
func (tx *Tx) UpdateUTMTemplate(ctx context.Context, t *UTMTemplate) (bool, error) {
	taken := tx.Row(ctx, `SELECT EXISTS (SELECT 1 FROM utm_templates WHERE workspace_num = ? AND name_key = ? AND num <> ?)`,
		t.Workspace, TagKey(t.Name), t.Num)
	return tx.unlessTaken(ctx, taken, `UPDATE utm_templates SET name = ?, name_key = ?, utm_source = ?, utm_medium = ?, utm_campaign = ?, utm_term = ?,
		utm_content = ?, utm_id = ?,
		utm_source_platform = ?, updated_at = ? WHERE num = ?`, append(t.values(), t.Num)...)
}

// DeleteUTMTemplate removes a template. Links that it was used for keep their fields.
func (tx *Tx) DeleteUTMTemplate(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM utm_templates WHERE num = ?`, num)
}
