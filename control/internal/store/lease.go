package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/shortline/shortline/shared/job"
)

// leaseFor is how long a lease lasts after its process was killed.
const leaseFor = time.Minute

// Lease returns the lease of a job. It is among the locks of certificates, whose names have no space.
func (s *Store) Lease(name string) *job.Lease {
	name, holder := "job "+name, NewID()
	return &job.Lease{
		For: leaseFor,
		Claim: func(ctx context.Context) error {
			return s.Tx(ctx, func(tx *Tx) error {
				held, err := tx.KeepLock(ctx, name, holder, leaseFor.Milliseconds())
				if err == nil && !held {
					held, err = tx.TakeLock(ctx, name, holder, leaseFor.Milliseconds())
				}
				if err == nil && !held {
					return job.ErrTaken
				}
				return err
			})
		},
		Drop: func(ctx context.Context) error {
			return s.Tx(ctx, func(tx *Tx) error { return tx.DropLock(ctx, name, holder) })
		},
	}
}

// Cursor is how far a job is that does its work in parts. Its table has the name of its first use, the check of all destinations.
type Cursor struct {
	Name       string
	Version    string // of what the job does; another version starts from the beginning
	After      uint64 // links up to this number, or events up to this time, are done
	StartedAt  int64
	FinishedAt int64 // 0: it is not finished
}

// ClaimCursor takes or extends the lease of a cursor, so that one process at a time moves it. held is false if another process has
// the lease.
func (tx *Tx) ClaimCursor(ctx context.Context, name, holder string, now, until int64) (held bool, err error) {
	return tx.Changes(ctx, `INSERT INTO destination_checks (name, version, after_num, started_at, finished_at, holder, lease_until)
		VALUES (?, '', 0, 0, 0, ?, ?)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
		WHERE destination_checks.holder = excluded.holder OR destination_checks.lease_until <= ?`, name, holder, until, now)
}

// CursorNamed reads how far a job is. The cursor of a job that never ran is zero, except for its name.
func (c Conn) CursorNamed(ctx context.Context, name string) (Cursor, error) {
	d := Cursor{Name: name}
	err := c.Row(ctx, `SELECT version, after_num, started_at, finished_at FROM destination_checks WHERE name = ?`, name).Scan(&d.Version,
		&d.After, &d.StartedAt, &d.FinishedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return d, nil
	}
	return d, err
}

// SaveCursor writes how far a job is, if holder still has the lease.
func (tx *Tx) SaveCursor(ctx context.Context, d Cursor, holder string) (held bool, err error) {
	return tx.Changes(ctx,
		`UPDATE destination_checks SET version = ?, after_num = ?, started_at = ?, finished_at = ? WHERE name = ? AND holder = ?`,
		d.Version, d.After, d.StartedAt, d.FinishedAt, d.Name, holder)
}
