package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// batch is the number of rows in one multi-row statement. With it, the widest statement stays below SQLite's limit of
// 32,766 parameters.
const batch = 500

// LinkByID reads one link, or returns ErrNotFound.
func (c Conn) LinkByID(ctx context.Context, id string) (Link, error) {
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE id = ?`, id))
}

// LinkBySlug reads one link, or returns ErrNotFound.
func (c Conn) LinkBySlug(ctx context.Context, slug string) (Link, error) {
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE slug = ?`, slug))
}

// LockLinks reads the links that exist with their tags, ordered by number, and locks them until the commit. Every transaction that
// locks several links uses this order, so transactions cannot deadlock. It uses a single statement, which limits it to
// 30,000 links.
func (tx *Tx) LockLinks(ctx context.Context, ids []string) ([]Link, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := All(ctx, tx.Conn, scanLink, `SELECT `+linkColumns+` FROM urls WHERE id IN (`+In(len(ids))+`) ORDER BY num`+tx.forUpdate(), Args(ids)...)
	if err != nil {
		return nil, err
	}
	return list, tx.ReadTags(ctx, list)
}

// LockLink is LockLinks for one link. It returns ErrNotFound if there is none.
func (tx *Tx) LockLink(ctx context.Context, id string) (Link, error) {
	list, err := tx.LockLinks(ctx, []string{id})
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Link{}, err
	}
	return list[0], nil
}

// InsertLinks inserts links and sets their Num. A link whose slug is taken is not inserted and keeps Num 0. Sort links
// with chosen slugs by slug, so that concurrent transactions cannot deadlock.
func (tx *Tx) InsertLinks(ctx context.Context, links []*Link) error {
	for part := range slices.Chunk(links, batch) {
		args := make([]any, 0, len(insertedFields)*len(part))
		bySlug := make(map[string]*Link, len(part))
		for _, l := range part {
			if bySlug[l.Slug] == nil {
				bySlug[l.Slug] = l
				args = l.appendValues(args, insertedFields)
			}
		}
		err := tx.each(ctx, func(rows *sql.Rows) error {
			var num uint64
			var slug string
			err := rows.Scan(&num, &slug)
			if err == nil {
				bySlug[slug].Num = num
			}
			return err
		}, `INSERT INTO urls (`+strings.Join(columnsOf(insertedFields), ", ")+`) VALUES `+
			values(len(bySlug), "("+In(len(insertedFields))+")")+` ON CONFLICT (slug) DO NOTHING RETURNING num, slug`, args...)
		if err != nil {
			return fmt.Errorf("insert links: %w", err)
		}
	}
	return nil
}

// UpdateLink writes every field that an owner can change, the search text and the time of the update.
func (tx *Tx) UpdateLink(ctx context.Context, l *Link) error {
	_, err := tx.Exec(ctx, `UPDATE urls SET `+strings.Join(columnsOf(updatedFields), " = ?, ")+` = ? WHERE id = ?`,
		append(l.appendValues(nil, updatedFields), l.ID)...)
	return err
}

// DeleteLinks removes links with their variants and rules.
func (tx *Tx) DeleteLinks(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, batch) {
		if _, err := tx.Exec(ctx, `DELETE FROM urls WHERE id IN (`+In(len(part))+`)`, Args(part)...); err != nil {
			return err
		}
	}
	return nil
}

// States of a link, see Link.Status.
const (
	StatusActive    = "ACTIVE"
	StatusInactive  = "INACTIVE"
	StatusExpired   = "EXPIRED"
	StatusScheduled = "SCHEDULED" // active, but before StartsAt
	StatusExhausted = "EXHAUSTED" // has had MaxClicks clicks
	StatusSuspended = "SUSPENDED" // by an ADMIN
)

// LinkStatuses are the states that Link.Status returns.
var LinkStatuses = []string{StatusActive, StatusInactive, StatusExpired, StatusScheduled, StatusExhausted, StatusSuspended}

// LinkFilter selects and orders links. A zero field selects everything.
type LinkFilter struct {
	Workspace     uint64
	Search        string // text in title, destination or slug, case-insensitive
	Status        string // state at the time Now
	Now           int64
	SortBy        string // one of LinkSorts; "" means createdAt
	Ascending     bool
	Offset, Limit int
}

// LinkSorts maps the API's sort keys of links to columns. In both dialects, links without a title or an expiry sort
// last in ascending order and first in descending order.
var LinkSorts = map[string]string{
	"createdAt": "created_at", "updatedAt": "updated_at", "clickCount": "click_count",
	"title": "title", "expiresAt": "expires_at", "slug": "slug",
}

// standing selects links that are neither suspended nor expired.
const standing = `suspended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`

