package store

import "context"

// What time does to a link: the values of LinkDue.Event.
const (
	LinkStarted   = "started"
	LinkExpired   = "expired"
	LinkExhausted = "exhausted"
)

// LinkDue is an event of a link that nobody has been told about yet. Triggers make the rows.
type LinkDue struct {
	Link  uint64
	Event string
	At    int64 // Unix milliseconds
}

func scanLinkDue(row interface{ Scan(...any) error }) (d LinkDue, err error) {
	return d, row.Scan(&d.Link, &d.Event, &d.At)
}

// AnyLinkDue reports whether an event is due.
func (c Conn) AnyLinkDue(ctx context.Context, now int64) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM link_due WHERE due_at <= ?)`, now))
}

// TakeLinksDue deletes at most limit events that are due, oldest first, and returns them. Concurrent calls get different ones.
func (tx *Tx) TakeLinksDue(ctx context.Context, now int64, limit int) ([]LinkDue, error) {
	list, err := All(ctx, tx.Conn, scanLinkDue,
		`SELECT link_num, event, due_at FROM link_due WHERE due_at <= ? ORDER BY due_at, link_num LIMIT ?`+tx.skipLocked(), now, limit)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var args []any
	for _, d := range list {
		args = append(args, d.Link, d.Event)
	}
	return list, tx.Do(ctx, `DELETE FROM link_due WHERE (link_num, event) IN (VALUES `+values(len(list), "(CAST(? AS BIGINT),?)")+`)`,
		args...)
}
