package store

import (
	"context"
	"database/sql"
	"fmt"
)

// LinkGrouping is a way to group links: by tag, bundle or custom domain.
type LinkGrouping string

// The groupings.
const (
	ByTag    LinkGrouping = "tag"
	ByBundle LinkGrouping = "bundle"
	ByDomain LinkGrouping = "domain" // custom domains, with all links that were ever on them
)

// LinkGroup is a tag, a bundle or a custom domain. Num is unique within its kind.
type LinkGroup struct {
	Num      uint64
	ID, Name string
}

var groupings = map[LinkGrouping]string{
	ByTag: `SELECT g.num, g.id, g.name, u.num FROM tags g LEFT JOIN url_tags m ON m.tag_num = g.num LEFT JOIN urls u ON u.num = m.url_num`,
	ByBundle: `SELECT g.num, g.id, g.name, u.num FROM bundles g LEFT JOIN bundle_urls m ON m.bundle_id = g.id LEFT JOIN urls u ON u.id = ` +
		`m.url_id`,
	ByDomain: `SELECT g.num, g.id, g.hostname, m.link_num FROM domains g LEFT JOIN link_domains m ON m.domain_num = g.num`,
}

// EachGrouped calls f with every tag, bundle or custom domain of a workspace (0: of all) and every link in it, in the order of the
// groups' numbers. The link of an empty group is 0. f must not query.
func (c Conn) EachGrouped(ctx context.Context, by LinkGrouping, workspace uint64, f func(g LinkGroup, link uint64)) error {
	query, ok := groupings[by]
	if !ok {
		return fmt.Errorf("group links by %q", by)
	}
	var args []any
	if workspace != 0 {
		query, args = query+` WHERE g.workspace_num = ?`, append(args, workspace)
	}
	return c.each(ctx, func(rows *sql.Rows) error {
		var g LinkGroup
		var num sql.NullInt64
		err := rows.Scan(&g.Num, &g.ID, &g.Name, &num)
		if err == nil {
			f(g, uint64(num.Int64))
		}
		return err
	}, query+` ORDER BY g.num`, args...)
}
