package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/link"
)

// batch is the number of rows in one multi-row statement. With it, the widest statement stays below SQLite's limit of
// 32,766 parameters.
const batch = 500

// LinkByID reads one link, or returns ErrNotFound.
func (c Conn) LinkByID(ctx context.Context, id string) (Link, error) {
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE id = ?`, id))
}

// LinkBySlug reads one link of a domain, or returns ErrNotFound. The default domain is 0. If the domain does not distinguish cases, the
// link may have the slug in another case.
func (c Conn) LinkBySlug(ctx context.Context, domain uint64, slug string) (Link, error) {
	key := link.Key(domain, slug)
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE slug = ? OR folded = ? ORDER BY slug = ? DESC LIMIT 1`, key,
		link.Fold(key), key))
}

// SlugSuspended reports whether a deleted link with the slug was suspended, so that no other link can have it.
func (c Conn) SlugSuspended(ctx context.Context, d *Domain, slug string) (suspended bool, err error) {
	key := link.Key(d.Num, slug)
	where, arg := `slug = ?`, key
	if d.Slugs.Fold {
		where, arg = `lower(slug) = ?`, link.Fold(key)
	}
	err = c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM suspended_slugs WHERE `+where+`)`, arg).Scan(&suspended)
	return suspended, err
}

// ReleaseSlug lets other links have the slug of a deleted link that was suspended.
func (tx *Tx) ReleaseSlug(ctx context.Context, l *Link) error {
	return tx.Do(ctx, `DELETE FROM suspended_slugs WHERE slug = ?`, l.Key())
}

// TaggedLinks reads the links that exist with their tags, ordered by number. See LockLinks for the limit.
func (c Conn) TaggedLinks(ctx context.Context, ids []string) ([]Link, error) {
	return c.taggedLinks(ctx, ids, "")
}

func (c Conn) taggedLinks(ctx context.Context, ids []string, lock string) ([]Link, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE id IN (`+In(len(ids))+`) ORDER BY num`+lock, Args(ids)...)
	if err != nil {
		return nil, err
	}
	return list, c.ReadTags(ctx, list)
}

// LockLinks reads the links that exist with their tags, ordered by number, and locks them until the commit. Every transaction that
// locks several links uses this order, so transactions cannot deadlock. It uses a single statement, which limits it to
// 30,000 links.
func (tx *Tx) LockLinks(ctx context.Context, ids []string) ([]Link, error) {
	return tx.taggedLinks(ctx, ids, tx.forUpdate())
}

// LockLink is LockLinks for one link. It returns ErrNotFound if there is none.
func (tx *Tx) LockLink(ctx context.Context, id string) (Link, error) {
	return first(tx.LockLinks(ctx, []string{id}))
}

// LinkByExternalID reads the link of a workspace with an external id, or returns ErrNotFound.
func (c Conn) LinkByExternalID(ctx context.Context, workspace uint64, externalID string) (Link, error) {
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE workspace_num = ? AND external_id = ?`, workspace, externalID))
}

// ExternalIDs returns those of the external ids that links of a workspace have, in their order.
func (c Conn) ExternalIDs(ctx context.Context, workspace uint64, ids []string) (taken []string, err error) {
	for part := range slices.Chunk(ids, batch) {
		list, err := All(ctx, c, column[string],
			`SELECT external_id FROM urls WHERE workspace_num = ? AND external_id IN (`+In(len(part))+`) ORDER BY external_id`,
			append([]any{workspace}, Args(part)...)...)
		if err != nil {
			return nil, err
		}
		taken = append(taken, list...)
	}
	return taken, nil
}

// LockExternalIDs makes transactions wait for each other that insert many links with external ids into a workspace.
// Otherwise they could deadlock, because the links are sorted by key. It does not delay other inserts.
func (tx *Tx) LockExternalIDs(ctx context.Context, workspace uint64) error {
	if !tx.pg {
		return nil
	}
	return tx.Do(ctx, `SELECT num FROM workspaces WHERE num = ? FOR NO KEY UPDATE`, workspace)
}

// InsertLinks inserts links and sets their Num. A link whose key or external id is taken, or whose key was that of a
// suspended link (see SlugSuspended), is not inserted and keeps Num 0. Sort links with chosen slugs by key, so that concurrent
// transactions cannot deadlock.
func (tx *Tx) InsertLinks(ctx context.Context, links []*Link) error {
	for part := range slices.Chunk(links, batch) {
		args := make([]any, 0, (1+len(insertedFields))*len(part))
		byKey := make(map[string]*Link, len(part))
		folded, err := tx.foldedKeys(ctx, part)
		if err != nil {
			return err
		}
		for i, l := range part {
			if key := l.Key(); byKey[key] == nil && folded[i] != lost {
				byKey[key] = l
				args = append(l.appendValues(args, insertedFields), null(folded[i]))
			}
		}
		if len(byKey) == 0 {
			continue
		}
		err = tx.each(ctx, func(rows *sql.Rows) error {
			var num uint64
			var key string
			err := rows.Scan(&num, &key)
			if err == nil {
				byKey[key].Num = num
				tx.created++
			}
			return err
		}, `INSERT INTO urls (`+strings.Join(columnsOf(insertedFields), ", ")+`, folded) VALUES `+
			values(len(byKey), "("+In(1+len(insertedFields))+")")+` ON CONFLICT DO NOTHING RETURNING num, slug`, args...)
		if err != nil {
			return fmt.Errorf("insert links: %w", err)
		}
		if err := tx.keepDomains(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// UpdateLink writes every field that an owner can change, the search text and the time of the update.
func (tx *Tx) UpdateLink(ctx context.Context, l *Link) error {
	return tx.Do(ctx, `UPDATE urls SET `+strings.Join(columnsOf(updatedFields), " = ?, ")+` = ? WHERE id = ?`,
		append(l.appendValues(nil, updatedFields), l.ID)...)
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
