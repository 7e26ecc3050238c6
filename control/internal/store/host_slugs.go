package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/shared/link"
)

// unfolded reads the column case_sensitive into link.SlugRules.Fold.
type unfolded bool

func (f *unfolded) Scan(v any) error {
	var sensitive sql.NullBool
	err := sensitive.Scan(v)
	*f = unfolded(!sensitive.Bool)
	return err
}

// BaseSlugs returns the rules for slugs on the host of BASE_URL.
func (c Conn) BaseSlugs(ctx context.Context) (r link.SlugRules, err error) {
	return r, c.Row(ctx, `SELECT case_sensitive, extended_slugs, min_slug_length FROM base_host WHERE id = 1`).
		Scan((*unfolded)(&r.Fold), &r.Extended, &r.Min)
}

// LockBaseSlugs is BaseSlugs for a change. Links are not created there until the commit.
func (tx *Tx) LockBaseSlugs(ctx context.Context) (r link.SlugRules, err error) {
	return r, tx.Row(ctx, `SELECT case_sensitive, extended_slugs, min_slug_length FROM base_host WHERE id = 1`+tx.forUpdate()).
		Scan((*unfolded)(&r.Fold), &r.Extended, &r.Min)
}

// SetBaseSlugs writes the rules for slugs on the host of BASE_URL, and tells edges.
func (tx *Tx) SetBaseSlugs(ctx context.Context, r link.SlugRules) error {
	if _, err := tx.Exec(ctx, `UPDATE base_host SET case_sensitive = ?, extended_slugs = ?, min_slug_length = ? WHERE id = 1`, !r.Fold,
		r.Extended, r.Min); err != nil {
		return err
	}
	return tx.TouchBase(ctx)
}

// TouchBase tells edges at the commit that BaseSlugs or HiddenPreviews have changed.
func (tx *Tx) TouchBase(ctx context.Context) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE base_host SET revision = ? WHERE id = 1`, tx.revision)
}

// BaseRevision returns the revision of the last change of BaseSlugs or HiddenPreviews.
func (c Conn) BaseRevision(ctx context.Context) (uint64, error) {
	return column[uint64](c.Row(ctx, `SELECT revision FROM base_host WHERE id = 1`))
}

// HiddenPreviews returns the numbers of the workspaces whose links have no preview.
func (c Conn) HiddenPreviews(ctx context.Context) ([]uint64, error) {
	return All(ctx, c, column[uint64], `SELECT num FROM workspaces WHERE hides_previews ORDER BY num`)
}

// ofDomain is the condition for links of a domain; 0 is the host of BASE_URL.
func ofDomain(domain uint64) (where string, args []any) {
	if domain == 0 {
		return `domain_num IS NULL`, nil
	}
	return `domain_num = ?`, []any{domain}
}

// Meeting returns groups of slugs of a domain that differ in case only, at most most of them.
func (tx *Tx) Meeting(ctx context.Context, domain uint64, most int) (groups [][]string, err error) {
	where, args := ofDomain(domain)
	keys, err := All(ctx, tx.Conn, column[string], `SELECT slug FROM urls WHERE `+where+` AND lower(slug) IN (SELECT lower(slug) FROM urls WHERE `+
		where+` GROUP BY lower(slug) HAVING count(*) > 1 ORDER BY lower(slug) LIMIT ?) ORDER BY lower(slug), slug`,
		append(append(slices.Clone(args), args...), most)...)
	last := ""
	for _, key := range keys {
		if folded := link.Fold(key); folded != last || len(groups) == 0 {
			groups, last = append(groups, nil), folded
		}
		_, slug := link.SplitKey(key)
		groups[len(groups)-1] = append(groups[len(groups)-1], slug)
	}
	return groups, err
}

// SetFolding makes the slugs of a domain unique without regard to case, or lets them differ in case again. The caller has locked the
// domain, so that no link is created meanwhile, and has made sure by Meeting that no two slugs meet.
func (tx *Tx) SetFolding(ctx context.Context, domain uint64, fold bool) error {
	where, args := ofDomain(domain)
	value := `NULL`
	if fold {
		value = `lower(slug)` // of ASCII only: the column has the collation C, and SQLite knows no other letters
	}
	return tx.Do(ctx, `UPDATE urls SET folded = `+value+` WHERE `+where, args...)
}

// lost is the folded key of a link that cannot be inserted, because its slug was that of a suspended link. No key is like this.
const lost = "/"

// foldedKeys returns what the column folded has for new links, "" for those of domains that distinguish cases. It makes a change of
// their domains wait for the commit.
func (tx *Tx) foldedKeys(ctx context.Context, links []*Link) ([]string, error) {
	out := make([]string, len(links))
	share := ``
	if tx.pg {
		share = ` FOR SHARE`
	}
	folds := map[uint64]bool{}
	for i, l := range links {
		fold, known := folds[l.Domain]
		if !known {
			query, args := `SELECT case_sensitive FROM domains WHERE num = ?`, []any{l.Domain}
			if l.Domain == 0 {
				query, args = `SELECT case_sensitive FROM base_host WHERE id = 1`, nil
			}
			err := tx.Row(ctx, query+share, args...).Scan((*unfolded)(&fold))
			if err != nil && !errors.Is(err, ErrNotFound) { // without a domain, there is nothing to compare with
				return nil, fmt.Errorf("read the rules for slugs: %w", err)
			}
			folds[l.Domain] = fold
		}
		if !fold {
			continue
		}
		out[i] = link.Fold(l.Key())
		var suspended bool
		if err := tx.Row(ctx, `SELECT EXISTS (SELECT 1 FROM suspended_slugs WHERE lower(slug) = ? AND link_num <> ?)`, out[i], l.Num).
			Scan(&suspended); err != nil {
			return nil, fmt.Errorf("read suspended slugs: %w", err)
		}
		if suspended {
			out[i] = lost
		}
	}
	return out, nil
}
