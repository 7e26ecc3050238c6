package store

import (
	"context"
	"slices"
	"time"
)

// Statuses of an edit of many links.
const (
	EditRunning = "RUNNING"
	EditDone    = "DONE"
	EditUndoing = "UNDOING"
	EditUndone  = "UNDONE"
	EditFailed  = "FAILED"
)

// EditStatuses lists the statuses of edits.
var EditStatuses = []string{EditRunning, EditDone, EditUndoing, EditUndone, EditFailed}

// LinkEdit is a change of many links of a workspace. Times are Unix milliseconds.
type LinkEdit struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64
	UserID    string // who edits
	Status    string
	Change    string // JSON
	Total     int    // links

	// Done counts the links that the present pass has finished, which are the first ones. The others count links of all passes.
	Done, Changed, Failed, Undone int

	Failure    string // why the status is FAILED
	CreatedAt  int64
	FinishedAt int64 // 0: not yet
}

const editColumns = `num, id, workspace_num, user_id, status, change, total, done, changed, failed, undone, failure, created_at, finished_at`

func scanEdit(row interface{ Scan(...any) error }) (e LinkEdit, err error) {
	return e, row.Scan(&e.Num, &e.ID, &e.Workspace, &e.UserID, &e.Status, &e.Change, &e.Total, &e.Done, &e.Changed, &e.Failed, &e.Undone,
		&e.Failure, &e.CreatedAt, orZero(&e.FinishedAt))
}

// LinkEditByID reads one edit, or returns ErrNotFound.
func (c Conn) LinkEditByID(ctx context.Context, id string) (LinkEdit, error) {
	return scanEdit(c.Row(ctx, `SELECT `+editColumns+` FROM link_edits WHERE id = ?`, id))
}

// LinkEdits reads one page of edits, newest first, and counts all of them. Workspace 0 stands for all.
func (c Conn) LinkEdits(ctx context.Context, workspace uint64, offset, limit int) (list []LinkEdit, total int, err error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	return pageOf(ctx, c, scanEdit, editColumns, `link_edits`+w.String(), `num DESC`, w.args, limit, offset)
}

// LockLinkEdit reads an edit and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockLinkEdit(ctx context.Context, id string) (LinkEdit, error) {
	return scanEdit(tx.Row(ctx, `SELECT `+editColumns+` FROM link_edits WHERE id = ?`+tx.forUpdate(), id))
}

// CountLinkEdits counts the edits of a workspace that have one of the statuses.
func (c Conn) CountLinkEdits(ctx context.Context, workspace uint64, statuses ...string) (n int, err error) {
	err = c.Row(ctx, `SELECT count(*) FROM link_edits WHERE workspace_num = ? AND status IN (`+In(len(statuses))+`)`,
		append([]any{workspace}, Args(statuses)...)...).Scan(&n)
	return n, err
}

// InsertLinkEdit adds an edit with its links.
func (tx *Tx) InsertLinkEdit(ctx context.Context, e *LinkEdit, urlIDs []string) error {
	err := tx.Row(ctx, `INSERT INTO link_edits (id, workspace_num, user_id, status, change, total, done, changed, failed, undone, failure,
		holder, lease_until, created_at) VALUES (`+In(6)+`, 0, 0, 0, 0, '', '', 0, ?) RETURNING num`,
		e.ID, e.Workspace, e.UserID, e.Status, e.Change, e.Total, e.CreatedAt).Scan(&e.Num)
	if err != nil {
		return err
	}
	nth := 0
	for part := range slices.Chunk(urlIDs, batch) {
		args := make([]any, 0, 3*len(part))
		for _, id := range part {
			args = append(args, e.Num, nth, id)
			nth++
		}
		if _, err := tx.Exec(ctx, `INSERT INTO link_edit_links (edit_num, nth, url_id, before, after, field, message) VALUES `+
			values(len(part), "(?,?,?,'','','','')"), args...); err != nil {
			return err
		}
	}
	return nil
}

// UpdateLinkEdit writes the status and the counts of an edit.
func (tx *Tx) UpdateLinkEdit(ctx context.Context, e *LinkEdit) error {
	return tx.change(ctx, `UPDATE link_edits SET status = ?, done = ?, changed = ?, failed = ?, undone = ?, failure = ?, finished_at = ?
		WHERE num = ?`, e.Status, e.Done, e.Changed, e.Failed, e.Undone, e.Failure, null(e.FinishedAt), e.Num)
}

