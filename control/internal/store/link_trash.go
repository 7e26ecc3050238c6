package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/shared/each"
)

// TrashedLink is a deleted link that can be restored.
type TrashedLink struct {
	LinkState
	Workspace uint64 // that it belongs to now: its own may have been merged into another
	DeletedAt int64
	DeletedBy string // id of a user
}

const trashColumns = `document, workspace_num, deleted_at, deleted_by`

func scanTrashed(row interface{ Scan(...any) error }) (t TrashedLink, err error) {
	var text string
	if err := row.Scan(&text, &t.Workspace, &t.DeletedAt, orZero(&t.DeletedBy)); err != nil {
		return t, err
	}
	t.LinkState, err = decodeState(text)
	return t, err
}

// TrashTime returns how long deleted links can be restored; 0 means not at all.
func (s *Store) TrashTime() time.Duration { return s.trash }

// RemoveLinks deletes links. It moves them to the trash with everything that belongs to them, or deletes them for good if
// there is no trash. The caller has locked the links and their bundles and touched the links.
func (tx *Tx) RemoveLinks(ctx context.Context, userID string, list []Link) error {
	if !tx.trash {
		ids := each.At(list, func(l *Link) string { return l.ID })
		return tx.DeleteLinks(ctx, ids)
	}
	return tx.trashLinks(ctx, userID, Now(), list)
}

func (tx *Tx) trashLinks(ctx context.Context, userID string, at int64, list []Link) error {
	for part := range slices.Chunk(list, batch) {
		states, err := tx.StatesOf(ctx, part)
		if err == nil {
			err = tx.readBundles(ctx, states)
		}
		if err != nil {
			return err
		}
		var args []any
		ids := make([]string, len(part))
		for i := range states {
			l := &states[i].Link
			text, err := states[i].encode()
			if err != nil {
				return fmt.Errorf("move links to the trash: %w", err)
			}
			ids[i] = l.ID
			args = append(args, l.Num, l.ID, l.Workspace, l.Slug, null(l.Title), null(l.ExpiresAt), l.ClickCount, l.CreatedAt, l.UpdatedAt,
				l.searchText(), at, null(userID), text)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO link_trash (num, id, workspace_num, slug, title, expires_at, click_count, created_at, updated_at,
			search_text, deleted_at, deleted_by, document)
			VALUES `+values(len(part), "("+In(13)+")"), args...); err != nil {
			return fmt.Errorf("move links to the trash: %w", err)
		}
		if err := tx.deleteRows(ctx, ids); err != nil {
			return fmt.Errorf("move links to the trash: %w", err)
		}
	}
	return nil
}

// linkTables are the tables whose rows of a link stay until it is deleted for good.
var linkTables = append([]string{"link_history WHERE link_num", "annotations WHERE link_num"}, experimentTables...)

// deleteRows removes links with their variants, rules and places in bundles.
func (tx *Tx) deleteRows(ctx context.Context, ids []string) error {
	return tx.Do(ctx, `DELETE FROM urls WHERE id IN (`+In(len(ids))+`)`, Args(ids)...)
}

// DeleteLinks removes links for good, with their variants, rules, history and experiments.
func (tx *Tx) DeleteLinks(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, batch) {
		for _, t := range linkTables {
			if _, err := tx.Exec(ctx, `DELETE FROM `+t+` IN (SELECT num FROM urls WHERE id IN (`+In(len(part))+`))`,
				Args(part)...); err != nil {
				return err
			}
		}
		if err := tx.deleteRows(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// TrashSorts maps sort keys of the trash to columns. The default is the time of the deletion.
var TrashSorts = map[string]string{
	"deletedAt": "deleted_at", "createdAt": "created_at", "updatedAt": "updated_at", "clickCount": "click_count",
	"title": "title", "expiresAt": "expires_at", "slug": "slug",
}

// Trash reads one page of the trash, and counts all links that the filter selects by workspace and search.
func (c Conn) Trash(ctx context.Context, f LinkFilter) (list []TrashedLink, total int, err error) {
	var w conditions
	w.and(f.Workspace != 0, `workspace_num = ?`, f.Workspace)
	w.and(f.Search != "", `search_text LIKE ? ESCAPE '\'`, LikeContains(f.Search))
	column, ok := TrashSorts[f.SortBy]
	if !ok {
		column = "deleted_at"
	}
	dir, nulls := "DESC", ""
	if f.Ascending {
		dir = "ASC"
	}
	if column == "title" || column == "expires_at" {
		nulls = map[bool]string{true: " NULLS LAST", false: " NULLS FIRST"}[f.Ascending]
	}
	return pageOf(ctx, c, scanTrashed, trashColumns, `link_trash`+w.String(), fmt.Sprintf(`%s %s%s, num %s`, column, dir, nulls, dir),
		w.args, f.Limit, f.Offset)
}

const trashedByID = `SELECT ` + trashColumns + ` FROM link_trash WHERE id = ?`

// TrashedByID reads a link in the trash, or returns ErrNotFound.
func (c Conn) TrashedByID(ctx context.Context, id string) (TrashedLink, error) {
	return scanTrashed(c.Row(ctx, trashedByID, id))
}

// LockTrashed is TrashedByID, and locks the link until the commit.
func (tx *Tx) LockTrashed(ctx context.Context, id string) (TrashedLink, error) {
	return scanTrashed(tx.Row(ctx, trashedByID+tx.forUpdate(), id))
}

// DeleteTrashed removes links from the trash. If forGood is set, it removes their history and experiments too.
func (tx *Tx) DeleteTrashed(ctx context.Context, nums []uint64, forGood bool) error {
	for part := range slices.Chunk(nums, batch) {
		tables := []string{"link_trash WHERE num"}
		if forGood {
			tables = append(tables, linkTables...)
		}
		for _, t := range tables {
			if _, err := tx.Exec(ctx, `DELETE FROM `+t+` IN (`+In(len(part))+`)`, Args(part)...); err != nil {
				return fmt.Errorf("empty the trash: %w", err)
			}
		}
	}
	return nil
}

// MoveTrash moves the trash of a workspace to another.
func (tx *Tx) MoveTrash(ctx context.Context, from, to uint64) error {
	return tx.Do(ctx, `UPDATE link_trash SET workspace_num = ? WHERE workspace_num = ?`, to, from)
}

// PurgeTrash deletes up to limit links for good that were deleted before a time, and returns their number.
func (s *Store) PurgeTrash(ctx context.Context, before int64, limit int) (n int, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		nums, err := All(ctx, tx.Conn, column[uint64],
			`SELECT num FROM link_trash WHERE deleted_at < ? ORDER BY deleted_at, num LIMIT ?`+tx.skipLocked(), before, limit)
		if err != nil {
			return err
		}
		n = len(nums)
		return tx.DeleteTrashed(ctx, nums, true)
	})
	return n, err
}

