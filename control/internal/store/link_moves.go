package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// LinkMove is the move of a link from one workspace to another.
type LinkMove struct {
	Revision uint64 // of the transaction; moves of one transaction share it
	Link     uint64
	From, To uint64 // numbers of workspaces
}

// manyLinks is the number of links in one statement that has only their numbers as parameters.
const manyLinks = 10_000

// HoldWorkspace keeps a workspace from being deleted until the commit. It returns ErrNotFound if there is none. A
// transaction that also locks links locks the workspace first.
func (tx *Tx) HoldWorkspace(ctx context.Context, num uint64) error {
	lock := ""
	if tx.pg {
		lock = ` FOR KEY SHARE`
	}
	return tx.Row(ctx, `SELECT num FROM workspaces WHERE num = ?`+lock, num).Scan(&num)
}

// LockLinksOf locks up to limit links of a workspace until the commit. It returns them with their tags, ordered by number.
func (tx *Tx) LockLinksOf(ctx context.Context, workspace uint64, limit int) ([]Link, error) {
	list, err := All(ctx, tx.Conn, scanLink, `SELECT `+linkColumns+
		` FROM urls WHERE workspace_num = ? AND num IN (SELECT num FROM urls WHERE workspace_num = ? ORDER BY created_at, num LIMIT ?) `+
		`ORDER BY num`+tx.forUpdate(),
		workspace, workspace, limit)
	if err != nil {
		return nil, err
	}
	return list, tx.ReadTags(ctx, list)
}

// MoveLinks moves links to a workspace. It includes Touch, records the moves, and leaves the links in their bundles. The
// caller has locked the links and holds the workspace.
func (tx *Tx) MoveLinks(ctx context.Context, nums []uint64, to uint64, at int64) error {
	if len(nums) == 0 {
		return nil
	}
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	for part := range slices.Chunk(nums, manyLinks) {
		in := ` WHERE num IN (` + In(len(part)) + `)`
		for _, s := range []struct {
			text string
			args []any
		}{
			{`INSERT INTO link_changes (revision, num, slug, was) SELECT CAST(? AS BIGINT), num, slug, revision FROM urls` + in +
				` ON CONFLICT DO NOTHING`, []any{tx.revision}},
			{`INSERT INTO link_moves (revision, link_num, from_num, to_num) SELECT CAST(? AS BIGINT), num, workspace_num, CAST(? AS BIGINT) ` +
				`FROM urls` + in +
				` ON CONFLICT (revision, link_num) DO UPDATE SET to_num = excluded.to_num`, []any{tx.revision, to}},
			{`UPDATE urls SET workspace_num = ?, revision = ?, updated_at = ?` + in, []any{to, tx.revision, at}},
		} {
			if _, err := tx.Exec(ctx, s.text, append(s.args, Args(part)...)...); err != nil {
				return fmt.Errorf("move links: %w", err)
			}
		}
	}
	return tx.newestMoves(ctx, to)
}

// newestMoves records the moves of this transaction as the newest ones of their workspaces. All go to one workspace.
func (tx *Tx) newestMoves(ctx context.Context, to uint64) error {
	// The head of the log of changes is locked, so the rows below need no order.
	_, err := tx.Exec(ctx, `INSERT INTO workspace_moves (workspace_num, revision)
		SELECT from_num, max(revision) FROM link_moves WHERE revision = ? GROUP BY from_num
		ON CONFLICT (workspace_num) DO UPDATE SET revision = excluded.revision`, tx.revision)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO workspace_moves (workspace_num, revision) VALUES (?, ?), (0, ?)
			ON CONFLICT (workspace_num) DO UPDATE SET revision = excluded.revision`, to, tx.revision, tx.revision)
	}
	if err != nil {
		return fmt.Errorf("move links: %w", err)
	}
	return nil
}

// LogMove records the move of a link that was not in a workspace at the time, such as one in the trash.
func (tx *Tx) LogMove(ctx context.Context, num, from, to uint64) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO link_moves (revision, link_num, from_num, to_num) VALUES (?, ?, ?, ?)`, tx.revision, num, from,
		to); err != nil {
		return fmt.Errorf("log the move of a link: %w", err)
	}
	return tx.newestMoves(ctx, to)
}