// EditedLink is a link of an edit.
type EditedLink struct {
	Nth            int
	URLID          string
	Before, After  string // JSON; "": the edit has not changed it
	Field, Message string // the problem; "": none
}

func scanEditedLink(row interface{ Scan(...any) error }) (l EditedLink, err error) {
	return l, row.Scan(&l.Nth, &l.URLID, &l.Before, &l.After, &l.Field, &l.Message)
}

const editedLinks = `SELECT nth, url_id, before, after, field, message FROM link_edit_links WHERE edit_num = ?`

// EditedLinks reads links of an edit from the nth one on.
func (c Conn) EditedLinks(ctx context.Context, edit uint64, nth, limit int) ([]EditedLink, error) {
	return All(ctx, c, scanEditedLink, editedLinks+` AND nth >= ? ORDER BY nth LIMIT ?`, edit, nth, limit)
}

// EditProblems reads one page of the links of an edit that have a problem, and counts all of them.
func (c Conn) EditProblems(ctx context.Context, edit uint64, offset, limit int) (list []EditedLink, total int, err error) {
	if err := c.Row(ctx, `SELECT count(*) FROM link_edit_links WHERE edit_num = ? AND message <> ''`, edit).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = All(ctx, c, scanEditedLink, editedLinks+` AND message <> '' ORDER BY nth LIMIT ? OFFSET ?`, edit, limit, offset)
	return list, total, err
}

// UpdateEditedLink writes the result of a link of an edit.
func (tx *Tx) UpdateEditedLink(ctx context.Context, edit uint64, l *EditedLink) error {
	return tx.change(ctx, `UPDATE link_edit_links SET before = ?, after = ?, field = ?, message = ? WHERE edit_num = ? AND nth = ?`,
		l.Before, l.After, l.Field, l.Message, edit, l.Nth)
}

const editRuns = `status IN ('` + EditRunning + `', '` + EditUndoing + `')`

// LinkEditWaits reports whether an edit has links left that no process works on.
func (c Conn) LinkEditWaits(ctx context.Context) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM link_edits WHERE `+editRuns+` AND lease_until <= `+c.clock()+`)`))
}

// ClaimLinkEdit gives the edit that waits longest to a process for a time. It returns ErrNotFound if there is none that no process holds.
func (tx *Tx) ClaimLinkEdit(ctx context.Context, holder string, lease time.Duration) (LinkEdit, error) {
	skip := ""
	if tx.pg {
		skip = ` FOR UPDATE SKIP LOCKED`
	}
	return scanEdit(tx.Row(ctx, `UPDATE link_edits SET holder = ?, lease_until = `+tx.clock()+` + CAST(? AS BIGINT) WHERE num = (SELECT num
		FROM link_edits WHERE `+editRuns+` AND lease_until <= `+tx.clock()+` ORDER BY lease_until, num LIMIT 1`+skip+`)
		RETURNING `+editColumns,
		holder, lease.Milliseconds()))
}

// HoldLinkEdit locks an edit until the commit and renews the lease of its holder. It returns ErrNotFound if the edit has ended, or another
// process holds it.
func (tx *Tx) HoldLinkEdit(ctx context.Context, num uint64, holder string, lease time.Duration) (LinkEdit, error) {
	return scanEdit(tx.Row(ctx, `UPDATE link_edits SET lease_until = `+tx.clock()+` + CAST(? AS BIGINT) WHERE num = ? AND holder = ? AND `+
		editRuns+` RETURNING `+editColumns, lease.Milliseconds(), num, holder))
}

// ReleaseLinkEdit ends the lease of a holder. The edit then waits behind those that wait already.
func (tx *Tx) ReleaseLinkEdit(ctx context.Context, num uint64, holder string) error {
	return tx.Do(ctx, `UPDATE link_edits SET holder = '', lease_until = `+tx.clock()+` WHERE num = ? AND holder = ?`, num, holder)
}

// DeleteOldLinkEdits deletes up to limit edits that ended before a time, and returns their number.
func (tx *Tx) DeleteOldLinkEdits(ctx context.Context, before int64, limit int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM link_edits WHERE num IN (SELECT num FROM link_edits WHERE finished_at < ? AND NOT `+editRuns+
		` ORDER BY num LIMIT ?)`, before, limit)
}
