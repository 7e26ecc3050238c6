package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/shortline/shortline/shared/each"
)

// keepDomains records the domains of links that were inserted. A link that leaves the trash may have another domain than
// before.
func (tx *Tx) keepDomains(ctx context.Context, links []*Link) error {
	var args []any
	for _, l := range links {
		if l.Num != 0 && l.Domain != 0 {
			args = append(args, l.Num, l.Domain, l.Workspace)
		}
	}
	if len(args) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO link_domains (link_num, domain_num, workspace_num) VALUES `+values(len(args)/3, "(?, ?, ?)")+
		` ON CONFLICT (link_num) DO UPDATE SET domain_num = excluded.domain_num, workspace_num = excluded.workspace_num`, args...)
	if err != nil {
		return fmt.Errorf("record the domains of links: %w", err)
	}
	return nil
}

// RehostLinks writes the domains and slugs of links that get another address. The caller has locked the links, and touches them with their
// old keys. If another link has one of the addresses, the error is one that Unique knows. It orders the links by key, as InsertLinks.
func (tx *Tx) RehostLinks(ctx context.Context, links []*Link) error {
	if len(links) == 0 {
		return nil
	}
	links = slices.SortedFunc(slices.Values(links), func(a, b *Link) int { return cmp.Compare(a.Key(), b.Key()) })
	folded, err := tx.foldedKeys(ctx, links)
	if err != nil {
		return err
	}
	for i, l := range links {
		if folded[i] == lost {
			return fmt.Errorf("move a link: the slug %q was that of a suspended link", l.Slug)
		}
		if err := tx.Do(ctx, `UPDATE urls SET domain_num = ?, slug = ?, folded = ? WHERE num = ?`, null(l.Domain), l.Key(), null(folded[i]),
			l.Num); err != nil {
			return fmt.Errorf("move a link: %w", err)
		}
	}
	for part := range slices.Chunk(links, batch) {
		nums := each.Of(part, func(l *Link) any { return l.Num })
		if _, err := tx.Exec(ctx, `DELETE FROM link_domains WHERE link_num IN (`+In(len(nums))+`)`, nums...); err != nil {
			return fmt.Errorf("record the domains of links: %w", err)
		}
		if err := tx.keepDomains(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// LinksOn returns the numbers of up to most links that were ever on one of the domains, also deleted ones, in order. Workspace 0
// stands for all. The list is never nil.
func (c Conn) LinksOn(ctx context.Context, workspace uint64, domains []uint64, most int) ([]uint64, error) {
	if len(domains) == 0 {
		return []uint64{}, nil
	}
	return c.linkNumsOn(ctx, workspace, `domain_num IN (`+In(len(domains))+`)`, domains, most)
}

// LinksNotOn is LinksOn for the custom domains that are not in the list.
func (c Conn) LinksNotOn(ctx context.Context, workspace uint64, domains []uint64, most int) ([]uint64, error) {
	if len(domains) == 0 {
		return c.linkNumsOn(ctx, workspace, `1 = 1`, nil, most)
	}
	return c.linkNumsOn(ctx, workspace, `domain_num NOT IN (`+In(len(domains))+`)`, domains, most)
}

func (c Conn) linkNumsOn(ctx context.Context, workspace uint64, where string, domains []uint64, most int) ([]uint64, error) {
	args := Args(domains)
	if workspace != 0 {
		where, args = where+` AND workspace_num = ?`, append(args, workspace)
	}
	list, err := All(ctx, c, column[uint64], `SELECT link_num FROM link_domains WHERE `+where+` LIMIT ?`, append(args, most)...)
	if err != nil {
		return nil, fmt.Errorf("find the links of domains: %w", err)
	}
	slices.Sort(list)
	return append([]uint64{}, list...), nil
}

// CountByDomain returns the number of links on each custom domain, by the domain's number. Workspace 0 stands for all.
func (c Conn) CountByDomain(ctx context.Context, workspace uint64) (map[uint64]int, error) {
	type counted struct {
		domain uint64
		links  int
	}
	where, args := `domain_num IS NOT NULL`, []any(nil)
	if workspace != 0 {
		where, args = where+` AND workspace_num = ?`, []any{workspace}
	}
	list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (n counted, err error) {
		return n, row.Scan(&n.domain, &n.links)
	},
		`SELECT domain_num, count(*) FROM urls WHERE `+where+` GROUP BY domain_num`, args...)
	if err != nil {
		return nil, fmt.Errorf("count links by domain: %w", err)
	}
	counts := make(map[uint64]int, len(list))
	for _, n := range list {
		counts[n.domain] = n.links
	}
	return counts, nil
}