// PurgeHistory deletes the history of up to limit links that exist no more, and returns their number. They were deleted by
// programs of the previous release, which know no history.
func (s *Store) PurgeHistory(ctx context.Context, limit int) (n int, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		nums, err := All(ctx, tx.Conn, column[uint64],
			`SELECT DISTINCT link_num FROM link_history h WHERE NOT EXISTS (SELECT 1 FROM urls WHERE num = h.link_num) AND NOT EXISTS (SELECT 1 `+
				`FROM link_trash WHERE num = h.link_num) LIMIT ?`, limit)
		if err != nil {
			return err
		}
		n = len(nums)
		return tx.DeleteTrashed(ctx, nums, true)
	})
	return n, err
}

// RestoreLink inserts a link from the trash with its number, rules, variants and counters. Its slug, workspace and creator
// are those in the state. It reports whether another link has the slug. The caller has locked the link in the trash,
// restores tags and bundles, and touches the link at last.
func (tx *Tx) RestoreLink(ctx context.Context, s *LinkState) (taken bool, err error) {
	l := &s.Link
	overriding := ""
	if tx.pg {
		overriding = ` OVERRIDING SYSTEM VALUE` // num is GENERATED ALWAYS
	}
	folded, err := tx.foldedKeys(ctx, []*Link{l})
	if err != nil {
		return false, err
	}
	if folded[0] == lost {
		return true, nil
	}
	columns := append([]string{"num", "click_count", "folded"}, columnsOf(insertedFields)...)
	args := l.appendValues([]any{l.Num, l.ClickCount, null(folded[0])}, insertedFields)
	err = tx.Row(ctx, `INSERT INTO urls (`+strings.Join(columns, ", ")+`)`+overriding+` VALUES (`+In(len(columns))+
		`) ON CONFLICT DO NOTHING RETURNING num`, args...).Scan(&l.Num)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("restore a link: %w", err)
	}
	tx.created++
	if _, err := tx.Exec(ctx, `DELETE FROM link_domains WHERE link_num = ?`, l.Num); err != nil {
		return false, fmt.Errorf("restore a link: %w", err)
	}
	if err := tx.keepDomains(ctx, []*Link{l}); err != nil {
		return false, err
	}
	return false, tx.RestoreParts(ctx, &LinkState{Link: *l}, s)
}

// RestoreBundles puts a restored link into those of its bundles that still exist, belong to its workspace or to an
// administrator, and have less than most links. It returns their ids.
func (tx *Tx) RestoreBundles(ctx context.Context, s *LinkState, most int) (put []string, err error) {
	l := &s.Link
	ids := make([]string, len(s.Bundles))
	for i := range ids {
		ids[i] = s.Bundles[i].BundleID
	}
	if _, err := tx.LockBundles(ctx, ids); err != nil {
		return nil, fmt.Errorf("restore the places in bundles: %w", err)
	}
	for _, p := range s.Bundles {
		// An administrator's personal bundle may contain links of all workspaces.
		n, err := tx.Exec(ctx, `INSERT INTO bundle_urls (bundle_id, url_id, position) SELECT id, ?, ? FROM bundles WHERE id = ?
			AND (workspace_num = ? OR workspace_num IN
			(SELECT u.num FROM users u WHERE u.role = 'ADMIN')) AND (SELECT count(*) FROM bundle_urls WHERE bundle_id = ?) < ?`,
			l.ID, p.Position, p.BundleID, l.Workspace, p.BundleID, most)
		if err != nil {
			return nil, fmt.Errorf("restore the places in bundles: %w", err)
		}
		if n == 1 {
			put = append(put, p.BundleID)
		}
	}
	return put, nil
}

// ImageNeeded reports whether a link, also one in the trash, has a preview image.
func (c Conn) ImageNeeded(ctx context.Context, id, key string) (needed bool, err error) {
	err = c.Row(ctx,
		`SELECT EXISTS (SELECT 1 FROM urls WHERE id = ? AND og_image = ?) OR EXISTS (SELECT 1 FROM link_trash WHERE id = ? AND document LIKE `+
			`? ESCAPE '\')`,
		id, key, id, LikeContains(`"`+key+`"`)).Scan(&needed) // a key is lower-case
	return needed, err
}
