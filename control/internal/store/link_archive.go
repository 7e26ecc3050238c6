package store

import (
	"context"
	"fmt"
)

// Past is what an object brings along from another installation. The zero value stands for a new object.
type Past struct {
	ID                   string // "": a new one
	CreatedAt, UpdatedAt int64  // 0: now
}

// Apply sets the id and the times of an object as far as it has a past.
func (p Past) Apply(id *string, created, updated *int64) {
	if p.ID != "" {
		*id = p.ID
	}
	if p.CreatedAt != 0 {
		*created = p.CreatedAt
	}
	if p.UpdatedAt != 0 {
		*updated = p.UpdatedAt
	}
}

// LinksAfter reads up to limit links of a workspace in the order of their creation, with their tags, from the one after a time and a
// number.
func (c Conn) LinksAfter(ctx context.Context, workspace uint64, created int64, num uint64, limit int) ([]Link, error) {
	list, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE workspace_num = ?
		AND (created_at, num) > (CAST(? AS BIGINT), CAST(? AS BIGINT)) ORDER BY created_at, num LIMIT ?`,
		workspace, created, int64(num), limit)
	if err != nil {
		return nil, fmt.Errorf("read the links of a workspace: %w", err)
	}
	return list, c.ReadTags(ctx, list)
}

// ExperimentsOf reads the experiments of links, by the numbers of these.
func (c Conn) ExperimentsOf(ctx context.Context, links []uint64) (map[uint64]Experiment, error) {
	return found(ctx, c, scanExperiment, `SELECT `+experimentColumns+` FROM experiments WHERE link_num IN (keys)`, links,
		func(e *Experiment) uint64 { return e.Link })
}

// LinkIDsOfBundle reads the ids of the links in a bundle, in its order.
func (c Conn) LinkIDsOfBundle(ctx context.Context, id string) ([]string, error) {
	return All(ctx, c, column[string], `SELECT url_id FROM bundle_urls WHERE bundle_id = ? ORDER BY position, url_id`, id)
}

// Holder says where an id is in use.
type Holder struct {
	ID        string
	Num       uint64 // of a link
	Workspace uint64 // 0: in the trash
	Link      string // of a rule or a variant: the id of its link
}

func scanHolder(row interface{ Scan(...any) error }) (h Holder, err error) {
	return h, row.Scan(&h.ID, &h.Num, &h.Workspace, &h.Link)
}

// HoldersOfLinks returns which of the ids links have, also in the trash.
func (c Conn) HoldersOfLinks(ctx context.Context, ids []string) (map[string]Holder, error) {
	id := func(h *Holder) string { return h.ID }
	trash, err := found(ctx, c, scanHolder, `SELECT id, num, 0, '' FROM link_trash WHERE id IN (keys)`, ids, id)
	if err != nil {
		return nil, err
	}
	out, err := found(ctx, c, scanHolder, `SELECT id, num, coalesce(workspace_num, 0), '' FROM urls WHERE id IN (keys)`, ids, id)
	for id, h := range trash {
		out[id] = h
	}
	return out, err
}

// HoldersOfParts returns which of the ids rules and variants have.
func (c Conn) HoldersOfParts(ctx context.Context, ids []string) (map[string]Holder, error) {
	id := func(h *Holder) string { return h.ID }
	rules, err := found(ctx, c, scanHolder, `SELECT id, 0, 0, url_id FROM routing_rules WHERE id IN (keys)`, ids, id)
	if err != nil {
		return nil, err
	}
	out, err := found(ctx, c, scanHolder, `SELECT id, 0, 0, url_id FROM variants WHERE id IN (keys)`, ids, id)
	for id, h := range rules {
		out[id] = h
	}
	return out, err
}

// archived are the tables of objects that workspaces have in addition to links.
var archived = map[string]bool{"tags": true, "utm_templates": true, "domains": true, "bundles": true, "webhooks": true}

// HoldersOf returns which of the ids the objects of a table have.
func (c Conn) HoldersOf(ctx context.Context, table string, ids []string) (map[string]Holder, error) {
	if !archived[table] {
		panic("BUG: no table of an archive: " + table)
	}
	return found(ctx, c, scanHolder, `SELECT id, 0, coalesce(workspace_num, 0), '' FROM `+table+` WHERE id IN (keys)`, ids,
		func(h *Holder) string { return h.ID })
}

// SetExhausted marks links as exhausted since a time, which an archive says of them.
func (tx *Tx) SetExhausted(ctx context.Context, num uint64, at int64) error {
	return tx.Do(ctx, `UPDATE urls SET exhausted_at = ? WHERE num = ? AND max_clicks IS NOT NULL AND exhausted_at IS NULL`, at, num)
}

// FinishBundle gives a bundle that was filled from an archive the time of its last change there, and hides it if it was hidden there.
func (tx *Tx) FinishBundle(ctx context.Context, id string, archived bool, updated int64) error {
	return tx.Do(ctx, `UPDATE bundles SET archived = archived OR ?, updated_at = ? WHERE id = ?`, archived, updated, id)
}