// LeaveBundles removes links from the bundles of their own workspaces. It returns the ids of these bundles by the number
// of the workspace. The caller has locked the links and calls it before Touch.
func (tx *Tx) LeaveBundles(ctx context.Context, urlIDs []string, at int64) (map[uint64][]string, error) {
	members := `SELECT m.bundle_id FROM bundle_urls m JOIN urls u ON u.id = m.url_id JOIN bundles b ON b.id = m.bundle_id
		WHERE m.url_id IN (` + In(len(urlIDs)) + `) AND u.workspace_num = b.workspace_num`
	var ids []string
	left := map[uint64][]string{}
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var workspace uint64
		var id string
		err := rows.Scan(&workspace, &id)
		ids, left[workspace] = append(ids, id), append(left[workspace], id)
		return err
	}, `SELECT workspace_num, id FROM bundles WHERE id IN (`+members+`) ORDER BY num`+tx.forUpdate(), Args(urlIDs)...)
	if err != nil {
		return nil, fmt.Errorf("remove links from bundles: %w", err)
	}
	for part := range slices.Chunk(ids, batch) {
		if _, err := tx.Exec(ctx, `DELETE FROM bundle_urls WHERE bundle_id IN (`+In(len(part))+`) AND url_id IN (SELECT u.id FROM urls u WHERE u.id IN (`+In(len(urlIDs))+`)
			AND u.workspace_num = (SELECT b.workspace_num FROM bundles b WHERE b.id = bundle_urls.bundle_id))`,
			append(Args(part), Args(urlIDs)...)...); err != nil {
			return nil, fmt.Errorf("remove links from bundles: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE bundles SET updated_at = ? WHERE id IN (`+In(len(part))+`)`,
			append([]any{at}, Args(part)...)...); err != nil {
			return nil, fmt.Errorf("remove links from bundles: %w", err)
		}
	}
	return left, nil
}

// MoveBundles moves all bundles of a workspace to another and returns their number. It takes links out of them that belong to neither
// workspace. Call it before Touch.
func (tx *Tx) MoveBundles(ctx context.Context, from, to uint64) (int64, error) {
	if tx.pg {
		if _, err := tx.Exec(ctx, `SELECT num FROM bundles WHERE workspace_num = ? ORDER BY num FOR UPDATE`, from); err != nil {
			return 0, fmt.Errorf("move bundles: %w", err)
		}
	}
	if _, err := tx.Exec(ctx, `DELETE FROM bundle_urls WHERE bundle_id IN (SELECT id FROM bundles WHERE workspace_num = ?)
		AND url_id NOT IN (SELECT id FROM urls WHERE workspace_num IN (?, ?))`, from, from, to); err != nil {
		return 0, fmt.Errorf("move bundles: %w", err)
	}
	n, err := tx.Exec(ctx, `UPDATE bundles SET workspace_num = ? WHERE workspace_num = ?`, to, from)
	if err != nil {
		return 0, fmt.Errorf("move bundles: %w", err)
	}
	return n, nil
}

// LastMove is the newest move from or to a workspace.
type LastMove struct {
	Log      uint64 // incarnation of the log of changes, which numbers the revisions
	Head     uint64 // newest revision of the log
	Revision uint64 // of the move; 0: none
}

// LastMove reads the newest move from or to a workspace. Workspace 0 stands for all.
func (c Conn) LastMove(ctx context.Context, workspace uint64) (m LastMove, err error) {
	err = c.Row(ctx,
		`SELECT h.incarnation, h.revision, coalesce(m.revision, 0) FROM config_head h LEFT JOIN workspace_moves m ON m.workspace_num = ? `+
			`WHERE h.id = 1`, workspace).
		Scan(&m.Log, &m.Head, &m.Revision)
	return m, err
}

// MovesAfter reads up to limit moves in the order of revision and link, beginning after a link of a revision.
func (c Conn) MovesAfter(ctx context.Context, revision, link uint64, limit int) ([]LinkMove, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (m LinkMove, err error) {
		return m, row.Scan(&m.Revision, &m.Link, &m.From, &m.To)
	}, `SELECT revision, link_num, from_num, to_num FROM link_moves WHERE (revision, link_num) > (?, ?) ORDER BY revision, link_num LIMIT ?`,
		revision, link, limit)
}

// WorkspaceIDs returns the ids of the workspaces that exist, by their numbers.
func (c Conn) WorkspaceIDs(ctx context.Context, nums []uint64) (map[uint64]string, error) {
	ids := make(map[uint64]string, len(nums))
	for part := range slices.Chunk(nums, batch) {
		err := c.each(ctx, func(rows *sql.Rows) error {
			var num uint64
			var id string
			err := rows.Scan(&num, &id)
			ids[num] = id
			return err
		}, `SELECT num, id FROM workspaces WHERE num IN (`+In(len(part))+`)`, Args(part)...)
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}
