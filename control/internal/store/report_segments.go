package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Segment is a named set of filters of reports. Package report knows the names of filters and checks their values.
type Segment struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64 // number of the workspace that owns it
	Name      string // unique in the workspace by TagKey
	Filters   map[string][]string
	CreatedAt int64
	UpdatedAt int64
}

const segmentColumns = `num, id, workspace_num, name, filters, created_at, updated_at`

func scanSegment(row interface{ Scan(...any) error }) (g Segment, err error) {
	var filters string
	if err := row.Scan(&g.Num, &g.ID, &g.Workspace, &g.Name, &filters, &g.CreatedAt, &g.UpdatedAt); err != nil {
		return g, err
	}
	if err := json.Unmarshal([]byte(filters), &g.Filters); err != nil {
		return g, fmt.Errorf("read filters of segment %s: %w", g.ID, err)
	}
	return g, nil
}

func (g *Segment) filters() (string, error) {
	text, err := json.Marshal(g.Filters)
	return string(text), err
}

// Segments reads one page of segments by name, and counts all of them. Workspace 0 stands for all.
func (c Conn) Segments(ctx context.Context, workspace uint64, offset, limit int) (list []Segment, total int, err error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	return pageOf(ctx, c, scanSegment, segmentColumns, `segments`+w.String(), `name_key, num`, w.args, limit, offset)
}

const segmentByID = `SELECT ` + segmentColumns + ` FROM segments WHERE id = ?`

// SegmentByID reads a segment, or returns ErrNotFound.
func (c Conn) SegmentByID(ctx context.Context, id string) (Segment, error) {
	return scanSegment(c.Row(ctx, segmentByID, id))
}

// LockSegment reads a segment and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockSegment(ctx context.Context, id string) (Segment, error) {
	return scanSegment(tx.Row(ctx, segmentByID+tx.forUpdate(), id))
}

// InsertSegment adds a segment and reports whether its name was free in the workspace.
func (tx *Tx) InsertSegment(ctx context.Context, g *Segment) (bool, error) {
	filters, err := g.filters()
	if err != nil {
		return false, err
	}
	return inserted(tx.Row(ctx, `INSERT INTO segments (id, workspace_num, name, name_key, filters, created_at, updated_at) VALUES (`+In(7)+`)
		ON CONFLICT (workspace_num, name_key) DO NOTHING RETURNING num`,
		g.ID, g.Workspace, g.Name, TagKey(g.Name), filters, g.CreatedAt, g.UpdatedAt).Scan(&g.Num))
}

// UpdateSegment writes a segment. It reports whether the name was free in the workspace, and writes nothing if it was not.
// The caller has locked the segment.
func (tx *Tx) UpdateSegment(ctx context.Context, g *Segment) (bool, error) {
	filters, err := g.filters()
	if err != nil {
		return false, err
	}
	taken := tx.Row(ctx, `SELECT EXISTS (SELECT 1 FROM segments WHERE workspace_num = ? AND name_key = ? AND num <> ?)`, g.Workspace,
		TagKey(g.Name), g.Num)
	return tx.unlessTaken(ctx, taken, `UPDATE segments SET name = ?, name_key = ?, filters = ?, updated_at = ? WHERE num = ?`, g.Name,
		TagKey(g.Name), filters, g.UpdatedAt, g.Num)
}

// DeleteSegment removes a segment.
func (tx *Tx) DeleteSegment(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM segments WHERE num = ?`, num)
}
