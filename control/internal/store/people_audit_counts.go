package store

import "context"

// AuditCount counts the failures of one bucket in one window. Times are Unix milliseconds.
type AuditCount struct {
	Action, Bucket, EntityType string

	Count   int64
	FirstAt int64 // first failure beyond the exact ones; 0: none
	LastAt  int64
	Address string // of the latest failure
	Latest  string // metadata of the latest failure, JSON
	EndsAt  int64
}

const auditCountColumns = `action, entity_type, count, first_at, last_at, address, latest, ends_at`

func scanAuditCount(row interface{ Scan(...any) error }) (c AuditCount, err error) {
	err = row.Scan(&c.Action, &c.EntityType, &c.Count, &c.FirstAt, &c.LastAt, &c.Address, &c.Latest, &c.EndsAt)
	return c, err
}

// HitAuditCount counts one failure and returns its number in the window. It starts a window if there is none. FirstAt
// belongs to the first of the failures beyond the first exact ones.
func (tx *Tx) HitAuditCount(ctx context.Context, c AuditCount, exact int64) (int64, error) {
	return column[int64](tx.Row(ctx, `INSERT INTO audit_counts (key, `+auditCountColumns+`) VALUES (?, ?, ?, 1, 0, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET
			count = audit_counts.count + 1,
			first_at = CASE WHEN audit_counts.count = ? THEN excluded.last_at ELSE audit_counts.first_at END,
			last_at = excluded.last_at, address = excluded.address, latest = excluded.latest
		RETURNING count`,
		c.Action+"|"+c.Bucket, c.Action, c.EntityType, c.LastAt, c.Address, c.Latest, c.EndsAt, exact))
}

// TakeAuditCounts removes the windows that have ended by now and returns them. Only one of two concurrent callers gets
// a window.
func (tx *Tx) TakeAuditCounts(ctx context.Context, now int64) ([]AuditCount, error) {
	return All(ctx, tx.Conn, scanAuditCount, `DELETE FROM audit_counts WHERE ends_at <= ? RETURNING `+auditCountColumns, now)
}
