package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/shortline/shortline/shared/each"
)

// LinkRef names a link by its number, which is never reused, and its key (link.Key).
type LinkRef struct {
	Num uint64
	Key string
}

// TouchAll is Touch for many links. The log also records each link's previous revision. It is unknown if the row is
// already deleted, and then a publisher has to count all links again. So lock a link first, then touch it, then delete
// it.
func (tx *Tx) TouchAll(ctx context.Context, refs []LinkRef) error {
	if len(refs) == 0 {
		return nil
	}
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	for part := range slices.Chunk(refs, batch) {
		nums := each.Of(part, func(r LinkRef) any { return r.Num })
		in := `num IN (` + In(len(nums)) + `)`
		type state struct {
			num uint64
			was int64
		}
		states, err := All(ctx, tx.Conn, func(row interface{ Scan(...any) error }) (s state, err error) {
			return s, row.Scan(&s.num, &s.was)
		}, `SELECT num, revision FROM urls WHERE `+in, nums...)
		if err != nil {
			return fmt.Errorf("log link changes: %w", err)
		}
		was := make(map[uint64]int64, len(states))
		for _, s := range states {
			was[s.num] = s.was
		}
		args := make([]any, 0, 4*len(part))
		for _, r := range part {
			before, known := was[r.Num]
			if !known {
				before = -1
			}
			args = append(args, tx.revision, r.Num, r.Key, before)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO link_changes (revision, num, slug, was) VALUES `+
			values(len(part), "(?,?,?,?)")+` ON CONFLICT DO NOTHING`, args...); err != nil {
			return fmt.Errorf("log link changes: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE urls SET revision = ? WHERE `+in, append([]any{tx.revision}, nums...)...); err != nil {
			return fmt.Errorf("log link changes: %w", err)
		}
	}
	return nil
}

// reserve gives the transaction a revision, unless it has one.
func (tx *Tx) reserve(ctx context.Context) error {
	if tx.revision != 0 {
		return nil
	}
	// The row lock lasts until the commit, so revisions commit in order.
	if err := tx.Row(ctx, `UPDATE config_head SET revision = revision + 1 WHERE id = 1 RETURNING revision`).Scan(&tx.revision); err != nil {
		return fmt.Errorf("reserve a revision: %w", err)
	}
	return nil
}

// View runs f on a Conn that sees one consistent snapshot of the database. f must only read.
func (s *Store) View(ctx context.Context, f func(c Conn) error) error {
	var opts *sql.TxOptions // a transaction in SQLite always sees one snapshot
	if s.pg {
		opts = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	raw, err := s.read.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = raw.Rollback() }() // nothing was written
	return orEnded(ctx, f(Conn{db: raw, pg: s.pg, base: s.base}))
}

// Head returns the log's incarnation and its newest revision.
func (c Conn) Head(ctx context.Context) (incarnation, revision uint64, err error) {
	err = c.Row(ctx, `SELECT incarnation, revision FROM config_head WHERE id = 1`).Scan(&incarnation, &revision)
	return incarnation, revision, err
}

// OldestChange returns the lowest revision in the log, or 0 if the log is empty.
func (c Conn) OldestChange(ctx context.Context) (uint64, error) {
	return column[uint64](c.Row(ctx, `SELECT coalesce(min(revision), 0) FROM link_changes`))
}

// Change is one entry of the log of link changes.
type Change struct {
	LinkRef
	Was int64 // previous revision of the link; 0: new link; -1: unknown
}

