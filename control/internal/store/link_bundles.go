package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Bundle is a named group of links, without its links.
type Bundle struct {
	Num         uint64 // dense, assigned by the database
	ID          string
	UserID      string // who created it
	Workspace   uint64 // number of the workspace that owns it
	Name        string
	Description string // "": none
	Color, Icon string
	Archived    bool
	CreatedAt   int64
	UpdatedAt   int64
}

const bundleColumns = `bundles.num, bundles.id, bundles.user_id, bundles.workspace_num, bundles.name, bundles.description, bundles.color, bundles.icon, bundles.archived,
	bundles.created_at, bundles.updated_at`

func scanBundle(row interface{ Scan(...any) error }) (b Bundle, err error) {
	err = row.Scan(&b.Num, &b.ID, &b.UserID, &b.Workspace, &b.Name, orZero(&b.Description), &b.Color, &b.Icon, &b.Archived, &b.CreatedAt,
		&b.UpdatedAt)
	return b, err
}

func (b *Bundle) searchText() string { return strings.ToLower(b.Name + "\n" + b.Description) }

// BundleByID reads one bundle, or returns ErrNotFound.
func (c Conn) BundleByID(ctx context.Context, id string) (Bundle, error) {
	return scanBundle(c.Row(ctx, `SELECT `+bundleColumns+` FROM bundles WHERE id = ?`, id))
}

// BundlesByID reads the bundles that exist, ordered by number.
func (c Conn) BundlesByID(ctx context.Context, ids []string) ([]Bundle, error) {
	return c.bundles(ctx, ids, "")
}

func (c Conn) bundles(ctx context.Context, ids []string, lock string) ([]Bundle, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return All(ctx, c, scanBundle, `SELECT `+bundleColumns+` FROM bundles WHERE id IN (`+In(len(ids))+`) ORDER BY num`+lock, Args(ids)...)
}

// BundleFilter selects bundles. A zero field selects everything.
type BundleFilter struct {
	Workspace     uint64
	Search        string // text in name or description, case-insensitive
	Archived      *bool
	Offset, Limit int
}

// Bundles reads one page of bundles, newest first, and counts all bundles that the filter selects.
func (c Conn) Bundles(ctx context.Context, f BundleFilter) (list []Bundle, total int, err error) {
	var w conditions
	w.and(f.Workspace != 0, `workspace_num = ?`, f.Workspace)
	w.and(f.Search != "", `search_text LIKE ? ESCAPE '\'`, LikeContains(f.Search))
	w.and(f.Archived != nil, `archived = ?`, f.Archived)
	return pageOf(ctx, c, scanBundle, bundleColumns, `bundles`+w.String(), `created_at DESC, num DESC`, w.args, f.Limit, f.Offset)
}

// LinkNumsOfBundles returns the numbers of the links that are in at least one of the bundles, in order, without duplicates.
// Workspace 0 stands for all. An id that no bundle has selects nothing.
func (c Conn) LinkNumsOfBundles(ctx context.Context, workspace uint64, ids []string) ([]uint64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	where, args := `b.id IN (`+In(len(ids))+`)`, Args(ids)
	if workspace != 0 {
		where, args = where+` AND b.workspace_num = ?`, append(args, workspace)
	}
	return All(ctx, c, column[uint64],
		`SELECT DISTINCT u.num FROM bundles b JOIN bundle_urls m ON m.bundle_id = b.id JOIN urls u ON u.id = m.url_id WHERE `+where+
			` ORDER BY u.num`, args...)
}

// BundleLink is a link in a bundle.
type BundleLink struct {
	BundleID string
	Order    int // position in the bundle, from 0 without gaps
	Link     Link
}

// BundleLinks reads the links of bundles in order. With a workspace it reads only that workspace's links and numbers
// their Order without the links of others.
func (c Conn) BundleLinks(ctx context.Context, bundleIDs []string, workspace uint64) (map[string][]BundleLink, error) {
	out := map[string][]BundleLink{}
	if len(bundleIDs) == 0 {
		return out, nil
	}
	where, args := `bundle_urls.bundle_id IN (`+In(len(bundleIDs))+`)`, Args(bundleIDs)
	if workspace != 0 {
		where, args = where+` AND urls.workspace_num = ?`, append(args, workspace)
	}
	rows, err := All(ctx, c, func(row interface{ Scan(...any) error }) (m BundleLink, err error) {
		return m, row.Scan(append([]any{&m.BundleID}, m.Link.targets()...)...)
	}, `SELECT bundle_urls.bundle_id, `+linkColumns+` FROM bundle_urls JOIN urls ON urls.id = bundle_urls.url_id
		WHERE `+where+` ORDER BY bundle_urls.bundle_id, bundle_urls.position, urls.num`, args...)
	if err != nil {
		return nil, err
	}
	for _, m := range rows {
		m.Order = len(out[m.BundleID])
		out[m.BundleID] = append(out[m.BundleID], m)
	}
	return out, nil
}

// BundlesOf lists the ids of the bundles that a link is in.
func (c Conn) BundlesOf(ctx context.Context, urlID string) ([]string, error) {
	return All(ctx, c, column[string],
		`SELECT bundle_id FROM bundle_urls WHERE url_id = ? ORDER BY bundle_id`, urlID)
}

