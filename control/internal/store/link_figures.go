package store

import (
	"context"
)

// LinksByNum reads the links that exist, by number.
func (c Conn) LinksByNum(ctx context.Context, nums []uint64) (map[uint64]Link, error) {
	return found(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE num IN (keys)`, nums, func(u *Link) uint64 { return u.Num })
}

// LinksByID reads the links that exist, by id.
func (c Conn) LinksByID(ctx context.Context, ids []string) (map[string]Link, error) {
	return found(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE id IN (keys)`, ids, func(u *Link) string { return u.ID })
}

// LinksByClicks lists the links with the highest click counters. Workspace 0 selects the links of all workspaces.
func (c Conn) LinksByClicks(ctx context.Context, workspace uint64, limit int) ([]Link, error) {
	where, args := "", []any{}
	if workspace != 0 {
		where, args = ` WHERE workspace_num = ?`, []any{workspace}
	}
	return All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls`+where+` ORDER BY click_count DESC, num DESC LIMIT ?`,
		append(args, limit)...)
}

// TestedLinks lists the links whose A/B test is on, newest first. Workspace 0 selects the links of all workspaces.
func (c Conn) TestedLinks(ctx context.Context, workspace uint64) ([]Link, error) {
	where, args := "", []any{}
	if workspace != 0 {
		where, args = ` AND workspace_num = ?`, []any{workspace}
	}
	return All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE ab_testing`+where+` ORDER BY num DESC`, args...)
}

const variantsOfLinks = `SELECT ` + variantColumns + ` FROM variants WHERE url_id IN (keys) ORDER BY created_at, id`

// VariantsOf lists the variants of links by the link's id, oldest first.
func (c Conn) VariantsOf(ctx context.Context, urlIDs []string) (map[string][]Variant, error) {
	list, err := rowsIn(ctx, c, scanVariant, variantsOfLinks, urlIDs)
	found := map[string][]Variant{}
	for _, v := range list {
		found[v.URLID] = append(found[v.URLID], v)
	}
	return found, err
}