// ChangesAfter reads the log after a revision, oldest first, and returns the first entry of each link. It reads at
// most limit entries; more reports whether the log has further entries.
func (c Conn) ChangesAfter(ctx context.Context, revision uint64, limit int) (list []Change, more bool, err error) {
	rows, err := c.Query(ctx, `SELECT num, slug, was FROM link_changes WHERE revision > ? ORDER BY revision, num LIMIT ?`,
		revision, limit+1)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	seen := map[uint64]bool{}
	for n := 0; rows.Next(); n++ {
		if n == limit {
			return list, true, nil
		}
		var ch Change
		if err := rows.Scan(&ch.Num, &ch.Key, &ch.Was); err != nil {
			return nil, false, err
		}
		if !seen[ch.Num] {
			seen[ch.Num] = true
			list = append(list, ch)
		}
	}
	return list, false, rows.Err()
}

// TrimChanges deletes the log entries up to and including a revision, except those of the newest change. Changes of hosts take
// revisions without entries, and edges that know the newest change must not load all links again because of them.
func (s *Store) TrimChanges(ctx context.Context, upTo uint64) (removed int64, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		removed, err = tx.Exec(ctx, `DELETE FROM link_changes WHERE revision <= ? AND revision < (SELECT max(revision) FROM link_changes)`,
			upTo)
		return err
	})
	return removed, err
}

// EachRevision calls f with every link and its revision. It holds one row in memory at a time.
func (c Conn) EachRevision(ctx context.Context, f func(ref LinkRef, revision uint64)) error {
	var ref LinkRef
	var revision uint64
	return c.each(ctx, func(rows *sql.Rows) error {
		err := rows.Scan(&ref.Num, &ref.Key, &revision)
		if err == nil {
			f(ref, revision)
		}
		return err
	}, `SELECT num, slug, revision FROM urls`)
}

// FullLink reads one link with its rules and variants, or returns ErrNotFound.
func (c Conn) FullLink(ctx context.Context, id string) (Link, error) {
	return first(c.links(ctx, `urls.id = ?`, "", id))
}

// FullLinks reads the full links that exist, ordered by number. Call it inside a View, so that links, rules and
// variants are consistent.
func (c Conn) FullLinks(ctx context.Context, nums []uint64) ([]Link, error) {
	var out []Link
	for part := range slices.Chunk(slices.Sorted(slices.Values(nums)), batch) {
		list, err := c.links(ctx, `urls.num IN (`+In(len(part))+`)`, "", Args(part)...)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// FullLinksAfter reads up to limit full links with numbers above num, in order. Call it inside a View.
func (c Conn) FullLinksAfter(ctx context.Context, num uint64, limit int) ([]Link, error) {
	return c.links(ctx, `urls.num > ?`, fmt.Sprintf(` LIMIT %d`, limit), num)
}

// links reads full links in three statements. Rules and variants are selected by the same condition, or by the range
// of numbers that the first statement returned if there is a limit.
func (c Conn) links(ctx context.Context, where, limit string, args ...any) ([]Link, error) {
	list, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE `+where+` ORDER BY urls.num`+limit, args...)
	if err != nil || len(list) == 0 {
		return list, err
	}
	if limit != "" {
		where, args = `urls.num BETWEEN ? AND ?`, []any{list[0].Num, list[len(list)-1].Num}
	}
	at := make(map[string]*Link, len(list))
	for i := range list {
		at[list[i].ID] = &list[i]
	}
	rules, err := All(ctx, c, scanRule, `SELECT `+ruleColumns+` FROM routing_rules JOIN urls ON urls.id = routing_rules.url_id
		WHERE `+where+` AND routing_rules.active ORDER BY urls.num, `+ruleOrder, args...)
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if l := at[r.URLID]; l != nil {
			l.Rules = append(l.Rules, r)
		}
	}
	variants, err := All(ctx, c, scanVariant, `SELECT `+variantColumns+` FROM variants JOIN urls ON urls.id = variants.url_id
		WHERE `+where+` AND variants.active AND variants.weight > 0 ORDER BY urls.num, variants.created_at, variants.id`, args...)
	if err != nil {
		return nil, err
	}
	for _, v := range variants {
		if l := at[v.URLID]; l != nil {
			l.Variants = append(l.Variants, v)
		}
	}
	return list, nil
}