// BundlesOfLinks returns the ids of the bundles of links in order, by the ids of the links. A link without bundles is missing.
func (c Conn) BundlesOfLinks(ctx context.Context, urlIDs []string) (map[string][]string, error) {
	out := map[string][]string{}
	for part := range slices.Chunk(urlIDs, batch) {
		err := c.each(ctx, func(rows *sql.Rows) error {
			var id, bundle string
			err := rows.Scan(&id, &bundle)
			out[id] = append(out[id], bundle)
			return err
		}, `SELECT url_id, bundle_id FROM bundle_urls WHERE url_id IN (`+In(len(part))+`) ORDER BY bundle_id`, Args(part)...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// LockBundles reads the bundles that exist, ordered by number. It locks them and their membership until the commit. A
// caller that also locks links locks the links first and calls Touch last.
func (tx *Tx) LockBundles(ctx context.Context, ids []string) ([]Bundle, error) {
	return tx.bundles(ctx, ids, tx.forUpdate())
}

// LockBundlesOf locks the bundles that contain any of the links, and keeps the tags of the links from being deleted. The
// caller has locked the links. Deleting a link also removes it from its bundles and its tags, so a caller locks these
// before Touch; otherwise two transactions that change one bundle or tag could deadlock.
func (tx *Tx) LockBundlesOf(ctx context.Context, urlIDs []string) error {
	if !tx.pg || len(urlIDs) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `SELECT num FROM bundles WHERE id IN (SELECT bundle_id FROM bundle_urls WHERE url_id IN (`+In(len(urlIDs))+
		`)) ORDER BY num FOR UPDATE`,
		Args(urlIDs)...)
	if err != nil {
		return err
	}
	return tx.holdTagsOf(ctx, `SELECT num FROM urls WHERE id IN (`+In(len(urlIDs))+`)`, Args(urlIDs))
}

// InsertBundle adds an empty bundle.
func (tx *Tx) InsertBundle(ctx context.Context, b *Bundle) error {
	return tx.Row(ctx, `INSERT INTO bundles (id, user_id, workspace_num, name, description, color, icon, archived, search_text, created_at,
		updated_at)
		VALUES (`+In(11)+`) RETURNING num`,
		b.ID, b.UserID, null(b.Workspace), b.Name, null(b.Description), b.Color, b.Icon, b.Archived, b.searchText(), b.CreatedAt,
		b.UpdatedAt).
		Scan(&b.Num)
}

// UpdateBundle writes the fields that an owner can change.
func (tx *Tx) UpdateBundle(ctx context.Context, b *Bundle) error {
	return tx.Do(ctx,
		`UPDATE bundles SET name = ?, description = ?, color = ?, icon = ?, archived = ?, search_text = ?, updated_at = ? WHERE id = ?`,
		b.Name, null(b.Description), b.Color, b.Icon, b.Archived, b.searchText(), b.UpdatedAt, b.ID)
}

// DeleteBundle removes a bundle. Its links stay.
func (tx *Tx) DeleteBundle(ctx context.Context, id string) error {
	return tx.Do(ctx, `DELETE FROM bundles WHERE id = ?`, id)
}

// CountBundleLinks counts the links in a bundle.
func (c Conn) CountBundleLinks(ctx context.Context, id string) (n int, err error) {
	err = c.Row(ctx, `SELECT count(*) FROM bundle_urls WHERE bundle_id = ?`, id).Scan(&n)
	return n, err
}

// AddToBundle appends links to a bundle in the given order and returns the links that were new to it. The caller has
// locked the bundle.
func (tx *Tx) AddToBundle(ctx context.Context, id string, urlIDs []string) (added []string, err error) {
	var last int
	if err := tx.Row(ctx, `SELECT coalesce(max(position), -1) FROM bundle_urls WHERE bundle_id = ?`, id).Scan(&last); err != nil {
		return nil, err
	}
	was := map[string]bool{}
	for part := range slices.Chunk(urlIDs, batch) {
		args := make([]any, 0, 3*len(part))
		for _, u := range part {
			last++
			args = append(args, id, u, last)
		}
		list, err := All(ctx, tx.Conn, column[string],
			`INSERT INTO bundle_urls (bundle_id, url_id, position) VALUES `+values(len(part), "(?,?,?)")+
				` ON CONFLICT (bundle_id, url_id) DO NOTHING RETURNING url_id`, args...)
		if err != nil {
			return nil, fmt.Errorf("add to bundle: %w", err)
		}
		for _, u := range list {
			was[u] = true
		}
	}
	for _, u := range urlIDs {
		if was[u] {
			added = append(added, u)
			was[u] = false
		}
	}
	return added, nil
}

// RemoveFromBundle removes a link from a bundle and reports whether it was a member. The caller has locked the bundle.
func (tx *Tx) RemoveFromBundle(ctx context.Context, id, urlID string) (bool, error) {
	return tx.Changes(ctx, `DELETE FROM bundle_urls WHERE bundle_id = ? AND url_id = ?`, id, urlID)
}

// OrderBundle sets the order of the links in a bundle. The caller has locked the bundle.
func (tx *Tx) OrderBundle(ctx context.Context, id string, urlIDs []string) error {
	at := 0
	for part := range slices.Chunk(urlIDs, batch) {
		var args []any
		for _, u := range part {
			args = append(args, u, at)
			at++
		}
		args = append(append(args, id), Args(part)...)
		// Postgres cannot infer the parameter's type, so the cast names it.
		_, err := tx.Exec(ctx, `UPDATE bundle_urls SET position = CASE url_id`+strings.Repeat(` WHEN ? THEN CAST(? AS INTEGER)`, len(part))+` ELSE position END
			WHERE bundle_id = ? AND url_id IN (`+In(len(part))+`)`, args...)
		if err != nil {
			return fmt.Errorf("order bundle: %w", err)
		}
	}
	return nil
}
