package store

import "context"

// AuditCount is how often something of one bucket has failed in a window.
type AuditCount struct {
	Action, Bucket, EntityType string

	Count   int64
	FirstAt int64  // of those beyond the first few, ms; 0 if there is none
	LastAt  int64  // ms
	Address string // of the latest
	Latest  string // its metadata, JSON
	EndsAt  int64  // ms
}

const auditCountColumns = `action, entity_type, count, first_at, last_at, address, latest, ends_at`

func scanAuditCount(row interface{ Scan(...any) error }) (c AuditCount, err error) {
	err = row.Scan(&c.Action, &c.EntityType, &c.Count, &c.FirstAt, &c.LastAt, &c.Address, &c.Latest, &c.EndsAt)
	return c, err
}

// HitAuditCount counts one failure, which starts a window if there is none, and returns its number in the window. Those
// beyond the first exact ones are what the window's times tell of.
func (tx *Tx) HitAuditCount(ctx context.Context, c AuditCount, exact int64) (n int64, err error) {
	err = tx.Row(ctx, `INSERT INTO audit_counts (key, `+auditCountColumns+`) VALUES (?, ?, ?, 1, 0, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET
			count = audit_counts.count + 1,
			first_at = CASE WHEN audit_counts.count = ? THEN excluded.last_at ELSE audit_counts.first_at END,
			last_at = excluded.last_at, address = excluded.address, latest = excluded.latest
		RETURNING count`,
		c.Action+"|"+c.Bucket, c.Action, c.EntityType, c.LastAt, c.Address, c.Latest, c.EndsAt, exact).Scan(&n)
	return n, err
}

// TakeAuditCounts removes the windows that have ended by now and returns them. Of two callers at once, one gets them.
func (tx *Tx) TakeAuditCounts(ctx context.Context, now int64) ([]AuditCount, error) {
	return All(ctx, tx.Conn, scanAuditCount, `DELETE FROM audit_counts WHERE ends_at <= ? RETURNING `+auditCountColumns, now)
}
