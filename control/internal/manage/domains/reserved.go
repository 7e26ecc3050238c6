package domains

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

const (
	// grace is how long the name of a deleted domain stays reserved at most. Its records may never be removed.
	grace = 30 * 24 * time.Hour
	// reservedEvery is the time between two looks at where a reserved name leads.
	reservedEvery = 10 * time.Minute
)

// reservedMessage has a place for the host name.
const reservedMessage = "%q was deleted by another workspace. The name is free when its DNS records do not lead here any more, " +
	"or 30 days after the deletion"

// CheckReserved ends the reservations of names that do not lead to edges any more, and of those that are too old. Any number of
// processes may call it.
func (s *Service) CheckReserved(ctx context.Context) error {
	now := s.now()
	unlimited, err := s.store.UnlimitedReservations(ctx)
	if err == nil && unlimited {
		err = s.store.Tx(ctx, func(tx *store.Tx) error { return tx.LimitReservations(ctx, now+grace.Milliseconds()) })
	}
	if err != nil {
		return fmt.Errorf("limit reserved names: %w", err)
	}
	due, err := s.store.ReservationsToCheck(ctx, now, now-reservedEvery.Milliseconds(), checkedAMost)
	if err != nil {
		return fmt.Errorf("read reserved names: %w", err)
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	errs := make([]error, len(due))
	for i := range due {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = job.Guard(func() error { return s.checkReservation(ctx, &due[i], now) })
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// checkReservation ends a reservation if it is over, unless another process looks at it.
func (s *Service) checkReservation(ctx context.Context, r *store.Reservation, now int64) error {
	over := r.Until <= now
	if !over {
		var mine bool
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			mine, err = tx.ClaimReservation(ctx, r, now)
			return err
		})
		if err != nil || !mine {
			return err
		}
		// The value of the TXT record does not matter.
		over = s.cfg.Checker.Check(ctx, r.Hostname, "-", s.cfg.Targets).Reach == dnscheck.Missing
	}
	if !over || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.EndReservation(ctx, r) }); err != nil {
		return fmt.Errorf("free %s: %w", r.Hostname, err)
	}
	return nil
}