func (f *LinkFilter) where() (string, []any) {
	where, args := []string{"1 = 1"}, []any{}
	if f.Workspace != 0 {
		where, args = append(where, `workspace_num = ?`), append(args, f.Workspace)
	}
	if f.Search != "" {
		where, args = append(where, `search_text LIKE ? ESCAPE '\'`), append(args, LikeContains(f.Search))
	}
	switch f.Status {
	case StatusActive:
		where, args = append(where, standing, `exhausted_at IS NULL AND active AND (starts_at IS NULL OR starts_at <= ?)`), append(args, f.Now, f.Now)
	case StatusScheduled:
		where, args = append(where, standing, `exhausted_at IS NULL AND active AND starts_at > ?`), append(args, f.Now, f.Now)
	case StatusInactive:
		where, args = append(where, standing, `exhausted_at IS NULL AND NOT active`), append(args, f.Now)
	case StatusExhausted:
		where, args = append(where, standing, `exhausted_at IS NOT NULL`), append(args, f.Now)
	case StatusExpired:
		where, args = append(where, `suspended_at IS NULL AND expires_at <= ?`), append(args, f.Now)
	case StatusSuspended:
		where = append(where, `suspended_at IS NOT NULL`)
	}
	return strings.Join(where, " AND "), args
}

// Links reads one page of links, and counts all links that the filter selects.
func (c Conn) Links(ctx context.Context, f LinkFilter) (list []Link, total int, err error) {
	where, args := f.where()
	column, ok := LinkSorts[f.SortBy]
	if !ok {
		column = "created_at"
	}
	dir, nulls := "DESC", " NULLS FIRST"
	if f.Ascending {
		dir, nulls = "ASC", " NULLS LAST"
	}
	if column != "title" && column != "expires_at" {
		nulls = ""
	}
	order := fmt.Sprintf(`ORDER BY %s %s%s, num %s`, column, dir, nulls, dir)
	// The subquery skips earlier pages in the index alone.
	list, err = All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE num IN (SELECT num FROM urls WHERE `+where+` `+order+` LIMIT ? OFFSET ?) `+order,
		append(args, f.Limit, f.Offset)...)
	if err != nil {
		return nil, 0, err
	}
	// A page that is not full is the last one. It gives the total without a second query.
	if n := len(list); n < f.Limit && (n > 0 || f.Offset == 0) {
		return list, f.Offset + n, nil
	}
	err = c.Row(ctx, `SELECT count(*) FROM urls WHERE `+where, args...).Scan(&total)
	return list, total, err
}

// LinkStats counts links by state, and their clicks.
type LinkStats struct {
	Total, Active, Inactive, Expired, Scheduled, Exhausted, Suspended int
	Clicks                                                            int64
}

// LinkStats counts a workspace's links at a time. Workspace 0 counts the links of all workspaces.
func (c Conn) LinkStats(ctx context.Context, workspace uint64, now int64) (s LinkStats, err error) {
	f := LinkFilter{Workspace: workspace}
	where, args := f.where()
	err = c.Row(ctx, `SELECT count(*), coalesce(sum(click_count), 0),
		count(CASE WHEN suspended_at IS NOT NULL THEN 1 END),
		count(CASE WHEN suspended_at IS NULL AND expires_at <= ? THEN 1 END),
		count(CASE WHEN `+standing+` AND exhausted_at IS NOT NULL THEN 1 END),
		count(CASE WHEN `+standing+` AND exhausted_at IS NULL AND active AND starts_at > ? THEN 1 END),
		count(CASE WHEN `+standing+` AND exhausted_at IS NULL AND active AND (starts_at IS NULL OR starts_at <= ?) THEN 1 END)
		FROM urls WHERE `+where, append([]any{now, now, now, now, now, now}, args...)...).
		Scan(&s.Total, &s.Clicks, &s.Suspended, &s.Expired, &s.Exhausted, &s.Scheduled, &s.Active)
	s.Inactive = s.Total - s.Suspended - s.Expired - s.Exhausted - s.Scheduled - s.Active
	return s, err
}

// UTMCount is one value of a campaign field and the number of links that use it.
type UTMCount struct {
	Value string
	Count int
}

// UTMValues lists the values of a campaign field that begin with prefix, case-insensitive: most frequent first, then
// by value, at most limit. Workspace 0 selects the links of all personal workspaces.
func (c Conn) UTMValues(ctx context.Context, workspace uint64, field, prefix string, limit int) ([]UTMCount, error) {
	f := LinkText(field)
	if f == nil || !f.UTM {
		return nil, fmt.Errorf("store: no campaign field %q", field)
	}
	// The prefix is compared here, because SQLite folds the case of ASCII only.
	where, args := ` AND workspace_num IN (SELECT num FROM workspaces WHERE personal_of IS NOT NULL)`, []any{}
	if workspace != 0 {
		where, args = ` AND workspace_num = ?`, []any{workspace}
	}
	rows, err := c.Query(ctx, `SELECT `+f.Column+`, count(*) FROM urls WHERE `+f.Column+` IS NOT NULL`+where+` GROUP BY `+f.Column+` ORDER BY 2 DESC, 1`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	prefix = strings.ToLower(prefix)
	out := []UTMCount{}
	for len(out) < limit && rows.Next() {
		var v UTMCount
		if err := rows.Scan(&v.Value, &v.Count); err != nil {
			return nil, err
		}
		if strings.HasPrefix(strings.ToLower(v.Value), prefix) {
			out = append(out, v)
		}
	}
	return out, rows.Err()
}
