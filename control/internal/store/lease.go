package store

import (
	"context"
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
