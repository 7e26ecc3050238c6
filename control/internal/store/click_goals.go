package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/shortline/shortline/shared/each"
)

// Goal is a name of conversions of a link.
type Goal struct {
	Link uint64
	Name string
}

func scanGoal(row interface{ Scan(...any) error }) (g Goal, err error) {
	return g, row.Scan(&g.Link, &g.Name)
}

// GoalsOf reads the names of conversions of links, ordered by link and name.
func (c Conn) GoalsOf(ctx context.Context, links []uint64) ([]Goal, error) {
	return rowsIn(ctx, c, scanGoal, `SELECT link_num, name FROM goals WHERE link_num IN (keys) ORDER BY link_num, name`, links)
}

// RegisterGoals adds names of conversions, and returns which of the given ones exist afterwards. A link has at most the given
// number of names. Names of links that do not exist are not added.
func (tx *Tx) RegisterGoals(ctx context.Context, goals []Goal, most int, now int64) (map[Goal]bool, error) {
	goals = slices.Clone(goals)
	slices.SortFunc(goals, func(a, b Goal) int { return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.Name, b.Name)) })
	nums := each.Of(goals, func(g Goal) uint64 { return g.Link })
	links := slices.Compact(nums)
	// The locks make transactions that count the names of a link follow each other. All take them in the same order.
	for part := range slices.Chunk(links, batch) {
		if _, err := All(ctx, tx.Conn, column[uint64], `SELECT num FROM urls WHERE num IN (`+In(len(part))+`) ORDER BY num`+tx.forUpdate(),
			Args(part)...); err != nil {
			return nil, fmt.Errorf("lock links: %w", err)
		}
	}
	for _, g := range goals {
		if _, err := tx.Exec(ctx, `INSERT INTO goals (link_num, name, created_at) SELECT num, CAST(? AS TEXT), CAST(? AS BIGINT) FROM urls
			WHERE num = ?
			AND (SELECT count(*) FROM goals WHERE link_num = urls.num) < ? ON CONFLICT DO NOTHING`, g.Name, now, g.Link, most); err != nil {
			return nil, fmt.Errorf("add a goal: %w", err)
		}
	}
	list, err := tx.GoalsOf(ctx, links)
	known := make(map[Goal]bool, len(list))
	for _, g := range list {
		known[g] = true
	}
	return known, err
}

// LinkWorkspaces returns the workspaces of links by their numbers, without links that do not exist.
func (c Conn) LinkWorkspaces(ctx context.Context, links []uint64) (map[uint64]uint64, error) {
	type row struct{ num, workspace uint64 }
	list, err := found(ctx, c, func(r interface{ Scan(...any) error }) (o row, err error) { return o, r.Scan(&o.num, &o.workspace) },
		`SELECT num, workspace_num FROM urls WHERE num IN (keys)`, links, func(r *row) uint64 { return r.num })
	out := make(map[uint64]uint64, len(list))
	for num, r := range list {
		out[num] = r.workspace
	}
	return out, err
}
